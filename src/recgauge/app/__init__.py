"""The outer ring: command line, configuration and tracking. Only here are hydra and mlflow imported."""

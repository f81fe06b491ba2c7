"""What a finished run is: its results in memory, its record and its fingerprint."""

HEADLINE = ("ndcg", "recall", "map", "rmse", "mae")
"""The metrics to read first, by name."""

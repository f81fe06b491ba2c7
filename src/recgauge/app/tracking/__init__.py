"""Where runs are stored and found again: MLflow, or nothing."""

"""What runs inside the environments, under their Python (3.10 or later): nothing here imports recgauge."""

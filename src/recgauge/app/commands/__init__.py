"""The commands of ``recgauge`` beside ``run``."""

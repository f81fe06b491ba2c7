"""The commands of ``recgauge`` other than ``run``."""

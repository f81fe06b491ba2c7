"""The version of recgauge; the build reads it from here."""

__version__ = "0.1.0"

NUMERIC_VERSION = 9
"""Rises with every change that moves a number, [Numbers] in CHANGELOG.md; runs of another are not reused."""

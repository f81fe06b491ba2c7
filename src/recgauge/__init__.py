"""Experiment-tracking evaluation harness for recommender systems."""

from recgauge._version import __version__

__all__ = ["__version__"]

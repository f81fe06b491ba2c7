"""Runs in MLflow: complete folders are delivered to a store, found there again, and looked at."""

from typing import TYPE_CHECKING

from recgauge.utils.lazy import lazy_names

if TYPE_CHECKING:
    from recgauge.tracking.finding import find_runs as find_runs
    from recgauge.tracking.store import Store as Store
else:
    __getattr__, __dir__ = lazy_names(__name__)

"""Runs in MLflow: complete folders are delivered to a store, found there again, and looked at."""

from typing import TYPE_CHECKING

from recgauge.utils.lazy import lazy_names

if TYPE_CHECKING:
    from recgauge.tracking.delivering import deliver as deliver
    from recgauge.tracking.delivering import delivered as delivered
    from recgauge.tracking.delivering import store_of as store_of
    from recgauge.tracking.delivering import waiting as waiting
    from recgauge.tracking.finding import check_experiment as check_experiment
    from recgauge.tracking.finding import chosen_runs as chosen_runs
    from recgauge.tracking.finding import find_runs as find_runs
    from recgauge.tracking.finding import require_stored as require_stored
    from recgauge.tracking.finding import run_folder as run_folder
    from recgauge.tracking.finding import stored_run as stored_run
    from recgauge.tracking.logged import compare_logged as compare_logged
    from recgauge.tracking.logged import log_comparison as log_comparison
    from recgauge.tracking.logged import named_experiment as named_experiment
    from recgauge.tracking.outbox import Deliveries as Deliveries
    from recgauge.tracking.page import experiment_tag as experiment_tag
    from recgauge.tracking.pages import address as address
    from recgauge.tracking.pages import run_address as run_address
    from recgauge.tracking.registry import Registered as Registered
    from recgauge.tracking.registry import looks_in as looks_in
    from recgauge.tracking.registry import promote as promote
    from recgauge.tracking.registry import record_check as record_check
    from recgauge.tracking.registry import registered_run as registered_run
    from recgauge.tracking.store import Store as Store
else:
    __getattr__, __dir__ = lazy_names(__name__)

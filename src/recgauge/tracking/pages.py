"""Links to MLflow's pages, which open on few metrics, the headline first."""

from contextlib import suppress
from hashlib import sha256
from importlib.metadata import version
from typing import TYPE_CHECKING
from urllib.parse import quote

from recgauge.tracking.page import FILES_TAG, SWEEP_TAG, TRIAL_TAG
from recgauge.tracking.store import Opened, Store, explained, open_store
from recgauge.tracking.view import KNOWN, VIEW_TAG, view

if TYPE_CHECKING:
    from mlflow.entities import Run

MODEL_TRAINING = "workflowType=machine_learning"  # else MLflow 3 opens its pages for generative AI
PORT_TAG, DEFAULT_PORT = "recgauge.ui_port", 5000
MOST_COMPARED = 500  # runs that are looked at to choose a page's charts
MOST_NESTED = 90  # runs, with trials below them, that MLflow shows at once
FINAL = f"tags.`{FILES_TAG}` LIKE '%'"  # of all runs but trials


def address(store: Store, tag: str | None = None, value: str = "true", dataset: str = "") -> str:
    """Return the deep link to the charts of all runs, or of those with one tag, on one data set if named."""
    opened = open_store(store)
    quoted = f'"{value}"' if "'" in value else f"'{value}'"
    search = "" if tag is None else f"tags.`{tag}` = {quoted}"
    search += f" AND params.dataset = '{dataset}'" if dataset else ""
    with explained(store, "look for the experiment"):
        page = f"{_experiment_page(store, opened)}/runs?compareRunsMode=CHART&{MODEL_TRAINING}"
    with suppress(Exception):  # a page without chosen charts is no reason to fail
        if key := _share(store, opened, search):
            return f"{page}&viewStateShareKey={key}"
    return f"{page}&searchFilter={quote(search, safe='')}" if search else page


def run_address(store: Store, run_id: str) -> str:
    """Return the deep link to the page of one run."""
    with explained(store, "look for the experiment"):
        return f"{_experiment_page(store, open_store(store))}/runs/{run_id}?{MODEL_TRAINING}"


def linked_port(store: Store) -> int:
    """Return the port that links to a local store name: that its page was last opened on, at first 5000."""
    with explained(store, "look for the experiment"):
        return _port(open_store(store))


def serve_at(store: Store, port: int) -> None:
    """Let links to a local store name the port that its page was last opened on."""
    if store.file is not None:
        opened = open_store(store)
        with explained(store, "remember the port"):
            opened.client.set_experiment_tag(opened.experiment_id, PORT_TAG, str(port))


def _experiment_page(store: Store, opened: Opened) -> str:
    server = store.uri.rstrip("/")
    if not server.startswith("http"):
        server = f"http://127.0.0.1:{_port(opened)}"
    return f"{server}/#/experiments/{opened.experiment_id}"


def _port(opened: Opened) -> int:
    return int(opened.client.get_experiment(opened.experiment_id).tags.get(PORT_TAG, DEFAULT_PORT))


def _share(store: Store, opened: Opened, search: str) -> str | None:
    """Store what the page of a search's runs shows, and return its key; None if nothing can be drawn."""
    if not KNOWN[0] <= _mlflow_version(store) < KNOWN[1]:
        return None
    shown = search or _newest(_finals(_drawn_runs(opened, search)))
    drawn = _drawn_runs(opened, shown)
    finals = _finals(drawn)
    nested = len(finals) < len(drawn) <= MOST_NESTED
    if len(finals) < len(drawn) and not nested:
        shown = " AND ".join([*filter(None, [shown]), FINAL])
    settings = {name for run in drawn if TRIAL_TAG in run.data.tags for name in run.data.params}
    if (tag := view([run.data for run in finals], shown, sorted(settings), nested=nested)) is None:
        return None
    own = [f"recgauge-{sha256(search.encode()).hexdigest()[:12]}"] if search else []
    keys = [*own, "recgauge"]  # the page of `recgauge ui` shows what came last
    for key in keys:
        opened.client.set_experiment_tag(opened.experiment_id, VIEW_TAG + key, tag)
    return keys[0]


def _drawn_runs(opened: Opened, search: str) -> "list[Run]":
    """Return the newest runs of a search that have params and metrics."""
    runs = opened.client.search_runs([opened.experiment_id], search, max_results=MOST_COMPARED)
    return [run for run in runs if run.data.params and run.data.metrics]


def _finals(runs: "list[Run]") -> "list[Run]":
    return [run for run in runs if TRIAL_TAG not in run.data.tags]


def _newest(runs: "list[Run]") -> str:
    """Return the search of the newest sweep and data set, of each if there are runs of others."""
    sweeps, search = [run.data.tags.get(SWEEP_TAG, "") for run in runs], list[str]()
    if len(set(sweeps)) > 1 and sweeps[0] and "'" not in sweeps[0]:
        search.append(f"tags.`{SWEEP_TAG}` = '{sweeps[0]}'")
        runs = [run for run, sweep in zip(runs, sweeps, strict=True) if sweep == sweeps[0]]
    names = [run.data.params.get("dataset", "") for run in runs]
    if len(set(names)) > 1 and "'" not in names[0]:
        search.append(f"params.dataset = '{names[0]}'")
    return " AND ".join(search)


def _mlflow_version(store: Store) -> tuple[int, ...]:
    """Return the version of the MLflow that draws the page: the server's, else the installed one."""
    text = version("mlflow")
    if store.uri.startswith("http"):
        import requests

        text = requests.get(f"{store.uri.rstrip('/')}/version", timeout=5).text
    return tuple(map(int, text.split(".")[:2]))

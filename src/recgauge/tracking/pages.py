"""Links to MLflow's pages, and what they show: few metrics, the headline first.

MLflow keeps a view of the charts as a tag of the experiment and opens it by a parameter of the address. The
format is what MLflow 3.17 itself stores for "Save as new view"; links for other versions do without.
"""

import base64
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

from recgauge.metrics import HEADLINE
from recgauge.metrics.names import headline_cutoff
from recgauge.runs.settings import FOLDS
from recgauge.tracking.page import BY_CUTOFF, COUNTS
from recgauge.tracking.store import Opened, Store, explained, open_store

MODEL_TRAINING = "workflowType=machine_learning"  # else MLflow 3 opens its pages for generative AI
PORT_TAG, DEFAULT_PORT = "recgauge.ui_port", 5000
VIEW_TAG = "mlflow.sharedViewState."
LONGEST_VIEW = 5_000  # characters of a tag of an experiment
KNOWN = ((3, 17), (4, 0))  # the first version that was tried, and the first that may be different
COLUMNS = ("dataset", "model", "seed", "fold")
MOST_BARS = 12
"""More runs than these are drawn as means of groups; fewer have a bar and a colour each."""
MOST_COMPARED = 200  # runs that are looked at to choose a page's charts
_FIRST, _CURVES, _REST = "recgauge-first", "recgauge-curves", "recgauge-rest"


def address(store: Store, tag: str | None = None, value: str = "true") -> str:
    """Return the deep link to the charts of all runs, or of those with one tag."""
    opened = open_store(store)
    quoted = f'"{value}"' if "'" in value else f"'{value}'"
    search = "" if tag is None else f"tags.`{tag}` = {quoted}"
    with explained(store, "look for the experiment"):
        page = f"{_experiment_page(store, opened)}/runs?compareRunsMode=CHART&{MODEL_TRAINING}"
        if key := _share(store, opened, search):
            return f"{page}&viewStateShareKey={key}"
    return f"{page}&searchFilter={quote(search, safe='')}" if search else page


def run_address(store: Store, run_id: str) -> str:
    """Return the deep link to the page of one run."""
    with explained(store, "look for the experiment"):
        return f"{_experiment_page(store, open_store(store))}/runs/{run_id}?{MODEL_TRAINING}"


def serve_at(store: Store, port: int) -> None:
    """Let links to a local store name the port that its page was last opened on."""
    if store.file is not None:
        opened = open_store(store)
        with explained(store, "remember the port"):
            opened.client.set_experiment_tag(opened.experiment_id, PORT_TAG, str(port))


def _experiment_page(store: Store, opened: Opened) -> str:
    server = store.uri.rstrip("/")
    if not server.startswith("http"):
        tags = opened.client.get_experiment(opened.experiment_id).tags
        server = f"http://127.0.0.1:{tags.get(PORT_TAG, DEFAULT_PORT)}"
    return f"{server}/#/experiments/{opened.experiment_id}"


def _share(store: Store, opened: Opened, search: str) -> str | None:
    """Store what the page of a search's runs shows; None if that cannot be: the page opens without it."""
    try:
        major, minor = map(int, _mlflow_version(store).split(".")[:2])
        if not KNOWN[0] <= (major, minor) < KNOWN[1]:
            return None
        runs = opened.client.search_runs([opened.experiment_id], search, max_results=MOST_COMPARED)
        metrics = {name for run in runs for name in run.data.metrics}
        tag = view(metrics, [run.data.params for run in runs if run.data.metrics], search)
        key = f"recgauge-{sha256(search.encode()).hexdigest()[:12]}" if search else "recgauge"
        if tag is not None:
            opened.client.set_experiment_tag(opened.experiment_id, VIEW_TAG + key, tag)
    except Exception:  # a page without chosen charts is no reason to fail
        return None
    return None if tag is None else key


def _mlflow_version(store: Store) -> str:
    """Return the version of the MLflow that draws the page: the server's, else the installed one."""
    if not store.uri.startswith("http"):
        return version("mlflow")
    import requests

    return requests.get(f"{store.uri.rstrip('/')}/version", timeout=5).text.strip()


def view(metrics: Iterable[str], runs: Sequence[Mapping[str, str]], search: str) -> str | None:
    """Return a view of runs side by side as the value of its tag; None with nothing to draw, or too much.

    The first section has a bar chart for each metric at the headline cutoff, nDCG, recall and
    MAP in front; the second draws metrics against the cutoff; the others are folded. Bars are runs, the best
    first, those that repeat each other side by side; of many runs, they are means over seeds and folds.
    """
    first, curves = _drawn(set(metrics))
    if not first:
        return None
    state = json.dumps(_state(first, curves, search, runs)).encode()
    tag = f"deflate;{base64.b64encode(zlib.compress(state, 9)).decode()}"
    return tag if len(tag) <= LONGEST_VIEW else None


def _drawn(metrics: set[str]) -> tuple[list[str], list[str]]:
    """Return the metrics to draw as bars, and those to draw against the cutoff."""
    cutoffs: dict[str, list[int]] = {}
    for name, _, k in (metric.rpartition("_at_") for metric in metrics if "/" not in metric):
        if name and k.isdecimal():
            cutoffs.setdefault(name, []).append(int(k))
    headline = headline_cutoff(k for values in cutoffs.values() for k in values)
    order = {name: rank for rank, name in enumerate(HEADLINE)}

    def sorted_names(names: Iterable[str]) -> list[str]:
        return sorted(names, key=lambda name: (order.get(name, len(order)), name))

    listed = [f"{name}_at_{headline}" for name in sorted_names(cutoffs) if headline in cutoffs[name]]
    plain = {name for name in metrics if "_at_" not in name and "/" not in name} - {*cutoffs, *COUNTS}
    curves = [BY_CUTOFF + name for name in sorted_names(cutoffs) if BY_CUTOFF + name in metrics]
    return listed + sorted_names(plain), curves


def _groups(runs: Sequence[Mapping[str, str]]) -> tuple[list[str], bool, bool]:
    """Return the params that group runs, whether bars are means of groups, and whether runs repeat others."""
    params = dict.fromkeys(key for run in runs for key in run)
    varying = {key for key in params if len({run.get(key, "") for run in runs}) > 1}
    repeated = {key for key in varying if key.rpartition(".")[2] in ("seed", *FOLDS)}
    if len(runs) <= MOST_BARS:
        return (["dataset"] if "dataset" in varying else []), False, bool(repeated)
    keys: list[str] = [key for key in ("dataset", "model") if key in varying]
    for key in params:  # what people compare by comes first
        if key in varying - repeated and not _is_decided(key, keys, runs):
            keys.append(key)
    means = bool(repeated) and len({tuple(run.get(key) for key in keys) for run in runs}) < len(runs)
    return keys, means, bool(repeated)


def _is_decided(key: str, by: Sequence[str], runs: Sequence[Mapping[str, str]]) -> bool:
    """Whether runs with the same values of some params have the same value of another."""
    values: dict[tuple[str | None, ...], set[str | None]] = {}
    for run in runs:
        values.setdefault(tuple(run.get(name) for name in by), set()).add(run.get(key))
    return all(len(distinct) == 1 for distinct in values.values())


def _state(
    first: Sequence[str], curves: Sequence[str], search: str, runs: Sequence[Mapping[str, str]]
) -> dict[str, Any]:
    keys, means, repeated = _groups(runs)
    at = first[0].rpartition("_at_")[2] if "_at_" in first[0] else ""
    group = {
        "aggregateFunction": "average",
        "groupByKeys": [{"mode": "param", "groupByData": key} for key in keys],
    }
    return {
        "searchFilter": search,
        "orderByKey": "attributes.`run_name`" if repeated else f"metrics.`{first[0]}`",
        "orderByAsc": repeated,
        "startTime": "ALL",
        "lifecycleFilter": "Active",
        "datasetsFilter": [],
        "modelVersionFilter": "All Runs",
        "selectedColumns": [
            *(f"params.`{name}`" for name in COLUMNS),
            *(f"metrics.`{name}`" for name in first[:3]),
        ],
        "columnOrder": [],
        "columnWidths": {},
        "runsHiddenMode": "SHOW_ALL",
        "compareRunCharts": [
            *({**_chart(name, _FIRST), "type": "BAR"} for name in first),
            *({**_chart(name, _CURVES), **_LINE} for name in curves),
        ],
        "compareRunSections": [
            _section(_FIRST, f"Metrics at {at}" if at else "Metrics", shown=True),
            _section(_CURVES, "Metrics by cutoff", shown=True),
            _section(_REST, "Model metrics", shown=False),  # MLflow's own; it puts the rest there
        ],
        "viewMaximized": False,
        "runListHidden": False,
        "isAccordionReordered": True,  # keep our order of the sections
        "useGroupedValuesInCharts": means,
        "hideEmptyCharts": True,
        "groupBy": group if keys else None,
        "groupsExpanded": {},
        "globalLineChartConfig": {"xAxisKey": "step", "lineSmoothness": 0, "selectedXAxisMetricKey": ""},
    }


_LINE: Mapping[str, Any] = {
    "type": "LINE",
    "lineSmoothness": 0,
    "xAxisScaleType": "linear",
    "scaleType": "linear",
    "range": {},
    "xAxisKey": "step",
    "selectedXAxisMetricKey": "",
    "yAxisKey": "metric",
    "yAxisExpressions": [],
    "ignoreOutliers": False,
    "useGlobalXaxisKey": True,
    "useGlobalLineSmoothing": True,
}


def _chart(metric: str, section: str) -> dict[str, Any]:
    return {
        "uuid": f"recgauge-{metric}",
        "runsCountToCompare": 2 * MOST_BARS,
        "metricSectionId": section,
        "deleted": False,
        "isGenerated": False,
        "displayName": metric,
        "metricKey": metric,
        "selectedMetricKeys": [metric],
    }


def _section(uuid: str, name: str, *, shown: bool) -> dict[str, Any]:
    return {
        "uuid": uuid,
        "name": name,
        "display": shown,
        "isReordered": False,
        "columns": 2,  # of three, titles are cut beside MLflow's other panes
        "deleted": False,
        "isGenerated": True,
    }

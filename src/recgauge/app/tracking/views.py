"""Views of MLflow's page: the charts, columns and runs that a link opens.

MLflow keeps a view as a tag of the experiment and opens it by a parameter of the address. The format is what
MLflow 3.17 itself stores for "Save as new view"; links for other versions do without.
"""

import base64
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from recgauge.app.tracking.once import despite_others
from recgauge.runs import HEADLINE

if TYPE_CHECKING:
    from mlflow import MlflowClient

TAG = "mlflow.sharedViewState."
LONGEST = 5_000  # characters of a tag of an experiment
KNOWN = ((3, 17), (4, 0))  # the first version that was tried, and the first that may be different
COLUMNS = ("dataset", "model", "seed", "fold")
REPEATED = ("seed", "fold", "window")
"""Last words of the params of runs that repeat others."""
MOST_BARS = 12
"""More runs than these are drawn as means of groups; fewer have a bar and a colour each."""
MOST_COMPARED = 200  # runs that are looked at to choose a page's charts
_FIRST, _CURVES = "recgauge-first", "recgauge-curves"


def is_known(version: str) -> bool:
    """Whether this version of MLflow can open our views.

    Examples
    --------
    >>> is_known("3.17.2"), is_known("3.9.0"), is_known("4.0.0"), is_known("unknown")
    (True, False, False, False)
    """
    numbers = version.split(".")[:2]
    if len(numbers) < 2 or not all(number.isdecimal() for number in numbers):
        return False
    return KNOWN[0] <= (int(numbers[0]), int(numbers[1])) < KNOWN[1]


def mlflow_version(uri: str) -> str:
    """Return the version of the MLflow that draws the page: the server's, else the installed one."""
    if not uri.startswith("http"):
        return version("mlflow")
    import requests

    return requests.get(f"{uri.rstrip('/')}/version", timeout=5).text.strip()


def share_key(search: str) -> str:
    """Return the name of the view of the runs that a search finds."""
    return f"recgauge-{sha256(search.encode()).hexdigest()[:12]}" if search else "recgauge"


def comparison(metrics: Iterable[str], runs: Sequence[Mapping[str, str]], search: str) -> str | None:
    """Return a view that shows runs side by side, as the value of its tag.

    The first section has a bar chart for each metric at one cutoff (10, else the largest), nDCG, recall and
    MAP in front; the second draws metrics against the cutoff; the others are folded. Bars are runs; of many
    runs, they are means over runs that differ in nothing but seed and fold.

    Parameters
    ----------
    metrics : iterable of str
        Those that the runs have.
    runs : sequence of mapping of str to str
        The params of each run.
    search : str
        Finds the runs, in MLflow's language; empty: all.

    Returns
    -------
    str or None
        None if there is nothing to draw, or too much for a tag.
    """
    first, curves = _drawn(set(metrics))
    if not first:
        return None
    state = _state(first, curves, search, *_groups(runs))
    packed = base64.b64encode(zlib.compress(json.dumps(state).encode(), 9)).decode()
    tag = f"deflate;{packed}"
    return tag if len(tag) <= LONGEST else None


def read(tag: str) -> dict[str, Any]:
    """Return the view that a tag holds."""
    state: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(tag.removeprefix("deflate;"))))
    return state


def _drawn(metrics: set[str]) -> tuple[list[str], list[str]]:
    """Return the metrics to draw as bars, and those to draw against the cutoff."""
    cutoffs: dict[str, list[int]] = {}
    for name, _, k in (metric.rpartition("_at_") for metric in metrics if "/" not in metric):
        if name and k.isdecimal():
            cutoffs.setdefault(name, []).append(int(k))
    ks = {k for values in cutoffs.values() for k in values}
    headline = 10 if 10 in ks else max(ks, default=0)
    order = {name: rank for rank, name in enumerate(HEADLINE)}

    def sorted_names(names: Iterable[str]) -> list[str]:
        return sorted(names, key=lambda name: (order.get(name, len(order)), name))

    listed = [f"{name}_at_{headline}" for name in sorted_names(cutoffs) if headline in cutoffs[name]]
    alone = [name for name in sorted_names(metrics) if "_at_" not in name and "/" not in name]
    return listed + [name for name in alone if name not in cutoffs], [
        name for name in alone if name in cutoffs
    ]


def _groups(runs: Sequence[Mapping[str, str]]) -> tuple[list[str], bool]:
    """Return the params that runs are grouped by, and whether bars are means over the runs of a group."""
    every = dict.fromkeys(key for run in runs for key in run)
    varying = {key for key in every if len({run.get(key, "") for run in runs}) > 1}
    if len(runs) <= MOST_BARS:
        return (["dataset"] if "dataset" in varying else []), False
    repeated = {key for key in varying if key.rpartition(".")[2] in REPEATED}
    keys: list[str] = [key for key in ("dataset", "model") if key in varying]
    for key in every:  # what people compare by comes first
        if key in varying - repeated and not _is_decided(key, keys, runs):
            keys.append(key)
    return keys, bool(repeated) and len({tuple(run.get(key) for key in keys) for run in runs}) < len(runs)


def _is_decided(key: str, by: Sequence[str], runs: Sequence[Mapping[str, str]]) -> bool:
    """Whether runs with the same values of some params have the same value of another."""
    values: dict[tuple[str | None, ...], set[str | None]] = {}
    for run in runs:
        values.setdefault(tuple(run.get(one) for one in by), set()).add(run.get(key))
    return all(len(some) == 1 for some in values.values())


def _state(
    first: Sequence[str], curves: Sequence[str], search: str, keys: Sequence[str], means: bool
) -> dict[str, Any]:
    at = first[0].rpartition("_at_")[2] if "_at_" in first[0] else ""
    group = {
        "aggregateFunction": "average",
        "groupByKeys": [{"mode": "param", "groupByData": key} for key in keys],
    }
    return {
        "searchFilter": search,
        "orderByKey": "params.`dataset`",
        "orderByAsc": True,
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
            _section("recgauge-rest", "Model metrics", shown=False),  # MLflow's own; it puts the rest there
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


def share(client: "MlflowClient", uri: str, experiment_id: str, search: str) -> str | None:
    """Store what the page of a search's runs shows; None if MLflow cannot: the page opens without it."""
    try:
        if not is_known(mlflow_version(uri)):
            return None
        runs = client.search_runs([experiment_id], search, max_results=MOST_COMPARED)
        metrics = {name for run in runs for name in run.data.metrics}
        params = [run.data.params for run in runs if run.data.metrics]
        key, view = share_key(search), comparison(metrics, params, search)
        if view is not None:
            despite_others(lambda: client.set_experiment_tag(experiment_id, TAG + key, view))
    except Exception:  # a page without chosen charts is no reason to fail
        return None
    return None if view is None else key

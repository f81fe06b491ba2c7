"""Which charts MLflow's page opens on, in the private format in which MLflow 3.17 saves a view of its own."""

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from recgauge.metrics import HEADLINE
from recgauge.metrics.names import headline_cutoff, split_key
from recgauge.tracking.page import BY_CUTOFF, COUNTS

if TYPE_CHECKING:
    from mlflow.entities import RunData

VIEW_TAG = "mlflow.sharedViewState."
KNOWN = ((3, 17), (4, 0))  # the first version that was tried, and the first that may be different
_PAGE = {
    "startTime": "ALL", "lifecycleFilter": "Active", "datasetsFilter": [], "modelVersionFilter": "All Runs",
    "columnOrder": [], "columnWidths": {}, "runsHiddenMode": "SHOW_ALL", "viewMaximized": False,
    "runListHidden": False, "isAccordionReordered": True, "hideEmptyCharts": True, "groupsExpanded": {},
    "globalLineChartConfig": {"xAxisKey": "step", "lineSmoothness": 0, "selectedXAxisMetricKey": ""},
    "useGroupedValuesInCharts": False, "groupBy": None,
}  # fmt: skip
_LINES = {
    "type": "LINE", "lineSmoothness": 0, "xAxisScaleType": "linear", "scaleType": "linear", "range": {},
    "xAxisKey": "step", "selectedXAxisMetricKey": "", "yAxisKey": "metric", "yAxisExpressions": [],
    "ignoreOutliers": False, "useGlobalXaxisKey": True, "useGlobalLineSmoothing": True,
}  # fmt: skip


def view(
    runs: "Sequence[RunData]", search: str, settings: Sequence[str] = (), *, nested: bool = False
) -> str | None:
    """Return a view of runs as the value of a tag; None if they have nothing to draw.

    The table has columns of the first metrics and of `settings`, names of params.

    Its first section has bars of each metric at one cutoff, the headline first; the second draws metrics
    against the cutoff; MLflow's own is folded. `nested`: runs have others below them, which MLflow shows as
    such only in the order of time.
    """
    bars, curves, k = _drawn({name for run in runs for name in run.metrics})
    if not bars:
        return None
    columns = [f"metrics.`{name}`" for name in bars[:3]] + [f"params.`{name}`" for name in settings]
    datasets = {run.params.get("dataset", "") for run in runs}
    title = "Metrics" if k is None else f"Metrics at {k}"
    if len(datasets) > 1 or "params.dataset" in search:  # runs on others are on another page
        title = f"{f'{len(datasets)} data sets' if len(datasets) > 1 else min(datasets)}: {title}"
    order = "params.`dataset`" if len(datasets) > 1 else f"metrics.`{bars[0]}`"
    sections = {"first": title, "curves": "Metrics by cutoff", "rest": "Model metrics"}
    sections |= {name: name for name in (*bars[:1], "difference", "corrected_p")}  # of comparisons
    state = {
        **_PAGE,
        "searchFilter": search,
        "orderByKey": "attributes.start_time" if nested else order,
        "orderByAsc": nested,  # as the terminal lists the jobs
        "selectedColumns": columns,
        "compareRunCharts": [
            *(_chart(name, "first", {"type": "BAR"}) for name in bars),
            *(_chart(name, "curves", _LINES) for name in curves),
        ],
        "compareRunSections": [
            {
                "uuid": f"recgauge-{uuid}", "name": name, "display": uuid in ("first", "curves"),
                "isReordered": False, "columns": 2, "deleted": False, "isGenerated": True,
            }
            for uuid, name in sections.items()
        ],
    }  # fmt: skip
    return f"deflate;{base64.b64encode(zlib.compress(json.dumps(state).encode(), 9)).decode()}"


def _chart(metric: str, section: str, kind: Mapping[str, Any]) -> dict[str, Any]:
    own = {"uuid": f"recgauge-{metric}", "metricSectionId": f"recgauge-{section}", "displayName": metric}
    rest = {"runsCountToCompare": 100, "deleted": False, "isGenerated": False}
    return {**rest, **own, "metricKey": metric, "selectedMetricKeys": [metric], **kind}


def _drawn(metrics: set[str]) -> tuple[list[str], list[str], int | None]:
    """Return the metrics to draw as bars, those to draw against the cutoff, and the cutoff of the bars."""
    keys = [key for key in metrics - {*COUNTS} if "/" not in key and not key.endswith(("_low", "_high"))]
    k = headline_cutoff(split_key(key)[1] for key in keys)
    order = {name: rank for rank, name in enumerate(HEADLINE)}
    names = {split_key(key)[0]: key for key in keys if split_key(key)[1] in (k, None)}
    ranked = sorted(names, key=lambda name: (order.get(name, len(order)), name))
    curves = [BY_CUTOFF + name for name in ranked if BY_CUTOFF + name in metrics]
    return [names[name] for name in ranked], curves, k

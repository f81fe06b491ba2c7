"""Which charts MLflow's page opens on, in the private format in which MLflow 3.17 saves a view of its own."""

import base64
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from recgauge.metrics import HEADLINE
from recgauge.metrics.names import headline_cutoff
from recgauge.runs.settings import FOLDS
from recgauge.tracking.page import BY_CUTOFF, COUNTS

VIEW_TAG = "mlflow.sharedViewState."
LONGEST_VIEW = 5_000  # characters of a tag of an experiment
KNOWN = ((3, 17), (4, 0))  # the first version that was tried, and the first that may be different
_PAGE = {
    "startTime": "ALL", "lifecycleFilter": "Active", "datasetsFilter": [], "modelVersionFilter": "All Runs",
    "columnOrder": [], "columnWidths": {}, "runsHiddenMode": "SHOW_ALL", "viewMaximized": False,
    "runListHidden": False, "isAccordionReordered": True, "hideEmptyCharts": True, "groupsExpanded": {},
    "globalLineChartConfig": {"xAxisKey": "step", "lineSmoothness": 0, "selectedXAxisMetricKey": ""},
}  # fmt: skip
_LINES = {
    "lineSmoothness": 0, "xAxisScaleType": "linear", "scaleType": "linear", "range": {}, "xAxisKey": "step",
    "selectedXAxisMetricKey": "", "yAxisKey": "metric", "yAxisExpressions": [], "ignoreOutliers": False,
    "useGlobalXaxisKey": True, "useGlobalLineSmoothing": True,
}  # fmt: skip


def view(
    metrics: Iterable[str], runs: Sequence[Mapping[str, str]], search: str, *, nested: bool = False
) -> str | None:
    """Return a view of runs, each given by its params, as the value of a tag; None where that is impossible.

    Its first section has bars of each metric at one cutoff, the headline first; the second draws metrics
    against the cutoff; MLflow's own is folded. `nested`: runs have others below them, which MLflow shows as
    such only in the order of time.
    """
    first, curves = _drawn(set(metrics))
    if not first:
        return None
    repeated = _repeat(runs)
    at = first[0].rpartition("_at_")[2] if "_at_" in first[0] else ""
    n_datasets = len({run.get("dataset") for run in runs})
    title = f"Metrics at {at}" if at else "Metrics"
    title += f", {n_datasets} data sets" if n_datasets > 1 else ""
    charts = [_chart(name, "first", {"type": "BAR"}) for name in first]
    charts += [_chart(name, "curves", {"type": "LINE", **_LINES}) for name in curves]
    sections = {"first": title, "curves": "Metrics by cutoff", "rest": "Model metrics"}
    order = "attributes.`run_name`" if repeated else f"metrics.`{first[0]}`"
    state = {
        **_PAGE,
        "searchFilter": search,
        "orderByKey": "attributes.start_time" if nested else order,
        "orderByAsc": repeated and not nested,
        "selectedColumns": [f"metrics.`{name}`" for name in first[:3]],
        "compareRunCharts": charts,
        "compareRunSections": [
            {
                "uuid": f"recgauge-{uuid}", "name": name, "display": uuid != "rest", "isReordered": False,
                "columns": 2, "deleted": False, "isGenerated": True,
            }
            for uuid, name in sections.items()
        ],
        "useGroupedValuesInCharts": False,
        "groupBy": None,
    }  # fmt: skip
    tag = f"deflate;{base64.b64encode(zlib.compress(json.dumps(state).encode(), 9)).decode()}"
    return tag if len(tag) <= LONGEST_VIEW else None


def _chart(metric: str, section: str, kind: Mapping[str, Any]) -> dict[str, Any]:
    own = {"uuid": f"recgauge-{metric}", "metricSectionId": f"recgauge-{section}", "displayName": metric}
    rest = {"runsCountToCompare": 100, "deleted": False, "isGenerated": False}
    return {**rest, **own, "metricKey": metric, "selectedMetricKeys": [metric], **kind}


def _drawn(metrics: set[str]) -> tuple[list[str], list[str]]:
    """Return the metrics to draw as bars, and those to draw against the cutoff."""
    order = {name: rank for rank, name in enumerate(HEADLINE)}
    names = sorted({name.rpartition("_at_")[0] or name for name in metrics - {*COUNTS} if "/" not in name})
    names.sort(key=lambda name: order.get(name, len(order)))
    ks = {
        name: [int(k) for m in metrics if (k := m.removeprefix(f"{name}_at_")).isdecimal()] for name in names
    }
    headline = headline_cutoff(k for own in ks.values() for k in own)
    bars = [f"{name}_at_{headline}" if ks[name] else name for name in names]
    ends = {f"{bar}_{end}" for bar in bars for end in ("low", "high")}
    curves = [BY_CUTOFF + name for name in names if BY_CUTOFF + name in metrics]
    return [bar for bar in bars if bar in metrics and bar not in ends], curves


def _repeat(runs: Sequence[Mapping[str, str]]) -> bool:
    """Whether some runs differ in seed and fold alone."""
    varying = {key for run in runs for key in run if len({other.get(key, "") for other in runs}) > 1}
    return any(key.rpartition(".")[2] in ("seed", *FOLDS) for key in varying)

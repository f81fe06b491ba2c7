"""The same models under splits that let them see the future and splits that do not, and what guards say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, ClassVar

from recgauge.comparison import compare
from recgauge.comparison.results import Pair
from recgauge.report import markdown_table
from recgauge.runs.finished import FinishedRun
from recgauge.runs.folder import JobOutcome
from recgauge.runs.stored import PER_USER
from recgauge.studies import Row, Study, distinct, folded, label, missing_runs, number_row, where

from ..sampled_metrics.ranks import agreement_table, plot_ranks, rank_table, turned, values_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from recgauge.runs.record import RunRecord

    _Tables = Mapping[tuple[str, str], pd.DataFrame]

COLUMNS = (
    *(
        "condition",
        "model",
        "metric",
        "value",
        "stderr",
        "users",
        "difference",
        "low",
        "high",
        "differs",
        "level",
    ),
    *("surely_below", "message", "definition", "reason"),
)
WINDOW = {
    "past": "window, past",
    "others": "window, others' future",
    "as_many": "window, others' future, as many rows",
    "everybody": "window, own future, too",
}
"""What `Window.training` is called."""
CUT, PAST = "temporal_fraction", WINDOW["past"]
"""The two conditions without rows of the future, which the others are compared with."""
GUARDS = (
    *("train_after_test", "train_after_cut", "new_test_items", "unknown_items", "ties_at_cut"),
    "test_on_top_10_percent",
)
_BETWEEN = "; "


@dataclass(frozen=True)
class Leakage(Study):
    """Collects values, guards and paired differences of every model under every condition."""

    columns: ClassVar[tuple[str, ...]] = COLUMNS
    artifacts: ClassVar[tuple[str, ...]] = (PER_USER,)
    name: str
    metric: str = "ndcg_at_10"  # of differences, figures and the order of models in tables

    def rows(self, runs: Sequence[JobOutcome], source: Path) -> list[Row]:
        """Return a row per condition, model and metric, then a row per condition and count or guard."""
        rows = super().rows(runs, source)
        ended = [(run, run.record) for run in runs if run.record is not None]
        tables = {
            (condition_of(run), run.names["model"]): FinishedRun(record, run.folder).per_user([self.metric])
            for run, record in ended
        }
        below, differences = self._surely_below(tables), self._differences(tables)
        for row in where(rows, metric=self.metric):
            about = row["condition"], row["model"]
            row["surely_below"] = _BETWEEN.join(below.get(about, ()))
            row.update(differences.get(about, {}))
        first = {condition_of(run): record for run, record in reversed(ended)}
        guards = [
            dict.fromkeys(COLUMNS, "") | {"condition": name} | found
            for name in distinct(rows, "condition")
            if (record := first.get(name)) is not None
            for found in _facts(record)
        ]
        return rows + guards

    def about(self, run: JobOutcome) -> Row:
        """Return condition and model."""
        return {"condition": condition_of(run), "model": run.names.get("model", "")}

    def numbers(self, run: JobOutcome, record: "RunRecord") -> list[Row]:  # noqa: ARG002 - of the record
        """Return one row per metric."""
        users = {"users": str(record.counts["users_evaluated"])}
        return [number_row(entry) | users for entry in record.results]

    def _surely_below(self, tables: "_Tables") -> dict[tuple[str, str], list[str]]:
        """Return, of each run, the models that are better under its condition beyond noise."""
        below: dict[tuple[str, str], list[str]] = {}
        for condition in dict.fromkeys(condition for condition, _ in tables):
            own = {model: table for (name, model), table in tables.items() if name == condition}
            for pair in _pairs(own, self.metric):
                if pair.differs:
                    better, worse = (pair.a, pair.b) if pair.difference > 0 else (pair.b, pair.a)
                    below.setdefault((condition, worse), []).append(better)
        return {about: sorted(models) for about, models in below.items()}

    def _differences(self, tables: "_Tables") -> dict[tuple[str, str], Row]:
        """Return, of each run on the window's test rows, the difference from the same model's past alone."""
        found = {}
        for model in dict.fromkeys(model for _, model in tables):
            own = {name: tables[name, model] for name in WINDOW.values() if (name, model) in tables}
            for pair in _pairs(own, self.metric, PAST) if PAST in own else ():
                numbers = {"difference": pair.difference, "low": pair.low, "high": pair.high}
                cells = {name: f"{number:.4g}" for name, number in numbers.items()}
                found[pair.a, model] = cells | {"differs": str(pair.differs).lower()}
        return found

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return values with ranks, what turns, differences in the window, guards; missing runs are named."""
        parts = missing_runs(rows, "{model} under {condition}")
        found = _numbers(rows)
        if found:
            shown = label(self.metric)
            splits, window = _apart(found)
            parts += [rank_table(splits, "condition", self.metric, CUT)]
            parts += [f"![Ranks of the models by {shown}](ranks.png)"]
            parts += [f"### {shown} on the same test rows, by what is trained on"]
            parts += [self._told_differences(window), "![Differences from the past alone](differences.png)"]
            parts += ["### Which pairs of models change order", *self._told_turns(splits, window)]
            agreements = [
                agreement_table(some, "condition", reference)
                for some, reference in ((splits, CUT), (window, PAST))
            ]
            title = "Kendall's τ by every metric, the number of pairs that turn, another best model"
            parts += [folded(title, "\n\n".join(agreements))]
            parts += ["### What the guards say", _told_guards(rows)]
        return "\n\n".join(parts)

    def _told_differences(self, rows: Sequence[Row]) -> str:
        others = [name for name in distinct(rows, "condition") if name != PAST]
        cells = []
        for model, value in values_of(rows, self.metric, condition=PAST).items():
            own = [where(rows, condition=name, model=model, metric=self.metric) for name in others]
            cells.append([model, f"{value:.4f}", *("".join(map(_difference, each)) for each in own)])
        header = [PAST, *others]
        return markdown_table(cells, ["model", *header], right=header) + (
            "\n\nThe value of the first, and differences from it, paired by user, with 95 % intervals "
            "(bootstrap over users); in bold where a difference is shown, with the three differences of a "
            "model accounted for."
        )

    def _told_turns(self, splits: Sequence[Row], window: Sequence[Row]) -> list[str]:
        lines, cells = [], []
        for rows, reference in ((splits, CUT), (window, PAST)):
            known = values_of(rows, self.metric, condition=reference)
            for name in distinct(rows, "condition"):
                if name == reference:
                    continue
                pairs = turned(known, values_of(rows, self.metric, condition=name))
                sure = {
                    (better, worse)
                    for better, worse in pairs
                    if self._is_below(rows, reference, worse, better)
                    and self._is_below(rows, name, better, worse)
                }
                told = {pair: f"{pair[1]} above {pair[0]}" for pair in pairs}
                listed = _BETWEEN.join(f"**{text}**" if pair in sure else text for pair, text in told.items())
                lines.append(
                    f"- {name} against {reference}: {len(pairs)} of {comb(len(known), 2)} pairs turn, "
                    f"{len(sure)} beyond noise"
                )
                cells.append([name, reference, listed or "none"])
        return [
            "\n".join(lines),
            folded(
                "The pairs that turn, in bold beyond noise",
                markdown_table(cells, ["condition", "compared with", "pairs"])
                + "\n\nBeyond noise: both orders are shown by paired tests over users, with all pairs of a "
                "condition accounted for.",
            ),
        ]

    def _is_below(self, rows: Sequence[Row], condition: str, model: str, above: str) -> bool:
        (row,) = where(rows, condition=condition, model=model, metric=self.metric)
        return above in row["surely_below"].split(_BETWEEN)

    def figures(self, rows: Sequence[Row]) -> "dict[str, Figure]":
        """Return the ranks under all conditions, and the differences in the window."""
        found = _numbers(rows)
        if not found:
            return {}
        ticks = {name: _tick(name) for name in distinct(found, "condition")}
        drawn = {"ranks": plot_ranks(found, "condition", self.metric, ticks)}
        differences = [row for row in found if row["difference"]]
        return drawn | ({"differences": plot_differences(differences, self.metric)} if differences else {})


def condition_of(run: JobOutcome) -> str:
    """Return the split's name, or what the window is trained on."""
    training = (run.settings.get("split") or {}).get("training")
    return run.names.get("split", "") if training is None else WINDOW[training]


def _pairs(
    tables: "Mapping[str, pd.DataFrame]", metric: str, baseline: str | None = None
) -> tuple[Pair, ...]:
    """Compare values of the same users, whatever was trained on."""
    if len(tables) < 2:
        return ()
    return compare(tables, metrics=[metric], baseline=baseline).result(metric).pairs


def _facts(record: "RunRecord") -> list[Row]:
    """Return how many rows are trained on and tested, and the guards that tell of time and popularity."""
    counts = {"training rows": record.split.train.rows, "test rows": record.split.test.rows}
    found = [{"metric": name, "value": str(count), "level": "count"} for name, count in counts.items()]
    by_name = {guard.name: guard for guard in record.guards}
    for name in GUARDS:
        if (guard := by_name.get(name)) is not None:
            level = "overridden" if guard.overridden else guard.level
            about = {"metric": name, "value": f"{guard.value:.6g}", "level": level, "message": guard.message}
            found.append(about)
    return found


def _numbers(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["value"] and row["model"]]


def _apart(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Return the rows of the splits, and those of the window."""
    splits = [row for row in rows if row["condition"] not in WINDOW.values()]
    return splits, [row for row in rows if row["condition"] in WINDOW.values()]


def _difference(row: Row) -> str:
    if not row["difference"]:
        return ""
    middle, low, high = (float(row[name]) for name in ("difference", "low", "high"))
    text = f"{middle:+.3f} [{low:+.3f}, {high:+.3f}]"
    return f"**{text}**" if row["differs"] == "true" else text


def _told_guards(rows: Sequence[Row]) -> str:
    facts = [row for row in rows if row["level"]]
    names, cells = distinct(facts, "metric"), []
    for condition in distinct(facts, "condition"):
        own = {row["metric"]: row for row in where(facts, condition=condition)}
        cells.append([condition, *(_fact(own.get(name)) for name in names)])
    return markdown_table(cells, ["condition", *names], right=names) + (
        "\n\nShares; docs/guards.md says of what. In bold: a warning, or what would have stopped the run had "
        "it not been overridden. Empty: the guard does not look at such a split."
    )


def _fact(row: Row | None) -> str:
    if row is None:
        return ""
    if row["level"] == "count":
        return f"{int(row['value']):,}"
    text = f"{float(row['value']):.1%}".replace("%", " %")
    return {"note": text, "overridden": f"**{text}, overridden**"}.get(
        row["level"], f"**{text}, {row['level']}**"
    )


def _tick(condition: str) -> str:
    """Return a condition's name on lines short enough for an axis with nine of them."""
    return fill(condition.replace("_", " "), 8, break_long_words=False, break_on_hyphens=False)


def plot_differences(rows: Sequence[Row], metric: str) -> "Figure":
    """Return a panel for each training part: each model's difference from the past alone."""
    from recgauge.report.figures.style import MUTED, REFERENCE, SMALL, draw_interval, name_rows, new_figure

    conditions, models = distinct(rows, "condition"), distinct(rows, "model")
    title = f"{label(metric)}: difference from training on the past alone"
    with new_figure(title, height=1.5 + 0.3 * len(models), panels=len(conditions)) as (figure, panels):
        for axes, condition in zip(panels, conditions, strict=True):
            axes.axvline(0.0, **REFERENCE)
            for row in where(rows, condition=condition):
                low, middle, high = (float(row[name]) for name in ("low", "difference", "high"))
                filled = row["differs"] == "true"
                draw_interval(axes, models.index(row["model"]), (low, middle, high), filled=filled)
            name_rows(axes, models if axes is panels[0] else [""] * len(models))
            axes.set_title(condition.partition(", ")[2].replace(", ", ",\n"))
            axes.set_xlabel(f"{label(metric)}, 95 %")
        low = min(float(row["low"]) for row in rows)
        high = max(float(row["high"]) for row in rows)
        for axes in panels:
            axes.set_xlim(min(low, 0.0) - 0.005, max(high, 0.0) + 0.005)
        note = "filled: shown to differ; open: not shown to differ"
        figure.supxlabel(note, x=0.012, ha="left", fontsize=SMALL, color=MUTED)
        return figure

"""Who is best at the next item, under several targets, rules for ties, and candidates."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from recgauge.comparison import compare
from recgauge.report import markdown_table
from recgauge.runs.finished import FinishedRun
from recgauge.runs.folder import JobOutcome
from recgauge.runs.stored import PER_USER
from recgauge.studies import Row, Study, distinct, folded, label, missing_runs, where

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from recgauge.runs.record import RunRecord

TARGETS = ("first", "last", "random", "successive", "all", "leave_one_out")
TIES, CANDIDATES = ("fixed_random", "row_order", "item_id", "random"), ("all", "uniform", "popularity")
"""Rules, the usual one first."""
CONDITION = ("dataset", "target", "ties", "seed", "candidates")
_MARK = "‡"
_TITLES = {"fixed_random": "fixed random", "row_order": "row order", "item_id": "item id"}
_TICKS = {"leave_one_out": "leave\none out", "successive": "succes-\nsive"}
_NAMES = {"all": "whole catalogue", "uniform": "100 uniform", "popularity": "100 by popularity"}


@dataclass(frozen=True)
class NextItemTargets(Study):
    """Collects every model's values under every condition, with letters and intervals over users."""

    columns: ClassVar[tuple[str, ...]] = (
        *CONDITION,
        *("model", "metric", "value", "low", "high", "letters", "users", "queries", "tied", "reason"),
    )
    artifacts: ClassVar[tuple[str, ...]] = (PER_USER,)
    name: str
    metric: str = "ndcg_at_10"  # that decides who is best

    def rows(self, runs: Sequence[JobOutcome], source: Path) -> list[Row]:
        """Return a row per condition, model and metric."""
        rows = super().rows(runs, source)
        conditions: dict[tuple[str, ...], dict[str, FinishedRun]] = {}
        for run in runs:
            if run.record is not None:
                about = self.about(run)
                own = conditions.setdefault(tuple(about[name] for name in CONDITION), {})
                own[about["model"]] = FinishedRun(run.record, run.folder)
        compared = {
            condition: {row.run: row for row in compare(own, metrics=[self.metric]).result(self.metric).rows}
            for condition, own in conditions.items()
            if len(own) > 1
        }
        for row in where(rows, metric=self.metric):
            board_row = compared.get(tuple(row[name] for name in CONDITION), {}).get(row["model"])
            if board_row is not None:
                row |= {
                    "low": f"{board_row.low:.4g}",
                    "high": f"{board_row.high:.4g}",
                    "letters": board_row.letters,
                }
        return rows

    def about(self, run: JobOutcome) -> Row:
        """Return the condition and the model."""
        split, candidates = run.settings["split"], run.settings["candidates"]
        model = run.names.get("model", "")
        if run.settings["model"].get("last_days"):
            model = f"{model}, {run.settings['model']['last_days']:g} days"
        return {
            "dataset": run.names.get("dataset", ""),
            "target": split.get("target", run.names.get("split", "").removesuffix("_last")),
            "ties": split["ties"],
            "seed": str(run.settings["seed"]),
            "candidates": candidates.get("by", "all"),
            "model": model,
        }

    def numbers(self, run: JobOutcome, record: "RunRecord") -> list[Row]:  # noqa: ARG002 - of the record
        """Return a row per metric."""
        users = record.counts["users_evaluated"]
        tied = [guard.value for guard in record.guards if guard.name == "ties_at_cut"]
        about = {
            "users": str(users),
            "queries": str(record.counts.get("queries_evaluated", users)),
            "tied": f"{tied[0]:.4g}" if tied else "",
        }
        return [about | {"metric": entry.key, "value": f"{entry.value:.6g}"} for entry in record.results]

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return who is best by target, by rule for ties, and by candidates."""
        parts = missing_runs(rows, "{model} on {dataset}, {target}")
        numbers = where(rows, metric=self.metric)
        if not numbers:
            return "\n\n".join(parts)
        parts += [f"### {label(self.metric)} by target", *map(_target_table, _by_dataset(_usual(numbers)))]
        parts += [_LETTERS, f"![{label(self.metric)} of each model by target](targets.png)"]
        parts += ["### The rule for ties", _tie_table(numbers), _TIES_NOTE]
        parts += [folded("The best three of each", _orders(numbers, "ties"))]
        parts += ["### Sampled candidates", _candidate_table(numbers), _CANDIDATES_NOTE]
        return "\n\n".join(parts)

    def figures(self, rows: Sequence[Row]) -> "dict[str, Figure]":
        """Return each model's value by target, a panel for each data set with several."""
        numbers = _usual(where(rows, metric=self.metric))
        return {"targets": plot_targets(numbers, self.metric)} if numbers else {}


_LETTERS = (
    "Models of a column that share a letter are not shown to differ, over users and with all pairs of the "
    "column accounted for. Numbers of two columns are of other rows; only orders can be compared. Bars in "
    "the figure: 95 % intervals."
)
_TIES_NOTE = (
    "*hang on it*: users with a target that shares its time with another of their rows; the order inside "
    "histories hangs on the rule, too. The best model under each rule with its number, and in how many "
    "random orders it is best; in bold another best model than under the usual rule, fixed random; "
    f"{_MARK} behind one that is shown to be better than the usual best there. *move*: the largest "
    "difference of one model's numbers between two rules or random orders."
)
_CANDIDATES_NOTE = (
    f"In order, best first; bold and {_MARK} as above, against the whole catalogue. τ: Kendall's, of the "
    "order of all models with that of the whole catalogue."
)


def _usual(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of the usual rule for ties and the whole catalogue."""
    return where(rows, ties=TIES[0], candidates=CANDIDATES[0])


def _by_dataset(rows: Sequence[Row]) -> list[list[Row]]:
    return [where(rows, dataset=name) for name in distinct(rows, "dataset")]


def _best_first(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: -float(row["value"]))


def _target_table(rows: Sequence[Row]) -> str:
    """Return a data set's values and letters, a column for each target; in bold the best."""
    targets = [name for name in TARGETS if where(rows, target=name)]
    columns = {name: where(rows, target=name) for name in targets}
    cells = []
    for model in distinct(rows, "model"):
        own = [where(columns[name], model=model) for name in targets]
        cells.append([model, *(_value(each[0], columns[each[0]["target"]]) if each else "" for each in own)])
    counts = [columns[name][0] for name in targets]
    cells.append(["users; queries", *(f"{int(row['users']):,}; {int(row['queries']):,}" for row in counts)])
    return markdown_table(cells, [rows[0]["dataset"], *targets], right=targets)


def _value(row: Row, column: Sequence[Row]) -> str:
    text = f"{float(row['value']):.4f}"
    text = f"**{text}**" if row is _best_first(column)[0] else text
    return f"{text} {row['letters']}".rstrip()


def _winner(rows: Sequence[Row], usual: str) -> str:
    """Return the best model of a condition and its number, marked if it is not the usual best."""
    best = _best_first(rows)[0]
    text = f"{best['model']} {float(best['value']):.4f}"
    return text if best["model"] == usual else f"**{text}**{_surely(rows, best, usual)}"


def _surely(rows: Sequence[Row], best: Row, usual: str) -> str:
    """Return a mark if the best model is shown to be better than the usual best."""
    letters = {row["model"]: set(row["letters"]) for row in rows}
    return "" if letters[best["model"]] & letters.get(usual, set()) else _MARK


def _groups(rows: Sequence[Row], column: str) -> list[list[Row]]:
    """Return the rows of each data set and target that has more than one rule in a column."""
    pairs = dict.fromkeys((row["dataset"], row["target"]) for row in rows)
    groups = [where(rows, dataset=dataset, target=target) for dataset, target in pairs]
    return [group for group in groups if len(distinct(group, column)) > 1]


def _tie_table(rows: Sequence[Row]) -> str:
    """Return the best model under each rule for ties, and how far the rules move a number."""
    cells = []
    for group in _groups(where(rows, candidates=CANDIDATES[0]), "ties"):
        usual = _best_first(where(group, ties=TIES[0]))[0]
        fixed = [_winner(where(group, ties=name), usual["model"]) for name in TIES[:-1]]
        drawn = where(group, ties=TIES[-1])
        best = [_best_first(where(drawn, seed=seed))[0]["model"] for seed in distinct(drawn, "seed")]
        counts = ", ".join(f"{name} {best.count(name)} of {len(best)}" for name in dict.fromkeys(best))
        cells.append(
            [f"{usual['dataset']}, {usual['target']}", _share(usual["tied"]), *fixed, counts, _moved(group)]
        )
    header = ["data set, target", "hang on it", *(_TITLES[name] for name in TIES[:-1]), "random", "move"]
    return markdown_table(cells, header, right=["hang on it", "move"])


def _share(text: str) -> str:
    return f"{float(text):.1%}".replace("%", " %") if text else ""


def _moved(rows: Sequence[Row]) -> str:
    """Return the largest difference of one model's numbers, and whose it is."""
    values = {
        model: [float(row["value"]) for row in where(rows, model=model)] for model in distinct(rows, "model")
    }
    model = max(values, key=lambda name: max(values[name]) - min(values[name]))
    return f"{max(values[model]) - min(values[model]):.3f} ({model})"


def _orders(rows: Sequence[Row], column: str) -> str:
    """Return the three best models under each rule, with their letters."""
    cells = []
    for group in _groups(where(rows, candidates=CANDIDATES[0]), column):
        for ties, seed in dict.fromkeys((row["ties"], row["seed"]) for row in group):
            best = _best_first(where(group, ties=ties, seed=seed))[:3]
            rule = _TITLES.get(ties, f"random, seed {seed}")
            best_three = [f"{row['model']} {float(row['value']):.4f} {row['letters']}" for row in best]
            cells.append([f"{best[0]['dataset']}, {best[0]['target']}", rule, *best_three])
    return markdown_table(cells, ["data set, target", "ties", "first", "second", "third"])


def _candidate_table(rows: Sequence[Row]) -> str:
    """Return the best three models under each rule for candidates."""
    cells = []
    for group in _groups(where(rows, ties=TIES[0]), "candidates"):
        whole = _best_first(where(group, candidates=CANDIDATES[0]))
        usual = whole[0]["model"]
        for name in CANDIDATES:
            own = _best_first(where(group, candidates=name))
            runners_up = [f"{row['model']} {float(row['value']):.4f}" for row in own[1:3]]
            tau = _tau(whole, own)
            cells.append(
                [
                    f"{own[0]['dataset']}, {own[0]['target']}",
                    _NAMES[name],
                    _winner(own, usual),
                    *runners_up,
                    tau,
                ]
            )
    header = ["data set, target", "candidates", "first", "second", "third", "τ"]
    return markdown_table(cells, header, right=["τ"])


def _tau(reference: Sequence[Row], other: Sequence[Row]) -> str:
    from scipy.stats import kendalltau

    values = {row["model"]: float(row["value"]) for row in other}
    shared = [row for row in reference if row["model"] in values]
    usual_values = [float(row["value"]) for row in shared]
    return f"{float(kendalltau(usual_values, [values[row['model']] for row in shared]).statistic):.2f}"


def plot_targets(rows: Sequence[Row], metric: str) -> "Figure":
    """Return each model's value with its interval by target, a panel for each data set with several."""
    from recgauge.report.figures.style import INK, line_look, new_figure

    several = [own for own in _by_dataset(rows) if len(distinct(own, "target")) > 1]
    models = distinct(rows, "model")
    with new_figure(None, height=4.2, panels=len(several)) as (figure, panels):
        for axes, own in zip(panels, several, strict=True):
            targets = [name for name in TARGETS if where(own, target=name)]
            for number, model in enumerate(models):
                row_of = {row["target"]: row for row in where(own, model=model)}
                heights = [place for place, name in enumerate(targets) if name in row_of]
                drawn = [row_of[targets[place]] for place in heights]
                look = line_look(number, marker=True)
                at = [place + (number - len(models) / 2) * 0.05 for place in heights]
                axes.plot(at, [float(row["value"]) for row in drawn], label=model, **look)
                for place, row in zip(at, drawn, strict=True):
                    if row["low"]:
                        ends = [float(row["low"]), float(row["high"])]
                        axes.plot([place] * 2, ends, color=look["color"], linewidth=0.8, alpha=0.6)
            axes.set_xticks(range(len(targets)), [_TICKS.get(name, name) for name in targets])
            axes.tick_params(axis="x", labelcolor=INK, labelsize=8)
            axes.set_title(f"{own[0]['dataset']}  {label(metric)}", loc="left")
            axes.set_ylim(bottom=0)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        return figure

"""Lists of language models and of classic models: published numbers, cold-start tables, policies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from recgauge.comparison import compare
from recgauge.comparison.resampling import normal_interval
from recgauge.evaluation import Evaluation
from recgauge.report import markdown_table
from recgauge.studies import Row, distinct, where
from recgauge.studies.published_lists import (
    JudgedLists,
    JudgingRows,
    PublishedLists,
    cells,
    graded,
    settings_of,
    verdict_counts,
)
from recgauge.studies.published_table import verdict_lines
from recgauge.studies.repository_files import RepositoryFiles

from .judging import MODELS, best_first, kind, model, read_lists, short_head, top_n

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KEY, K, CONFIDENCE = "ndcg_at_10", 10, 0.95
COLD, ORDER, RERANKED = "cold start", "policies", "re-ranking"
"""Parts of the page whose rows are the study's own."""
DATASETS = {"hetrec_lastfm": "HetRec Last.fm", "ml_small": "MovieLens latest-small"}
POLICIES: Mapping[str, dict[str, Any]] = {
    "as published": {},
    "unknown items miss": {"unknown": "miss"},
    "seen items miss": {"seen": "miss"},
    "repeats miss": {"repeats": "miss"},
    "all three miss": {"unknown": "miss", "seen": "miss", "repeats": "miss"},
}
"""What becomes of items that no list should hold, where not as in the study."""
MISS = "all three miss"


@dataclass(frozen=True)
class LanguageModelLists(PublishedLists):
    """Judges the lists as the study did; those of cold users best first, too, others under each policy."""

    columns: ClassVar[tuple[str, ...]] = (
        *PublishedLists.columns,
        *("part", "policy", "low", "high", "letters", "users", "difference_low", "difference_high"),
    )

    def read_lists(self, name: str, path: Path) -> dict[int, list[int]]:
        """Return users' items in the order in which the study judged them."""
        return read_lists(name, path)

    def judging_rows(self, lists: JudgedLists, files: RepositoryFiles) -> JudgingRows:
        """Return training and test rows, and Elliot's short head."""
        train, test = (graded(cells(files.paths[name], "\t")) for name in (lists.train, lists.test))
        return JudgingRows(train, test, short_head(train))

    def own_rows(self, lists: Sequence[JudgedLists], files: RepositoryFiles) -> list[Row]:
        """Return cold start as published and best first, top n under each policy, and the re-ranking."""
        rows = []
        for dataset in DATASETS:
            of_dataset = [each for each in lists if each.lists.startswith(f"{dataset}/")]
            rows += self._cold_start(dataset, of_dataset, files)
            rows += self._policies(dataset, top_n(of_dataset, dataset), files)
            rows += self._reranking(dataset, of_dataset, files)
        return rows

    def _judged(
        self, lists: Sequence[JudgedLists], files: RepositoryFiles, policies: Mapping[str, Any]
    ) -> dict[str, Evaluation]:
        """Return nDCG@10 of each model's lists."""
        return {
            model(each.lists): self.judge(
                each, files, self.judging_rows(each, files), ["ndcg"], [K], **policies
            )
            for each in lists
            if not files.reason(each.files)
        }

    def _cold_start(self, dataset: str, lists: Sequence[JudgedLists], files: RepositoryFiles) -> list[Row]:
        """Return each model's cold-start number in the order of the study, and best first."""
        test = f"{dataset}/cold.tsv"
        classic = [each for each in lists if kind(each.lists) == "reversed" and each.test == test]
        train = classic[0].train if classic else ""  # the study judged all lists of cold users by it
        models = [replace(each, test=test, train=train) for each in top_n(lists, dataset)]
        cold = [*classic, *models] if classic else []
        rows = []
        for order, judged in (("as published", cold), ("best first", [best_first(each) for each in cold])):
            rows += _compared(dataset, COLD, order, self._judged(judged, files, {}))
        return rows

    def _policies(self, dataset: str, lists: Sequence[JudgedLists], files: RepositoryFiles) -> list[Row]:
        """Return the language models' top-n numbers under each policy."""
        return [
            row
            for name, policies in POLICIES.items()
            for row in _compared(dataset, ORDER, name, self._judged(lists, files, policies))
        ]

    def _reranking(self, dataset: str, lists: Sequence[JudgedLists], files: RepositoryFiles) -> list[Row]:
        """Return each model's re-ranked lists against its candidates, as published and as misses."""
        rows = []
        for task, candidates, reranked in reranked_pairs(lists):
            for policy in ("as published", MISS):
                pair = [self._judged([each], files, POLICIES[policy]) for each in (candidates, reranked)]
                if all(pair):
                    rows.append(_pair(dataset, f"{model(reranked.lists)}, {task}", policy, *pair))
        return rows

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return the reversal, the policies, the re-ranking, and the counts of verdicts."""
        parts = []
        if where(rows, part=COLD):
            parts = [
                "### The cold-start tables, before and after",
                *(_cold_table(rows, dataset) for dataset in _datasets(rows, COLD)),
                _COLD_NOTE,
                "![nDCG@10 on cold-start users, as published and best first](cold_start.png)",
                "### The order of the language models under each policy",
                *(_policy_table(rows, dataset) for dataset in _datasets(rows, ORDER)),
                _POLICY_NOTE,
                "![nDCG@10 of the language models' lists under each policy](policies.png)",
                "### Re-ranked lists against the candidates",
                _reranking_table(where(rows, part=RERANKED)),
                _RERANKING_NOTE,
            ]
        return "\n\n".join(
            [*parts, "### The published numbers", verdict_counts(rows, "task"), *verdict_lines(rows)]
        )

    def figures(self, rows: Sequence[Row]) -> "dict[str, Figure]":
        """Return the cold-start numbers before and after, and the language models under each policy."""
        if not where(rows, part=COLD):
            return {}
        return {"cold_start": plot_cold_start(rows), "policies": plot_policies(rows)}


_COLD_NOTE = (
    "nDCG@10 by the study's definition, 95 % intervals over users. *published*: all lists by rising third "
    "column, a rank in files of language models and a score in those of classic models. *best first*: "
    "classic lists by falling score. Models that share a letter are not shown to differ, among the users "
    "whom all models have a list for. ‡: ours, in that order; the study has this list's number over all "
    "users."
)
_POLICY_NOTE = (
    "nDCG@10 of the top-n lists, 95 % intervals over users with a list; letters as above, for each row. *as "
    "published*: unknown and seen items are dropped, so that later ones move up; repeats hit again. *miss*: "
    "the place counts and hits nothing; what is not named stays as published."
)
_RERANKING_NOTE = (
    "nDCG@10 over the users whom both files have a list for, and the difference with its 95 % interval (of "
    "this pair alone). Candidates are 50 items in random order: popular ones, which the user may have seen, "
    "or those of the nearest users."
)


def reranked_pairs(lists: Sequence[JudgedLists]) -> list[tuple[str, JudgedLists, JudgedLists]]:
    """Return what was re-ranked, the candidates, and the re-ranked lists.

    Popular candidates are the same for all models of a data set, those of neighbours are a model's own.
    """
    made = [each for each in lists if kind(each.lists) == "llm" and each.test.endswith("/test.tsv")]
    candidates = [each for each in made if "no_rerank" in each.lists]
    neighbours = {model(each.lists): each for each in candidates if "exp_3" in each.lists.lower()}
    popular = [each for each in candidates if each not in neighbours.values()][:1]
    reranked = [each for each in made if each not in candidates]
    return [
        *(
            ("popular items", popular[0], each)
            for each in reranked
            if popular and "exp_2" in each.lists.lower()
        ),
        *(
            ("items of neighbours", neighbours[model(each.lists)], each)
            for each in reranked
            if "exp_3" in each.lists.lower() and model(each.lists) in neighbours
        ),
    ]


def _compared(dataset: str, part: str, policy: str, judged: Mapping[str, Evaluation]) -> list[Row]:
    """Return a row per model: its mean over its own users, interval, and letters over users in common."""
    letters = {}
    if len(judged) > 1:
        letters = {row.run: row.letters for row in compare(dict(judged), metrics=[KEY]).result(KEY).rows}
    rows = []
    for name, evaluation in judged.items():
        values = evaluation.per_user(KEY)
        values = values[np.isfinite(values)]
        low, high = normal_interval(values, CONFIDENCE)
        row = _own_row(dataset, name, part, policy, len(values))
        row |= {"ours": _number(values.mean()), "low": _number(low), "high": _number(high)}
        rows.append(row | {"letters": letters.get(name, "")})
    return rows


def _pair(
    dataset: str,
    name: str,
    policy: str,
    candidates: Mapping[str, Evaluation],
    reranked: Mapping[str, Evaluation],
) -> Row:
    """Return the row of a model's re-ranked lists: their nDCG, and how it differs from the candidates'."""
    runs = {"re-ranked": next(iter(reranked.values())), "candidates": next(iter(candidates.values()))}
    result = compare(runs, metrics=[KEY], baseline="candidates").result(KEY)
    pair = result.pair("re-ranked", "candidates")
    row = _own_row(dataset, name, RERANKED, policy, result.n_users)
    row |= {"ours": _number(result.row("re-ranked").mean), "difference": f"{pair.difference:+.6f}"}
    return row | {"difference_low": f"{pair.low:+.6f}", "difference_high": f"{pair.high:+.6f}"}


def _own_row(dataset: str, model: str, part: str, policy: str, n_users: int) -> Row:
    """Return what all rows of the study's own parts have."""
    about = {"dataset": dataset, "model": model, "metric": KEY, "part": part, "policy": policy}
    return about | {"users": str(n_users)}


def _number(value: float) -> str:
    return f"{value:.6f}"


def _datasets(rows: Sequence[Row], part: str) -> list[str]:
    return distinct(where(rows, part=part), "dataset")


def _interval(row: Row) -> str:
    return f"{float(row['low']):.3f} – {float(row['high']):.3f}"


def _ranked(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: -float(row["ours"]))


def published_cold(rows: Sequence[Row], dataset: str) -> dict[str, str]:
    """Return the published cold-start numbers of a data set by model."""
    numbers = {}
    for row in where(rows, dataset=dataset, metric=KEY):
        words = settings_of(row)
        if row["published"] and "exp_4_cold" in words["task"] and words["test"] == "cold.tsv":
            name = f"{dataset}/{words['lists']}"
            if kind(name) == "reversed" or "exp_1" in name.lower():
                numbers[model(name)] = row["published"]
    return numbers


def _cold_table(rows: Sequence[Row], dataset: str) -> str:
    """Return each model's number in the published order and best first, best of these on top."""
    cold = where(rows, part=COLD, dataset=dataset)
    before = {row["model"]: row for row in where(cold, policy="as published")}
    published = published_cold(rows, dataset)
    ranks = {row["model"]: rank for rank, row in enumerate(_ranked([*before.values()]), start=1)}
    lines = []
    for rank, row in enumerate(_ranked(where(cold, policy="best first")), start=1):
        old = before[row["model"]]
        printed = published.get(row["model"])
        lines.append(
            [
                f"**{row['model']}**" if row["model"] in MODELS.values() else row["model"],
                f"{float(printed):.4f}" if printed else f"{float(old['ours']):.4f} ‡",
                _interval(old),
                old["letters"],
                str(ranks[row["model"]]),
                f"{float(row['ours']):.4f}",
                _interval(row),
                row["letters"],
                str(rank),
            ]
        )
    header = ["model", "published", "interval", "letters", "place", "best first"]
    header += ["interval ", "letters ", "place "]
    right = [name for name in header if name.strip() in ("published", "place", "best first")]
    n_users = max(int(row["users"]) for row in cold)
    fewer = {row["model"]: row["users"] for row in cold if int(row["users"]) < n_users}
    users = "".join(f"; {name} has lists for {n}" for name, n in fewer.items())
    title = f"{DATASETS[dataset]}, {n_users} cold-start users{users}:"
    return f"{title}\n\n{markdown_table(lines, header, right=right)}"


def _policy_table(rows: Sequence[Row], dataset: str) -> str:
    """Return one line per policy: each language model's number, interval and letters, and the order."""
    top = where(rows, part=ORDER, dataset=dataset)
    names = [name for name in MODELS.values() if where(top, model=name)]
    lines = []
    for policy in distinct(top, "policy"):
        under = {row["model"]: row for row in where(top, policy=policy)}
        of_models = [
            f"{float(row['ours']):.4f} ({_interval(row)}) {row['letters']}"
            for row in map(under.__getitem__, names)
        ]
        lines.append([policy, *of_models, " > ".join(row["model"] for row in _ranked([*under.values()]))])
    users = ", ".join(f"{row['model']} {row['users']}" for row in where(top, policy=lines[0][0]))
    table = markdown_table(lines, ["policy", *names, "order"])
    return f"{DATASETS[dataset]}, users with a list: {users}:\n\n{table}"


def _reranking_table(rows: Sequence[Row]) -> str:
    lines = []
    for dataset in distinct(rows, "dataset"):
        for name in distinct(where(rows, dataset=dataset), "model"):
            line = [DATASETS[dataset], name]
            for row in where(rows, dataset=dataset, model=name):
                ours, difference = float(row["ours"]), float(row["difference"])
                low, high = float(row["difference_low"]), float(row["difference_high"])
                line += [
                    f"{ours - difference:.4f} → {ours:.4f}",
                    f"{difference:+.4f} ({low:+.3f} – {high:+.3f})",
                ]
            lines.append([*line, row["users"]])
    header = ["data set", "model and candidates", "as published", "difference", MISS, "difference ", "users"]
    return markdown_table(lines, header, right=["users"])


def plot_cold_start(rows: Sequence[Row]) -> "Figure":
    """Return one panel per data set: each model's number as published and best first, with its interval."""
    from recgauge.report.figures.style import GREY, INK, MUTED, PALETTE, new_figure

    datasets = _datasets(rows, COLD)
    with new_figure(None, height=4.4, panels=len(datasets)) as (figure, axes):
        for dataset, panel in zip(datasets, axes, strict=True):
            cold = where(rows, part=COLD, dataset=dataset)
            after = _ranked(where(cold, policy="best first"))
            before = {row["model"]: float(row["ours"]) for row in where(cold, policy="as published")}
            for place, row in enumerate(after):
                name, value = row["model"], float(row["ours"])
                colour = PALETTE[1] if name in MODELS.values() else PALETTE[0]
                panel.plot([before[name], value], [place, place], color=GREY, linewidth=1)
                panel.plot(
                    [float(row["low"]), float(row["high"])], [place, place], color=colour, linewidth=2.5
                )
                panel.plot(
                    before[name], place, "o", markeredgecolor=MUTED, markerfacecolor="white", markersize=7
                )
                panel.plot(value, place, "o", color=colour, markersize=5)
            panel.set_yticks(range(len(after)), [row["model"] for row in after])
            for label in panel.get_yticklabels():
                label.set_color(PALETTE[1] if label.get_text() in MODELS.values() else INK)
            panel.set_ylim(len(after) - 0.5, -0.5)
            panel.set_xlim(0, None)
            panel.set_title(DATASETS[dataset])
            panel.set_xlabel("nDCG@10")
        handles = [
            *axes[0].plot([], [], "o", markeredgecolor=MUTED, markerfacecolor="white", label="as published"),
            *axes[0].plot([], [], "o-", color=PALETTE[0], label="classic model, best first"),
            *axes[0].plot([], [], "o-", color=PALETTE[1], label="language model"),
        ]
        figure.legend(handles=handles, loc="outside upper center", ncols=3)
    return figure


def plot_policies(rows: Sequence[Row]) -> "Figure":
    """Return one panel per data set: the language models' numbers with intervals under each policy."""
    from recgauge.report.figures.style import MARKERS, PALETTE, new_figure

    datasets, names = _datasets(rows, ORDER), [*POLICIES]
    with new_figure(None, height=3.4, panels=len(datasets)) as (figure, axes):
        for dataset, panel in zip(datasets, axes, strict=True):
            for index, name in enumerate(MODELS.values()):
                top = where(rows, part=ORDER, dataset=dataset, model=name)
                values = [float(row["ours"]) for row in top]
                heights = [names.index(row["policy"]) + 0.2 * (index - 1) for row in top]
                errors = [
                    [value - float(row["low"]) for value, row in zip(values, top, strict=True)],
                    [float(row["high"]) - value for value, row in zip(values, top, strict=True)],
                ]
                colour, marker = PALETTE[index], MARKERS[index]
                panel.errorbar(
                    values, heights, xerr=errors, fmt=marker, color=colour, markersize=5, label=name
                )
            panel.set_yticks(range(len(names)), names if panel is axes[0] else [""] * len(names))
            panel.set_ylim(len(names) - 0.5, -0.5)
            panel.set_title(DATASETS[dataset])
            panel.set_xlabel("nDCG@10")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure

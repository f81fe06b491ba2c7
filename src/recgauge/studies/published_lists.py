"""The study of numbers that somebody published beside the lists they were computed from."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from recgauge.evaluation import Evaluation
from recgauge.evaluation.evaluate import evaluate
from recgauge.report import markdown_table
from recgauge.runs.folder import JobOutcome
from recgauge.studies import Row, open_text
from recgauge.studies.published_table import (
    COLUMNS,
    VERDICTS,
    PublishedNumber,
    published_row,
    read_published,
    verdict,
)
from recgauge.studies.repository_files import PUBLISHED, RepositoryFiles, RepositoryStudy

_NOISE = 1e-12  # relative: below, a sum depends on its order
_DIGITS = 12


@dataclass(frozen=True)
class JudgedLists:
    """A file of lists, and the files of training and test rows by which it is judged; all by their names."""

    lists: str
    train: str
    test: str

    @classmethod
    def of(cls, number: PublishedNumber) -> "JudgedLists":
        """Return what a published number was computed from, as its settings say."""
        words = _words(number.settings)
        return cls(*(f"{number.dataset}/{words[name]}" for name in ("lists", "train", "test")))

    @property
    def files(self) -> tuple[str, str, str]:
        """The names of the files."""
        return self.train, self.test, self.lists


@dataclass(frozen=True)
class JudgingRows:
    """Training and test rows by user and item, and the items of the short head if a metric needs them."""

    train: dict[int, dict[int, float]]
    test: dict[int, dict[int, float]]
    head: list[int] | None = None


@dataclass(frozen=True)
class PublishedLists(RepositoryStudy):
    """Judges every published file of lists and compares the published numbers; nothing is trained.

    A row of published.csv names its files in `settings`, as ``lists=...``, ``train=...`` and ``test=...``.
    Rows whose files are missing or altered stay open.
    """

    compressed: ClassVar[bool] = True
    columns: ClassVar[tuple[str, ...]] = (*COLUMNS, "settings")
    conventions: str = field(kw_only=True)  # by which the lists are judged

    def rows(self, runs: Sequence[JobOutcome], source: Path) -> list[Row]:  # noqa: ARG002 - needs none
        """Return one row per published number, in the order of published.csv, then the study's own."""
        numbers = read_published(source / PUBLISHED)
        files = self.files(source)
        of_lists: dict[JudgedLists, list[PublishedNumber]] = {}
        for number in numbers:
            of_lists.setdefault(JudgedLists.of(number), []).append(number)
        rows: dict[PublishedNumber, Row] = {}
        judging: tuple[tuple[str, ...], JudgingRows] | None = None
        for lists in sorted(of_lists, key=lambda lists: lists.files):
            group, evaluation = of_lists[lists], None
            if not (reason := files.reason(lists.files)):
                if judging is None or judging[0] != lists.files[:2]:
                    judging = lists.files[:2], self.judging_rows(lists, files)
                keys = [number.key.rpartition("_at_") for number in group]
                metrics, cutoffs = (list(dict.fromkeys(key[at] for key in keys)) for at in (0, 2))
                evaluation = self.judge(lists, files, judging[1], metrics, sorted(map(int, cutoffs)))
            for number in group:
                rows[number] = _row(number, evaluation, reason)
        own = self.own_rows(list(of_lists), files)
        return [dict.fromkeys(self.columns, "") | row for row in (*map(rows.__getitem__, numbers), *own)]

    def own_rows(self, lists: Sequence[JudgedLists], files: RepositoryFiles) -> list[Row]:  # noqa: ARG002 - contract
        """Return the rows of what the study asks beyond the published numbers; none by default."""
        return []

    def judge(
        self,
        lists: JudgedLists,
        files: RepositoryFiles,
        rows: JudgingRows,
        metrics: Sequence[str],
        cutoffs: Sequence[int],
        **policies: Any,
    ) -> Evaluation:
        """Judge a file of lists by the study's conventions, or with other policies."""
        return evaluate(
            self.read_lists(lists.lists, files.paths[lists.lists]),
            rows.test,
            train=rows.train,
            head=rows.head,
            metrics=metrics,
            cutoffs=cutoffs,
            conventions=self.conventions,
            **policies,
        )

    @abstractmethod
    def read_lists(self, name: str, path: Path) -> dict[int, list[int]]:
        """Return the items of each user in the order in which they were judged."""

    @abstractmethod
    def judging_rows(self, lists: JudgedLists, files: RepositoryFiles) -> JudgingRows:
        """Return the training and test rows by which lists are judged."""


def cells(path: Path, separator: str) -> Iterator[list[str]]:
    """Yield the cells of each line of a text, packed or not."""
    with open_text(path) as file:
        for line in file:
            yield line.rstrip("\r\n").split(separator)


def graded(rows: Iterator[list[str]]) -> dict[int, dict[int, float]]:
    """Return users' items with their grades, of rows of user, item and grade."""
    users: dict[int, dict[int, float]] = {}
    for user, item, grade, *_ in rows:
        users.setdefault(int(user), {})[int(item)] = float(grade)
    return users


def _row(number: PublishedNumber, evaluation: Evaluation | None, reason: str) -> Row:
    """Return the row of a published number, with ours unless there is a reason for none."""
    row = published_row(number) | {"settings": number.settings, "reason": reason}
    if evaluation is None:
        return row
    ours, published = evaluation.values()[number.key], float(number.value)
    difference = ours - published
    if abs(difference) <= _NOISE * max(1.0, abs(published)):
        difference = 0.0
    stated = not number.unknown.strip()
    return row | {
        "ours": f"{ours:.{_DIGITS}g}",
        "difference": f"{difference:+.3g}" if difference else "0",
        "verdict": verdict(ours, published, float(number.tolerance), protocol_stated=stated),
        "runs": "1",
        "definition": evaluation.definitions()[number.key],
    }


def settings_of(row: Row) -> dict[str, str]:
    """Return the settings of a row by name."""
    return _words(row["settings"])


def _words(settings: str) -> dict[str, str]:
    return dict(word.split("=", 1) for word in settings.split())


def verdict_counts(rows: Sequence[Row], *names: str) -> str:
    """Return how often each verdict was given, by data set and what settings of these names say."""
    counts: dict[tuple[str, ...], Counter[str]] = {}
    for row in rows:
        if row["verdict"]:
            words = settings_of(row)
            counts.setdefault((row["dataset"], *(words[name] for name in names)), Counter())[
                row["verdict"]
            ] += 1
    verdicts = [word for word in VERDICTS if any(each[word] for each in counts.values())]
    lines = [
        [*key, f"{each.total():,}", *(f"{each[word]:,}" for word in verdicts)] for key, each in counts.items()
    ]
    header = ["data set", *names, "numbers", *verdicts]
    return markdown_table(lines, header, right=header[1 + len(names) :])

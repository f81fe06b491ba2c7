"""``recgauge data look``: a file's first rows, the role of each column, and the command to copy."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from recgauge.cli.commands.options import say
from recgauge.cli.run_data import read_settings
from recgauge.data.dataset import Dataset
from recgauge.data.interactions import distinct, pair_codes
from recgauge.datasets.table import Table
from recgauge.errors import ConfigError, QuestionError
from recgauge.files.columns import Role
from recgauge.report.blocks import TableBlock
from recgauge.report.console import ConsoleProgress, output, render_terminal
from recgauge.sweeps.compose import build_dataset

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS = 3
_COLUMNS = 30
_LONGEST = 24  # characters of a cell
_MODELS = "model=popularity,item_knn,svd"


def look_at(path: str, overrides: Sequence[str]) -> None:
    """Print the first rows with the role of each column, open questions, and a command."""
    words = [f"dataset.path={path}", *overrides]
    dataset, source, questions = _load(words)
    render_terminal([_columns(source.first_rows(_ROWS), source.labels(), questions)], output())
    for question in questions:
        say(f"question {question}")
    answers = [question.answers[0] for question in questions]
    interactions = dataset.interactions
    if len(distinct(pair_codes(interactions))) < len(interactions) and "duplicates" not in " ".join(answers):
        answers.append("filters=[duplicates]")
    quoted = [shlex.quote(word) for word in words]
    say(f"data     {interactions.counts}")
    say(f"command  recgauge run -m {_MODELS} dataset=table {' '.join([*quoted, *answers])}")


def _load(words: Sequence[str]) -> tuple[Dataset, Table, list[QuestionError]]:
    """Return the table, its source, and the questions that its columns raise, which are left unused."""
    settings = read_settings("table", words)
    source = build_dataset(settings.dataset, settings.allowed_targets)
    if not isinstance(source, Table):
        raise ConfigError("data look: it looks at a table of your own. Leave out dataset._target_.")
    questions: list[QuestionError] = []
    while True:
        try:
            return source.load(ConsoleProgress()), source, questions
        except QuestionError as question:
            questions.append(question)
            source = replace(source, unused=(*source.unused, question.column))


def _columns(rows: "pa.Table", labels: Mapping[Role, str], questions: Sequence[QuestionError]) -> TableBlock:
    """Return each column of a file with its role and its first cells."""
    roles = {label: role for role, label in labels.items()}
    cells = [rows.column(at).to_pylist() for at in range(rows.num_columns)]
    names = rows.column_names
    if any(label.startswith("column ") for label in roles):  # no header
        names = [f"column {name}" for name in names]
    open_columns = {question.column for question in questions}
    table = [
        (name, roles.get(name) or ("?" if name in open_columns else "not used"), _sample(column[:_ROWS]))
        for name, column in zip(names, cells, strict=True)
    ]
    table.sort(key=lambda row: row[1] == "not used")
    more = f"{len(table) - _COLUMNS:,} more columns are not used" if len(table) > _COLUMNS else ""
    header = ("column", "role", "first rows")
    return TableBlock("", header, tuple(table[:_COLUMNS]), words=header[1:], note=more)


def _sample(cells: Sequence[object]) -> str:
    texts = ("" if cell is None else str(cell) for cell in cells)
    return " | ".join(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…" for text in texts)

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
from recgauge.errors import ColumnsError, ConfigError, QuestionError
from recgauge.files.plausible import setting_word
from recgauge.report.blocks import TableBlock
from recgauge.report.console import ConsoleProgress, output, render_terminal
from recgauge.sweeps.compose import build_dataset
from recgauge.utils.messages import print_error

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS = 3
_COLUMNS = 30
_LONGEST = 24  # characters of a cell
_MODELS = "model=popularity,item_knn,svd"


def look_at(path: str, overrides: Sequence[str]) -> int:
    """Print the first rows with the role of each column, open questions, and a command.

    The exit code is 1 where nobody says which columns are the user and the item.
    """
    words = [f"dataset.path={path}", *overrides]
    source = _source(words)
    try:
        dataset, source, questions = _load(source)
    except ColumnsError as error:
        if not error.choices:  # they are chosen; the question is another
            raise
        rows = source.first_rows(_ROWS, header=error.header)
        if not error.header:
            rows = rows.rename_columns([f"column {name}" for name in rows.column_names])
        render_terminal([_columns(rows, {}, rows.column_names)], output())
        _ask(path, overrides, error)
        return 1
    open_columns = [question.column for question in questions]
    roles = {label: str(role) for role, label in source.labels().items()} | dict.fromkeys(
        source.keep, "filter"
    )
    render_terminal([_columns(source.first_rows(_ROWS), roles, open_columns)], output())
    for question in questions:
        say(f"question {question}")
    answers = _answers(questions, has_filters="filters=" in " ".join(words))
    interactions = dataset.interactions
    if len(distinct(pair_codes(interactions))) < len(interactions) and "duplicates" not in " ".join(answers):
        answers.append("'filters=[duplicates]'")
    quoted = [shlex.quote(word) for word in words]
    say(f"data     {interactions.counts}")
    say(f"command  recgauge run -m {_MODELS} dataset=table {' '.join([*quoted, *answers])}")
    return 0


def _ask(path: str, overrides: Sequence[str], error: ColumnsError) -> None:
    """Print which columns must be chosen, as a command with columns that may be the right ones."""
    choices = [setting_word(f"dataset.{role}", column) for role, column in error.choices.items()]
    command = " ".join(["recgauge data look", *map(shlex.quote, [path, *overrides]), *choices])
    positions = "" if error.header else ", counted from 0; or their names if the first row has them"
    general = " ".join(f"dataset.{role}=COLUMN" for role in error.choices)
    say(f"command  {command}")
    print_error(
        f"{path}: which column is the {', which the '.join(error.choices)}? Type {general} with the right "
        f"columns{positions}: {command}"
    )


def _source(words: Sequence[str]) -> Table:
    settings = read_settings("table", words)
    source = build_dataset(settings.dataset, settings.allowed_targets)
    if not isinstance(source, Table):
        raise ConfigError("data look: it looks at a table of your own. Leave out dataset._target_.")
    filters = [node or {} for node in (settings.filters or {}).values()]
    return source.with_attributes([str(node["column"]) for node in filters if node.get("column")])


def _load(source: Table) -> tuple[Dataset, Table, list[QuestionError]]:
    """Return the table, its source, and the questions that its columns raise, which are left unused."""
    questions: list[QuestionError] = []
    while True:
        try:
            return source.load(ConsoleProgress()), source, questions
        except QuestionError as question:
            questions.append(question)
            source = replace(source, unused=(*source.unused, question.column))


def _answers(questions: Sequence[QuestionError], *, has_filters: bool) -> list[str]:
    """Return the first answer to each question; filters are typed once, so only one answer has some."""
    answers: list[str] = []
    for question in questions:
        choices = [answer for answer in question.answers if not (has_filters and "filters=" in answer)]
        answers.append(choices[0])
        has_filters = has_filters or "filters=" in choices[0]
    return answers


def _columns(rows: "pa.Table", roles: Mapping[str, str], open_columns: Sequence[str]) -> TableBlock:
    """Return each column of a file with its role and its first cells; `open_columns` wait for an answer."""
    cells = [rows.column(at).to_pylist() for at in range(rows.num_columns)]
    names = rows.column_names
    if any(label.startswith("column ") for label in roles):  # no header
        names = [f"column {name}" for name in names]
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

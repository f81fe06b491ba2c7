"""``recgauge data look``: a file's first rows, the role of each column, and the command to copy."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from recgauge.cli.commands.options import say
from recgauge.cli.run_data import read_settings
from recgauge.data.dataset import Dataset
from recgauge.data.interactions import distinct, pair_codes
from recgauge.datasets.table import Table
from recgauge.errors import ColumnsError, ConfigError, QuestionError, RecgaugeError, listed, quantity
from recgauge.files.columns import EVENTS, is_label, is_usual, is_value
from recgauge.files.plausible import looks_dated, setting_word, weights_words, where_words
from recgauge.filters import apply_filters
from recgauge.report.blocks import TableBlock
from recgauge.report.console import ConsoleProgress, output, render_terminal
from recgauge.sweeps.compose import build_dataset, compose_plan
from recgauge.utils.checks import shown
from recgauge.utils.messages import print_error
from recgauge.utils.progress import Progress

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS, _SAMPLE = 3, 1_000
_COLUMNS = 30
_LONGEST = 24  # characters of a cell
_MOST_KINDS = 10  # of events
_RATING = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?")
_LARGEST, _MOST_RATINGS, _MOST_GAPS = 100, 20, 3  # of a rating, different ones, and kinds of missing cells
_COUNTS = ("quantity qty count plays playcount menge anzahl stück",)
_DIGITS = 8  # of numbers before the point, above which they are times, not ratings
_Question = QuestionError | ColumnsError
_LIKED = 0.75  # from which part of the range of ratings an item is liked
_ROW_NUMBERS = re.compile(r"|index|Unnamed.*|__index_level_\d+__")  # as pandas writes them
_MODELS = "model=popularity,item_knn,svd"


def look_at(path: str, overrides: Sequence[str]) -> int:
    """Print the first rows with the role of each column, open questions, and a command.

    The exit code is 1 where the table cannot be read as it is said to be.
    """
    words = [f"dataset.path={path}", *overrides]
    typed, source, asked, loaded = _load(words)
    likely = _show(source, asked, loaded)
    questions = [error for error in asked if isinstance(error, QuestionError) and error.column]
    answers = _answers(questions, has_filters="filters=" in " ".join(words))
    if isinstance(loaded, RecgaugeError) or len(questions) < len(asked):
        if likely and isinstance(loaded, Dataset):  # dates may need their form
            typed = [word for word in typed if word in words or word != "dataset.on_bad_rows=skip"]
            typed, _, more, loaded = _load([*typed, *shlex.split(" ".join(likely))])
            asked = [*asked, *(error for error in more if str(error) not in map(str, asked))]
        _ask(path, [*map(shlex.quote, typed[1:]), *answers], asked, loaded)
        return 1
    for question in questions:
        say(f"question {question}")
    say(f"data     {loaded.interactions.counts}")
    plan = compose_plan(read_settings("table", words))
    filtered, steps = apply_filters(loaded, plan.filters, seed=plan.seed)
    if steps:
        say(f"filtered {filtered.interactions.counts}")
    n_repeats = len(filtered.interactions) - len(distinct(pair_codes(filtered.interactions)))
    if n_repeats and "duplicates" not in " ".join(answers):
        rows = quantity(n_repeats, "row")
        policy = ["filters.duplicates.policy=max"] * (source.weights is not None)
        choice, stays = " ".join(["filters=[duplicates]", *policy]), "highest value" if policy else "last one"
        say(f"repeats  {rows} with the user and item of another; {choice} keeps the {stays} of each pair")
        typed_filters = next((word for word in words if word.startswith("filters=")), "filters=[]")
        names = [*filter(None, typed_filters.partition("=")[2].strip("[]").split(",")), "duplicates"]
        words = [word for word in words if word != typed_filters]
        answers += [f"'filters=[{','.join(names)}]'", *policy]
    ratings = np.unique(loaded.interactions.value)
    is_scale = len(ratings) <= _MOST_RATINGS and ratings[0] >= 0  # not of goods, some of which are returned
    if loaded.feedback == "explicit" and loaded.relevant_from is None and is_scale:
        liked = ratings[ratings >= ratings[0] + _LIKED * (ratings[-1] - ratings[0])][0]
        answers.append(f"dataset.relevant_from={liked:g}")
        say(f"liked    ratings from {liked:g}, the upper quarter of their range, unless you say another")
    settings = " ".join([*map(shlex.quote, words), *answers])
    say(f"command  recgauge run -m {_MODELS} dataset=table {settings}{_left_open(answers)}")
    return 0


def _left_open(answers: Sequence[str], others: Sequence[str] = ()) -> str:
    """Return a comment for a shell on what only the user knows: values, and other likely answers."""
    notes = ["instead of VALUE: which rows count"] * any("[VALUE]" in answer for answer in answers)
    notes += [f"as likely: {answer}" for answer in others]
    return f"  # {'; '.join(notes)}" if notes else ""


def _show(source: Table, asked: Sequence[_Question], loaded: Dataset | RecgaugeError) -> list[str]:
    """Print the first rows with the role of each column; return words for likely times and ratings."""
    roles: dict[str, str] = {}
    if isinstance(loaded, Dataset):
        roles = {label: role for role, label in source.labels().items()}
        header = not any(label.startswith("column ") for label in roles)
    else:
        choices = (source.user, source.item, source.rating, source.time)
        header = source.header or (source.header is None and all(type(at) is not int for at in choices))
    try:
        rows = source.first_rows(_SAMPLE, header=header)
    except RecgaugeError as error:
        raise (loaded if isinstance(loaded, RecgaugeError) else error) from None
    roles = {**source.known_roles(rows.column_names, header=header), **roles}  # of events only the first
    prefix = "" if header else "column "
    rows = rows.rename_columns([f"{prefix}{name}" for name in rows.column_names])
    roles = {prefix + name.removeprefix(prefix): role for name, role in roles.items()}
    roles |= dict.fromkeys(source.keep, "filter")
    guessed = [role for error in asked if isinstance(error, ColumnsError) for role in error.choices]
    open_columns = [prefix + error.column for error in asked if isinstance(error, QuestionError)]
    known = {name: role for name, role in roles.items() if role not in guessed}
    render_terminal([_columns(rows, known, rows.column_names if guessed else open_columns)], output())
    unused = [
        name
        for name in rows.column_names
        if name not in {*roles, *open_columns} and not _ROW_NUMBERS.fullmatch(name)
    ]
    is_readable = asked or isinstance(loaded, Dataset)  # else the error says what to do
    return _show_unused(source, rows, roles, unused, prefix) if is_readable else []


def _show_unused(
    source: Table, rows: "pa.Table", roles: Mapping[str, str], unused: Sequence[str], prefix: str
) -> list[str]:
    """Print what unused columns can be; return words for likely times and ratings."""
    usable = {"time": source.time is None, "rating": source.weights is None and source.rating is None}
    likely = list[str]()
    for role, use in (("time", "times"), ("rating", "ratings, if they say how much an item is liked")):
        words_of = {name: choice for name in unused if (choice := _words(role, name, rows, prefix))}
        if usable[role] and role not in roles.values() and words_of:
            words = [*words_of.values()][:3]
            say(f"unused   {listed(words_of, most=3)}: can be {use}: {' or '.join(words)}")
            is_sure = role == "time" or (prefix and _is_scale(rows[next(iter(words_of))].to_pylist()))
            likely += words if is_sure and len(words) == 1 else []
    for name in unused:
        values = _kinds(rows, name, [other for other, role in roles.items() if role in ("user", "item")])
        if values:
            answer = where_words(name.removeprefix(prefix))
            say(f"unused   {name}: holds {listed(map(shown, values))}; if it says which rows count: {answer}")
            if source.weights is None and "rating" not in roles.values():
                weights = weights_words(name.removeprefix(prefix), values)
                say(f"         to weigh the kinds, with a number for each VALUE: {weights}")
    return likely


def _is_scale(cells: Sequence[object]) -> bool:
    """Whether cells have as few and as small numbers as a scale of ratings."""
    texts = [str(cell) for cell in cells if cell not in (None, "")]
    if not all(re.fullmatch(r"[0-9]+([.,][0-9]+)?", text) for text in texts):
        return False
    numbers = {float(text.replace(",", ".")) for text in texts}
    return 3 <= len(numbers) <= 11 and min(numbers) >= 0 and max(numbers) <= 10


def _kinds(rows: "pa.Table", name: str, keys: Sequence[str]) -> list[str]:
    """Return the values of a column of few words that differ among rows of a user, and of an item."""
    cells = [str(cell) for cell in rows[name].to_pylist() if cell not in (None, "")]
    values = sorted(set(cells))
    if not 1 < len(values) <= _MOST_KINDS or len(cells) < len(rows) or any(map(is_value, values)):
        return []
    for key in keys:
        owners = dict.fromkeys(zip(rows[key].to_pylist(), cells, strict=True))
        if len(owners) == len({owner for owner, _ in owners}):
            return []  # of a user or an item, such as a country
    return values


def _words(role: str, name: str, rows: "pa.Table", prefix: str) -> str:
    """Return what takes a column as times, few or fractional small numbers, or counts, else nothing."""
    texts = ["" if cell is None else str(cell).strip() for cell in rows[name].to_pylist()]
    gaps = dict.fromkeys(text for text in texts if not _RATING.fullmatch(text))
    numbers = {float(text.replace(",", ".")) for text in texts if text not in gaps}
    is_few = len(numbers) <= _MOST_RATINGS or any(number % 1 for number in numbers)
    is_count = is_usual(name, _COUNTS) and role == "rating"
    if role == "time":
        fits, gaps = any(texts) and all(map(_is_dated, filter(None, texts))), {}
    else:
        fits = is_count or (is_few and max(numbers, default=inf) <= _LARGEST)
        fits &= (is_count or min(numbers, default=-1) >= 0) and len(gaps) <= _MOST_GAPS
        fits &= sum(text in gaps for text in texts) < len(texts) / 2
    missing = f" {shlex.quote(f'dataset.missing={json.dumps([*gaps], ensure_ascii=False)}')}" if gaps else ""
    word = setting_word(f"dataset.{role}", name.removeprefix(prefix)) + missing
    word += " dataset.feedback=implicit" * is_count
    without_returns = " 'filters=[min_rating]' filters.min_rating.rating=1"
    return word + without_returns * (is_count and min(numbers) < 0) if fits else ""


def _is_dated(text: str) -> bool:
    """Whether a cell looks as a time."""
    return looks_dated(text) or (is_value(text) and len(text.partition(".")[0]) > _DIGITS)


def _ask(path: str, words: Sequence[str], asked: Sequence[_Question], loaded: object) -> None:
    """Print all questions in one message, with a command that answers them, perhaps rightly."""
    if isinstance(loaded, RecgaugeError) and not asked:
        raise loaded
    texts, guesses = [], [error for error in asked if isinstance(error, ColumnsError)]
    for error in guesses:
        positions = "" if error.header else ", counted from 0; or their names if the first row has them"
        general = " ".join(f"dataset.{role}=COLUMN" for role in error.choices)
        which = ", which the ".join(error.choices)
        texts.append(
            f"{path}: which column is the {which}? Type {general} with the right columns{positions}."
        )
    texts += [str(error) for error in asked if error not in guesses]
    if isinstance(loaded, RecgaugeError) and not guesses:  # else a guess may be to blame
        texts.append(str(loaded))
    several = [each for each in asked if isinstance(each, QuestionError) and not each.column]
    others = [answer for question in several for answer in question.answers[1:]]
    command = " ".join(["recgauge data look", shlex.quote(path), *words]) + _left_open(words, others)
    say(f"command  {command}")
    print_error("\n".join([*texts, f"Type this, with your answers where others are right: {command}"]))


def _source(words: Sequence[str]) -> Table:
    settings = read_settings("table", words)
    source = build_dataset(settings.dataset, settings.allowed_targets)
    if not isinstance(source, Table):
        raise ConfigError("data look: it looks at a table of your own. Leave out dataset._target_.")
    filters = [node or {} for node in (settings.filters or {}).values()]
    return source.with_attributes([str(node["column"]) for node in filters if node.get("column")])


def _load(words: Sequence[str]) -> tuple[list[str], Table, list[_Question], Dataset | RecgaugeError]:
    """Return words with answers to what the table asks, its source, the questions, and its rows or an error.

    Columns that are asked about stay unused; what else is asked gets its first answer.
    """
    typed, asked, unused, answered = [*words], list[_Question](), list[str](), set[str]()
    while True:
        source = _source(typed)
        source = replace(source, unused=(*source.unused, *unused))
        try:
            return typed, source, asked, source.load(Progress() if answered else ConsoleProgress())
        except (QuestionError, ColumnsError) as error:
            if isinstance(error, ColumnsError):
                choices = _choices(source, error).items()
                answer = [setting_word(f"dataset.{role}", column) for role, column in choices]
            else:
                answer = [] if error.column else [error.answers[0]]
                unused += [error.column] * bool(error.column)
            names = {word.strip("'").partition("=")[0] for word in answer}
            if names & answered or (isinstance(error, ColumnsError) and not names):
                return typed, source, asked, error
            asked.append(error)
            answered |= names
            typed = [word for word in typed if word.partition("=")[0] not in names]
            typed += shlex.split(" ".join(answer))
        except RecgaugeError as error:
            return typed, source, asked, error


def _choices(source: Table, error: ColumnsError) -> dict[str, str]:
    """Return columns that may have the roles; those of dates are neither users nor items.

    Columns of few values come late, and those whose values all differ: a user or item of one row each.
    """
    rows = source.first_rows(_SAMPLE, header=error.header)
    known = source.known_roles(rows.column_names, header=error.header)
    dated = [name for name in rows.column_names if all(map(looks_dated, map(str, rows[name].to_pylist())))]
    left = [name for name in rows.column_names if name not in {*known, *dated}]
    few = min(len(rows) / _MOST_KINDS, _MOST_KINDS)  # users and items are more, in many rows
    n_values = {name: len(rows[name].unique()) for name in left}
    left.sort(key=lambda name: is_label(name) or is_usual(name, EVENTS) or n_values[name] < few)
    left.sort(key=lambda name: n_values[name] == len(rows) > _MOST_KINDS)
    return dict(zip(error.choices, left, strict=False)) if len(left) >= len(error.choices) else error.choices


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
    cells = [rows.column(at).slice(0, _ROWS).to_pylist() for at in range(rows.num_columns)]
    table = [
        (name, roles.get(name) or ("?" if name in open_columns else "not used"), _first_cells(column))
        for name, column in zip(rows.column_names, cells, strict=True)
    ]
    table.sort(key=lambda row: row[1] == "not used")
    more = f"and {quantity(len(table) - _COLUMNS, 'more column')}" if len(table) > _COLUMNS else ""
    header = ("column", "role", "first rows")
    return TableBlock("", header, tuple(table[:_COLUMNS]), words=header[1:], note=more)


def _first_cells(cells: Sequence[object]) -> str:
    texts = ("" if cell is None else str(cell) for cell in cells)
    return " | ".join(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…" for text in texts)

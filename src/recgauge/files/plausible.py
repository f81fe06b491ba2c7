"""Contents that are hardly what was meant: they are refused with what to type, unless the user says so."""

import json
import re
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa

from recgauge.errors import QuestionError, SchemaError, listed
from recgauge.files.cells import is_yyyymmdd, numbers_of
from recgauge.files.columns import TRUTHS, Role, Roles, are_flags, are_kinds, bare, is_date
from recgauge.files.ids import Ids
from recgauge.files.rows import Rows, rewriting
from recgauge.files.stored import StoredTable, plain_type
from recgauge.utils.arrow import to_arrow
from recgauge.utils.checks import LongArray, shown

_NOBODY = re.compile(
    r"[<(\[#]?(na|n/a|nan|nat|null|none|nil|unknown|undefined|missing|not set|anonymous|guest|\?|-)[>)\]!]?"
    r"|\\n",
    re.IGNORECASE,
)
_ZERO = re.compile(r"-1|-?0+(\.0+)?|0{8}-0{4}-0{4}-0{4}-0{12}")
_DATE = re.compile(
    r"[0-3]?[0-9][./-][0-3]?[0-9][./-]([0-9]{4}|[0-9]{2})([ T].*)?|[0-9]{4}[./][01]?[0-9][./][0-3]?[0-9].*"
    r"|(19|20)[0-9]{2}-[01][0-9]"
)
_ROUNDED = re.compile(r"[0-9][.,][0-9]+[eE]\+[0-9]{2}")  # 9.78004E+12, as Excel writes them
_OBJECT = re.compile(r"\{\s*[\"'].*:.*\}", re.DOTALL)  # of JSON or of Python, as text
_PART = re.compile("split|fold|partition", re.IGNORECASE)
_SHARE, _TIMES, _FEW = 0.01, 10, 20  # of rows, of the rows of the next, rows that prove nothing
_SAMPLE = 1_000  # ids that tell whether all are dates
_YEAR = 365 * 86_400
_NOT = ("0", "0.0", "-1", "-1.0", "false", "f", "no", "n")  # values of rows that do not count
_OF_YAML = ("null", "nan", "inf", "true", "false")  # what Hydra takes for no text
_COUNTERS, _LAST_YEAR = 1_900, 2_100  # seconds: years, days of Excel and dates as whole numbers are above
_EARLY = 5_000_000  # what seconds of this century become where they are read as milliseconds
_MOST_VALUES = 1_000
_SHOWN = 5
_FIRST = np.zeros(1, np.int64)  # the first row


def check_plausible(rows: Rows, roles: Roles) -> None:
    """Refuse ids that are dates or nobody's, times that are all in 1970, and ratings that are times."""
    if roles.cells.implausible == "keep" or not len(rows.lines):
        return
    pair: tuple[tuple[Role, Ids], ...] = (("user", rows.user), ("item", rows.item))
    for role, ids in pair:
        if len(ids.codes):
            _check_ids(rows, role, ids, roles)
    rating = rows.numbers.get("rating")
    if rating is not None and float(rating.min()) > 1e8:
        raise _refusal(rows, roles, "rating", _FIRST, "all ratings are above 100,000,000, as times are")
    if rows.time is not None and roles.cells.time_unit is None:
        _check_times(rows, rows.time, roles)


def _check_ids(rows: Rows, role: Role, ids: Ids, roles: Roles) -> None:
    counts = np.bincount(ids.codes, minlength=len(ids.distinct))
    used = np.flatnonzero(counts)
    texts = [str(cell) for cell in ids.distinct[used[:_SAMPLE]].tolist()]
    if all(map(looks_dated, texts)):
        raise _refusal(rows, roles, role, _FIRST, f"the ids of the column for the {role} are dates")
    name = rows.labels.get(role, role)  # lists in cells have a column of lists instead
    if all(map(_OBJECT.fullmatch, texts)):
        words = f"Take one field of each, such as: jq -c '.{name} |= .id' FILE > NEW"
        raise _refusal(rows, roles, role, _FIRST, f"the ids of the column for the {role} are objects", words)
    cells = [cell.strip() for text in texts for cell in re.split("[,;|]", text)]
    if role == "item" and len(cells) > 2 * max(len(texts), len({*cells})):
        sign, label = max(",;|", key="".join(texts).count), json.dumps(name, ensure_ascii=False)
        words = rewriting(rows, f't[{label}] = t[{label}].str.split("{sign}"); t = t.explode({label})')
        words = f"Write a row for each item{words and f', as this does: {words}'}"
        raise _refusal(rows, roles, role, _FIRST, "the items are lists", words)
    if floats := [at for at, text in enumerate(texts) if _ROUNDED.fullmatch(text)]:
        reason = f"the {role} {shown(texts[floats[0]])} is a long number that a program rounded"
        words = "Write the file again with these ids as text"
        raise _refusal(rows, roles, role, np.flatnonzero(ids.codes == used[floats[0]]), reason, words)
    n_rows, top = len(ids.codes), used[np.argsort(counts[used])[-100:]][::-1]
    text_of = {int(code): str(ids.distinct[code]).strip() for code in top}
    many = [code for code in text_of if counts[code] > max(_SHARE * n_rows, 1)]
    nobody = [code for code in many if _NOBODY.fullmatch(text_of[code])]
    following = counts[top[1]] if len(top) > 1 else n_rows
    if counts[top[0]] >= max(_TIMES * following, _FEW) and _ZERO.fullmatch(text_of[top[0]]):
        nobody.append(top[0])
    if role == "item" and roles.of_lists and len(used) > 1:
        nobody += _padding(ids, used)
    if nobody:
        text, count = str(ids.distinct[nobody[0]]).strip(), int(counts[nobody[0]])
        stands_for = "nobody" if role == "user" else "no item"
        share = f"{count:,} of {n_rows:,} rows ({count / n_rows:.0%})"
        reason = f"the {role} {shown(text)} has {share}, and may stand for {stands_for}"
        words = f"To leave these rows out: {listing(roles, 'missing', text)}"
        raise _refusal(rows, roles, role, np.flatnonzero(ids.codes == nobody[0]), reason, words)


def _padding(ids: Ids, used: LongArray) -> list[Any]:
    """Return the code of an item -1, which fills lists up, unless whole numbers have other negative ones."""
    texts = ids.distinct[used].astype(str)
    others = ids.whole and np.count_nonzero(np.char.startswith(texts, "-")) > 1
    return [] if others else list(used[texts == "-1"])


def looks_dated(text: str) -> bool:
    """Whether text is a date in one of the usual forms.

    Examples
    --------
    >>> [looks_dated(text) for text in ("2025-03-01", "1.3.2025", "03/01/25", "20250301", "1425", "1,5")]
    [True, True, True, True, False, False]
    """
    if text.isdecimal():
        return len(text) == 8 and bool(is_yyyymmdd(np.array([int(text)]))[0])
    return is_date(text) or bool(_DATE.fullmatch(text.strip()))


def _check_times(rows: Rows, time: LongArray, roles: Roles) -> None:
    if rows.time_unit in ("ms", "us", "ns"):
        early = np.flatnonzero((time < _EARLY) & (time > 0))
        if len(early) and time.max() > _YEAR:
            reason = f"some times count {rows.time_unit}, and others seem to count s"
            raise _refusal(rows, roles, "time", early, reason, "Write all in one unit")
    zeros = np.flatnonzero(time == 0)
    if len(zeros) > max(1, _SHARE * len(time)) and np.median(time) > 10 * _YEAR:
        reason = f"{len(zeros):,} of {len(time):,} times are 0, the beginning of 1970, and may stand for none"
        words = f"Leave these rows out of the file, or all times: {roles.option.format('time', 'false')}"
        raise _refusal(rows, roles, "time", zeros, reason, words)
    if time.min() >= _COUNTERS and time.max() <= _LAST_YEAR and rows.time_unit == "s":
        years = shlex.quote(roles.setting.format("time_format", '"%Y"'))
        error = _refusal(rows, roles, "time", _FIRST, "all times may be years", f"Read them so: {years}")
        raise QuestionError(str(error), answers=[years]) if years.startswith("'dataset.") else error
    if _COUNTERS <= time.max() < _YEAR:  # smaller ones number the rows
        unit, form = roles.setting.format("time_unit", "s"), roles.setting.format("time_format", '"%d%m%Y"')
        words = (
            f"Whole numbers that are dates: {form}; days of Excel, hours or minutes: write dates; no times: "
            f"{roles.option.format('time', 'false')}; if they do count from any moment: {unit}"
        )
        reason = f"all times are in 1970, read in {rows.time_unit}"
        raise _refusal(rows, roles, "time", _FIRST, reason, words)


def _refusal(
    rows: Rows, roles: Roles, role: Role, positions: LongArray, reason: str, words: str = ""
) -> SchemaError:
    first = ", ".join(f"{rows.unit} {rows.lines[row]}: {_row(rows, int(row))}" for row in positions[:3])
    words = words or f"Choose other columns ({roles.option.format(role, 'COLUMN')})"
    keep = roles.setting.format("implausible", "keep") if roles.setting else 'keep=["implausible"]'
    label = rows.labels.get(role, role)
    column = label if label.startswith("column ") else f"the column {label}"
    return SchemaError(f"{rows.file}: {reason}, in {column} ({first}). {words}. If it is meant: {keep}.")


def _row(rows: Rows, at: int) -> str:
    cells: list[Any] = [ids.distinct[ids.codes[at]] for ids in (rows.user, rows.item) if len(ids.codes)]
    cells += [f"{values[at]:g}" for values in rows.numbers.values()]
    if rows.time is not None:
        cells.append(f"{datetime.fromtimestamp(int(rows.time[at]), UTC):%Y-%m-%d}")
    return " ".join(map(str, cells))


def check_unused(rows: Rows | StoredTable, roles: Roles) -> None:
    """Ask what columns in no role are for that may say which rows count, or how much."""
    columns = rows.further if isinstance(rows, Rows) else rows.label_values()
    for name, column in columns.items():
        if bare(name) not in roles.cells.keep and (texts := _values(name, column, roles)):
            raise _question(rows, name, texts, roles)


def _values(name: str, column: pa.ChunkedArray, roles: Roles) -> list[str]:
    """Return the values of a column that may say which rows count, or how much; none of other columns."""
    import pyarrow.compute as pc

    if pa.types.is_nested(column.type):
        return []
    values = column.cast(plain_type(column.type)).unique()
    values = values.filter(pc.is_valid(values))
    first = [str(value) for value in values.slice(0, _MOST_VALUES).to_pylist()]
    texts = [text for text in first if text.strip()]
    has_empty = len(texts) < len(first) or column.null_count > 0
    if len(texts) + has_empty < 2:  # one value says nothing
        return []
    is_index = bare(name).lower() in ("", "index") or name.startswith("Unnamed")  # as pandas writes them
    row_numbers = len(values) == len(column) and (is_index or len(column) > _FEW)
    numbers = numbers_of(values, roles.cells)
    zeros = np.isfinite(numbers).all() and ((numbers == 0).any() or {*numbers.tolist()} == {-1.0, 1.0})
    flags = not row_numbers and (zeros or all(text.lower() in TRUTHS for text in texts))
    marks = has_empty and len(texts) == 1 and are_flags(texts)
    return texts if flags or marks or are_kinds(texts) or roles.is_label(bare(name)) else []


def _question(rows: Rows | StoredTable, name: str, texts: list[str], roles: Roles) -> QuestionError:
    label, of_data = bare(name), roles.setting.startswith("dataset.")
    values = listed(map(shown, sorted(texts)), most=5) + " or nothing" * (len(texts) == 1)
    counting = [text for text in sorted(texts) if text.lower() not in _NOT]
    words_for: dict[str, str] = {}
    is_number = all(re.fullmatch(r"[+-]?[0-9.]+", text) for text in texts)
    is_part = of_data and roles.is_label(label) and bool(_PART.search(label))
    is_count = is_part or (is_number and len(texts) > 2 and not roles.is_label(label))
    if is_part:
        parts = f"{listing(roles, 'unused', label)} split=published split.test=FILE"
        words_for["to keep its parts, with the test rows also in a file of their own"] = parts
        words_for["to keep some of the rows"] = where_words(label)
    if of_data and not is_count:
        if len(texts) > 1 and len(counting) in (0, len(texts)):  # only the user knows which
            elements = "VALUE"
        else:
            elements = ",".join(map(_element, (counting or texts)[:_SHOWN]))
        words_for["to keep the rows that count"] = where_words(label, elements)
    if of_data and not (is_part or is_number) and len(texts) > 1 and "rating" not in rows.labels:
        words_for["to weigh the kinds, with a number for each VALUE"] = weights_words(label, sorted(texts))
    if is_number and not is_part and "rating" not in rows.labels and "rating" in roles.names and roles.option:
        # every row of a rating is one of training, and without a threshold counts in the test rows
        least = f" dataset.relevant_from={min(counting, key=float)}" if of_data and counting else ""
        words_for["as a rating or grade"] = choice(roles, "rating", label) + least
    if "tag" in roles.names and roles.option:
        each = f"evaluate(rows.drop(columns={label!r}), truth) for run, rows in frame.groupby({label!r})"
        words = choice(roles, "tag", label) if roles.setting else f"{{run: {each}}}"
        words_for["as the name of the run, one run for each value"] = words
    uses = "; ".join(f"{use}: {words}" for use, words in words_for.items())
    remedy = f"Say what it is: {uses}" if uses else "Leave out the rows that do not count"
    unused = listing(roles, "unused", label)
    subject = rows.file if isinstance(rows, Rows) else rows
    return QuestionError(
        f"{subject}: the column {shown(label)} is not used, and may say which rows count: it holds {values}. "
        f"{remedy}; to leave the column unused: {unused}.",
        label,
        # a column of several numbers is rather a size or a count than a mark; parts are split anew
        [unused, *words_for.values()] if is_count else [*words_for.values(), unused],
    )


def listing(roles: Roles, name: str, text: str) -> str:
    """Return what to type to name a cell or column: words after an option, a list of Hydra's, or Python."""
    if not roles.setting:
        return f"frame.drop(columns=[{text!r}])" if name == "unused" else "drop them from the frame"
    if roles.setting.startswith("--"):
        return f"--{name}={text}" if text.startswith("-") else f"--{name} {shlex.quote(text)}"
    return shlex.quote(roles.setting.format(name, f"[{_element(text)}]"))


def choice(roles: Roles, role: Role, label: str) -> str:
    """Return what to type to choose a column."""
    if roles.option.startswith("--"):
        return roles.option.format(role, shlex.quote(label))
    if not roles.setting:  # in Python
        return roles.option.format(role, label)
    return shlex.quote(roles.option.format(role, _element(label)))


def _element(text: str) -> str:
    """Return a text as an element of a list of Hydra's, which stays this text."""
    if re.fullmatch(r"-?(0|[1-9][0-9]*)|[A-Za-z]\w*", text, re.ASCII) and text.lower() not in _OF_YAML:
        return text
    return '"' + text.replace('"', '\\"') + '"'


def where_words(label: str, elements: str = "VALUE") -> str:
    """Return what to type to keep the rows with some values of a column, each pair of user and item once."""
    values = shlex.quote(f"filters.where.values=[{elements}]")
    return f"'filters=[where,duplicates]' {setting_word('filters.where.column', label)} {values}"


def weights_words(label: str, kinds: Sequence[str]) -> str:
    """Return what to type to weigh the kinds of events that a column has."""
    weights = ", ".join(f"{kind}: VALUE" for kind in kinds)
    return f"{setting_word('dataset.event', label)} {shlex.quote(f'dataset.weights={{{weights}}}')}"


def setting_word(name: str, text: str) -> str:
    """Return a setting whose value is a text, as Hydra and a shell take it.

    Examples
    --------
    >>> print(setting_word("dataset.user", "who"), setting_word("dataset.item", "article no."))
    dataset.user=who 'dataset.item="article no."'
    """
    return shlex.quote(f"{name}={_element(text)}")


def spans(rating: Any, time: LongArray | None) -> str:
    """Return the range of ratings, with how many different ones there are, and the first and last time."""
    import pyarrow.compute as pc

    texts = []
    if rating is not None and len(rating):
        n = pc.count_distinct(to_arrow(np.asarray(rating))).as_py()
        texts.append(f"ratings from {rating.min():g} to {rating.max():g} ({n:,} different)")
    if time is not None and len(time):
        first, last = (datetime.fromtimestamp(int(moment), UTC) for moment in (time.min(), time.max()))
        texts.append(f"times from {first:%Y-%m-%d} to {last:%Y-%m-%d}")
    return ", ".join(texts)

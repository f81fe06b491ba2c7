"""The whole edge: any table that somebody may write is judged as it was meant, or refused."""

import bz2
import csv
import gzip
import io
import json
import lzma
import math
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from recgauge import evaluate
from recgauge.cli.commands.cli import main
from recgauge.errors import RecgaugeError

pytestmark = pytest.mark.slow

PLAIN_IDS = st.integers(1, 500).map(str)
WORDS = st.text("abcdefgh", min_size=1, max_size=5)
TRICKY = """
NA null None nan 007 7 7.0 1e1 10 0 -1 true a,b a;b a|b x::y it's 'q' [1] {x} =1+1 #1 ABC abc \\N - inf 0x1f
+1 1_000 50% np.int64(3) 1,5 2020-01-02 12345678901234567890123 9007199254740993 9007199254740992
"""
SIGNS = ["\u00e9", "e\u0301", "\u4eba", "A\u00a0B", "a b", 'say "so"', "http://a.b/c?d=e&f"]
ODD_IDS = st.sampled_from([*TRICKY.split(), *SIGNS])
USERS = ["user", "userId", "user_id", "User ID", "customer_id", "uid"]
ITEMS = ["item", "itemId", "item_id", "movieId", "product_id", "iid"]
GRADES = ["grade", "rating", "relevance", "stars"]
SCALES = {
    "1 to 5": [1, 2, 3, 4, 5],
    "0 and 1": [0, 1],
    "shares": [0.1, 0.3, 0.5, 0.7, 0.9, 1.0],
    "half stars": [0.5, 1.5, 2.5, 4.5],
    "around 0": [-2.0, -0.5, 0.0, 0.7, 2.0],
}
TOLD = {"price": ["9.99", "12.50", "3.20"], "title": ["Alien", "Heat", "Up"], "age": ["31", "44", "27"]}
QUESTIONS = {"label": ["0", "1"], "clicked": ["0", "1"], "event_type": ["view", "cart"], "model": ["A", "B"]}
FORMS = ["csv", "csv", "csv", "jsonl", "parquet", "trec", "cells", "jsonlists", "parts", "frame", "arrow"]
PACK = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@dataclass(frozen=True)
class Meaning:
    """What the writer of the tables means."""

    lists: dict[str, list[str]]
    truth: dict[str, dict[str, float]]
    threshold: float | None
    is_graded: bool
    is_plain: bool  # nothing in it that a careful reader could ask about


@dataclass(frozen=True)
class Style:
    """How it is written."""

    form: str
    packing: str
    separator: str
    encoding: str
    users: tuple[str, str]
    items: tuple[str, str]
    grade: str
    by: str  # rank, score, or both
    is_turned: bool
    shuffled: int
    told: str
    question: str


@st.composite
def meanings(draw):
    is_odd, is_graded = draw(st.booleans()), draw(st.booleans())
    ids = draw(st.sampled_from([PLAIN_IDS, WORDS]))
    pool = st.one_of(ids, ODD_IDS) if is_odd else ids
    users = draw(st.lists(pool, min_size=2, max_size=6, unique=True))
    items = draw(st.lists(pool, min_size=3, max_size=8, unique=True))
    scale = st.sampled_from(SCALES[draw(st.sampled_from(sorted(SCALES)))])
    lists, truth = {}, {}
    for user in users:
        if draw(st.integers(0, 9)):
            lists[user] = draw(st.lists(st.sampled_from(items), min_size=1, max_size=5, unique=True))
        if draw(st.integers(0, 9)):
            relevant = draw(st.lists(st.sampled_from(items), min_size=1, max_size=4, unique=True))
            truth[user] = {item: float(draw(scale)) if is_graded else 1.0 for item in relevant}
    lists, truth = lists or {users[0]: items[:2]}, truth or {users[0]: {items[0]: 1.0}}
    return Meaning(lists, truth, draw(scale) if is_graded else None, is_graded, not is_odd)


STYLES = st.builds(
    Style,
    form=st.sampled_from(FORMS),
    packing=st.sampled_from(["", *PACK]),
    separator=st.sampled_from([",", ";", "\t", "|", "::"]),
    encoding=st.sampled_from(["utf-8", "utf-8", "utf-8-sig"]),
    users=st.tuples(st.sampled_from(USERS), st.sampled_from(USERS)),
    items=st.tuples(st.sampled_from(ITEMS), st.sampled_from(ITEMS)),
    grade=st.sampled_from(GRADES),
    by=st.sampled_from(["rank", "score", "both"]),
    is_turned=st.booleans(),
    shuffled=st.integers(0, 5),
    told=st.sampled_from(["", *TOLD]),
    question=st.sampled_from(["", "", "", "", *QUESTIONS]),
)


def expected(meaning):
    """Return recall@2, precision@2 and mrr@2 in plain Python, None without anybody."""
    sums, n_users = [0.0, 0.0, 0.0], 0
    low = meaning.threshold
    for user, grades in meaning.truth.items():
        # a grade of 0 is relevant only from a grade below 0 on
        lowest = -math.inf if low is None else low if low < 0 else max(low, 1e-300)
        relevant = {item for item, grade in grades.items() if grade >= lowest}
        if not relevant:
            continue
        n_users += 1
        hits = [item in relevant for item in meaning.lists.get(user, [])[:2]]
        first = 1 / (hits.index(True) + 1) if True in hits else 0.0
        for at, value in enumerate((sum(hits) / len(relevant), sum(hits) / 2, first)):
            sums[at] += value
    return [value / n_users for value in sums] if n_users else None


def in_style(rows, style):
    """Return rows with columns that nobody needs, turned and shuffled."""
    columns = {style.told: TOLD.get(style.told), style.question: QUESTIONS.get(style.question)}
    for name, values in columns.items():
        if values:
            rows = [{**row, name: values[at % len(values)]} for at, row in enumerate(rows)]
    if style.is_turned:
        rows = [dict(reversed(row.items())) for row in rows]
    at = style.shuffled % len(rows)
    return rows[at:] + rows[:at]


def list_rows(meaning, style):
    rows = []
    for user, items in meaning.lists.items():
        for rank, item in enumerate(items, 1):
            row = {style.users[0]: user, style.items[0]: item, "rank": rank, "score": 10.5 - rank}
            unwritten = {"rank": "score", "score": "rank"}.get(style.by)
            rows.append({name: cell for name, cell in row.items() if name != unwritten})
    return in_style(rows, style)


def truth_rows(meaning, style):
    rows = [
        {style.users[1]: user, style.items[1]: item} | ({style.grade: grade} if meaning.is_graded else {})
        for user, grades in meaning.truth.items()
        for item, grade in grades.items()
    ]
    is_grade = style.question == "label" and not meaning.is_graded  # by its name, where there is no other
    return in_style(rows, replace(style, question="") if is_grade else style)


def write_rows(folder, stem, rows, style):
    """Write rows as the style says and return the file."""
    form = {"parts": "parquet"}.get(style.form, style.form)
    if form == "parquet":
        path = folder / f"{stem}.{form}"
        parquet.write_table(pa.Table.from_pylist(rows), path)
        return path
    if form in ("jsonl", "jsonlists"):
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        return packed(folder / f"{stem}.jsonl", lines, style)
    text, sign = io.StringIO(), style.separator if len(style.separator) == 1 else "\x1f"
    writer = csv.writer(text, delimiter=sign, lineterminator="\n")
    writer.writerow(rows[0])
    writer.writerows(row.values() for row in rows)
    return packed(folder / f"{stem}.csv", text.getvalue().replace(sign, style.separator), style)


def packed(path, text, style):
    path = path.with_name(path.name + style.packing)
    path.write_bytes(PACK[style.packing](text.encode(style.encoding)))
    return path


def write_lists(folder, meaning, style):
    if style.form == "trec":
        rows = ((user, item, at) for user, items in meaning.lists.items() for at, item in enumerate(items, 1))
        lines = "".join(f"{user} Q0 {item} {rank} {9.5 - rank} t\n" for user, item, rank in rows)
        return packed(folder / "lists.run", lines, style)
    if style.form in ("cells", "jsonlists"):
        write = (lambda items: json.dumps(items, ensure_ascii=False)) if style.is_turned else str
        write = write if style.form == "cells" else list
        rows = [{style.users[0]: user, "items": write(items)} for user, items in meaning.lists.items()]
        return write_rows(folder, "lists", rows, style)
    return write_rows(folder, "lists", list_rows(meaning, style), style)


def by_command(folder, meaning, style):
    """Return the values that the command writes, None where it refuses."""
    lists = write_lists(folder, meaning, style)
    truth = write_rows(folder, "truth", truth_rows(meaning, style), style)
    out = folder / "o.json"
    words = ["--run", lists, "--truth", truth, "--metrics", "recall@2,precision@2,mrr@2", "--out", out]
    words += [] if meaning.threshold is None else [f"--relevant-from={meaning.threshold}"]
    words += ["--work", folder / "work"] if style.form == "parts" else []
    if main(["evaluate", *map(str, words)]):
        return None
    (run,) = json.loads(out.read_text())["runs"].values()
    return [run["values"][f"{name}_at_2"] for name in ("recall", "precision", "mrr")]


def by_python(meaning, style):
    """Return the values of the function for the same rows as frames, None where it refuses."""
    table = pd.DataFrame if style.form == "frame" else pa.Table.from_pylist
    lists, truth = table(list_rows(meaning, style)), table(truth_rows(meaning, style))
    metrics, low = ("recall", "precision", "mrr"), meaning.threshold
    try:
        result = evaluate(lists, truth, metrics=metrics, cutoffs=(2,), relevant_from=low).values()
    except RecgaugeError:
        return None
    return [result[f"{name}_at_2"] for name in metrics]


@settings(max_examples=3_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(meaning=meanings(), style=STYLES)
def test_any_table_is_judged_as_it_was_meant_or_refused(meaning, style):
    with TemporaryDirectory() as folder:
        judge(meaning, style, Path(folder))


def judge(meaning, style, folder):
    is_frame, plain = style.form in ("frame", "arrow"), expected(meaning)
    ours = by_python(meaning, style) if is_frame else by_command(folder, meaning, style)
    event(f"{style.form}: {'refused' if ours is None else 'judged'}")
    if ours is not None:
        assert plain is not None
        assert all(map(math.isclose, ours, plain)), (ours, plain)
    elif meaning.is_plain and not style.question and plain is not None and has_met(meaning):
        raise AssertionError("tables that leave no question are refused")


def has_met(meaning):
    """Whether lists and truth clearly speak of the same users and items."""
    listed = {item for items in meaning.lists.values() for item in items}
    judged = {item for grades in meaning.truth.values() for item in grades}
    return bool(listed & judged) and bool(meaning.lists.keys() & meaning.truth.keys())

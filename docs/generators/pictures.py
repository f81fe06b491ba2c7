"""docs/images/*.svg: how tables and lists are read, what splits and searches do to rows, what letters say."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.data.split import Split
from recgauge.evaluation.evaluate import evaluate
from recgauge.splits import Splitter
from recgauge.splits.by_date import RollingWindow, TemporalDate
from recgauge.splits.folds import KFold, KFoldUsers, StrongGeneralisation
from recgauge.splits.next_item import NextItem
from recgauge.splits.shares import (
    LeaveLastOut,
    LeaveRandomOut,
    RandomPerUser,
    RandomRows,
    TemporalFraction,
    TemporalPerUser,
)

PAGE = Path(__file__).parents[1] / "data.md"
COLOURS = {
    "train": "#9bb7d4",
    "fold-in": "#c8b6e2",
    "validation": "#f2c14e",
    "test": "#f29ba5",
    "unused": "#dddddd",
}
_HIT = "#8fc79a"
_DAY = 86_400
_TIMES = {  # days of the rows of each user
    "u1": [0, 2, 3, 5, 9, 11, 14],
    "u2": [1, 4, 6, 7, 8, 12, 17, 19],
    "u3": [2, 6, 10, 13, 16, 18],
    "u4": [0, 1, 3, 5, 6, 8],
    "u5": [7, 10, 12, 15, 19],
}
_SPLITS: Mapping[str, Splitter] = {
    "random": RandomRows(test_size=0.2, validation_size=0.1),
    "random_per_user": RandomPerUser(test_size=0.2, validation_size=0.2),
    "leave_one_out": LeaveRandomOut(),
    "leave_one_out_last": LeaveLastOut(n_validation=1),
    "last_n": LeaveLastOut(n=2, n_validation=1),
    "k_fold, surprise_k_fold": KFold(n_splits=5),
    "temporal_fraction": TemporalFraction(test_size=0.2, validation_size=0.1),
    "temporal_date": TemporalDate(test_from="1970-01-13", cold_users="keep"),
    "next_item": NextItem(date="1970-01-12"),
    "temporal_per_user": TemporalPerUser(test_size=0.2, validation_size=0.2),
    "rolling_window": RollingWindow(n_windows=3, window=1, test_days=4, cold_users="keep"),
    "strong_generalisation": StrongGeneralisation(n_test=1, hidden=0.5),
    "k_fold_users": KFoldUsers(n_splits=3, hidden=0.5),
}


def pictures() -> dict[str, str]:
    """Return the text of each picture by its name."""
    return {
        "own_data": _own_data(),
        "lists": _lists(),
        "splits": _splits(),
        "next_item": _next_item(),
        "letters": _letters(),
        "tuning": _tuning(),
    }


_SHOP = re.compile(r"<!-- file: shop.csv -->\n```text\n(.*?)```", re.DOTALL)
"""The file that docs/data.md shows."""


def _own_data() -> str:
    """Draw the file of docs/data.md, the role of each column, and what a split makes of the rows."""
    found = _SHOP.search(PAGE.read_text(encoding="utf-8"))
    columns, *rows = csv.reader(found[1].splitlines() if found else (), delimiter=";")
    roles = ("user", "item", "rating", "time", "not used")
    lefts, top = (20, 80, 146, 222, 310), 96
    shapes = [
        _text(20, 24, "1. Your file", weight="bold"),
        _text(20, 46, "each column: by its name, or as you say (rating, time)", size=11),
    ]
    for left, column, role in zip(lefts, columns, roles, strict=True):
        colour = COLOURS["unused"] if role == "not used" else COLOURS["train"]
        shapes += [_box(left - 4, 54, 8 * len(role) + 8, 20, colour), _text(left, 68, role, size=12)]
        shapes.append(_text(left, top, column, weight="bold", size=12))
    for number, cells in enumerate(rows):
        shapes += [
            _text(left, top + 22 + 20 * number, cell, size=12)
            for left, cell in zip(lefts, cells, strict=True)
        ]
    shapes.append(_text(400, 24, "2. The split: what is held out", weight="bold"))
    shapes.append(_text(400, 46, "here split=leave_one_out_last: the last row of each user", size=11))
    users, items, stars, dates, _ = zip(*rows, strict=True)
    values, days = [float(value.replace(",", ".")) for value in stars], [int(date[:2]) - 1 for date in dates]
    table = Interactions.from_ids(users, items, values, [day * _DAY for day in days])
    split = LeaveLastOut(cold_items="keep").split(table, rng=np.random.default_rng(0))
    parts = _parts(split)
    for number, name in enumerate(dict.fromkeys(users)):
        y = 62 + 64 * number
        shapes += [_text(400, y + 12, name, size=12), _line(440, y + 9, 720, y + 9)]
        code = list(split.train.user_ids).index(name)
        for user, item, value, day in zip(users, items, stars, days, strict=True):
            if user == name:
                x = 440 + 26 * day
                shapes += [_box(x, y, 28, 18, COLOURS[parts[code, day]]), _text(x + 5, y + 13, value)]
                shapes.append(_text(x - 6, y + 34, item, size=11))
    shapes += _legend([("train", "the model learns from"), ("test", "held out")], 400, 186)
    shapes.append(_text(400, 222, "3. With relevant_from=4 a held-out item counts", size=12))
    shapes.append(_text(400, 238, "as a hit in the user's list if its rating is 4 or more.", size=12))
    return _svg(760, 252, shapes, "A file of one's own: columns have roles, rows are split")


_RECOMMENDED = {"ann": ["heat", "dune"], "bob": ["dune", "tron"], "cid": ["tron", "big"]}
_TAKEN = {"ann": ["dune"], "bob": ["heat", "dune"], "cid": ["big"]}


def _lists() -> str:
    """Draw lists beside what users took, with the values that an evaluation gives them."""
    keys = ("recall_at_2", "ndcg_at_2")
    result = evaluate(_RECOMMENDED, _TAKEN, metrics=("recall", "ndcg"), cutoffs=(2,))
    frame = result.to_frame()
    values = {key: dict(zip(frame.index, frame[key].tolist(), strict=True)) for key in keys}
    lefts = {"user": 20, "rank 1": 80, "rank 2": 160, "test.csv": 270, keys[0]: 420, keys[1]: 520}
    shapes = [_text(80, 24, "recs.csv: the list", weight="bold")]
    shapes.append(_text(270, 24, "the truth", weight="bold"))
    shapes.append(_text(420, 24, "users' values", weight="bold"))
    shapes += [_text(left, 46, name.replace("_at_", "@"), size=11) for name, left in lefts.items()]
    for number, (user, items) in enumerate(_RECOMMENDED.items()):
        y = 74 + 32 * number
        shapes.append(_text(20, y, user))
        for rank, item in enumerate(items):
            colour = _HIT if item in _TAKEN[user] else COLOURS["unused"]
            shapes += [_box(76 + 80 * rank, y - 15, 66, 22, colour), _text(82 + 80 * rank, y, item)]
        shapes.append(_text(270, y, ", ".join(_TAKEN[user])))
        shapes += [_text(lefts[key], y, f"{values[key][user]:.4f}") for key in keys]
    shapes.append(_line(410, 152, 600, 152))
    shapes.append(_text(360, 170, "mean", weight="bold"))
    means = result.values()
    shapes += [_text(lefts[key], 170, f"{means[key]:.4f}", weight="bold") for key in keys]
    shapes += [_box(20, 158, 11, 11, _HIT), _text(36, 168, "a hit: the user took it", size=12)]
    return _svg(620, 186, shapes, "Lists judged by what users took: hits, values of users, means")


def _rows() -> Interactions:
    pairs = [(user, day) for user, days in _TIMES.items() for day in days]
    items = np.arange(len(pairs)) % 9
    return Interactions.from_ids([user for user, _ in pairs], items, None, [day * _DAY for _, day in pairs])


def _parts(split: Split) -> dict[tuple[int, int], str]:
    """Return the part of each row, by user and day."""
    parts = {
        "train": split.train,
        "validation": split.validation,
        "test": split.test,
        "fold-in": split.fold_in,
    }
    return {
        (int(user), int(time) // _DAY): name
        for name, part in parts.items()
        if part is not None and part.timestamp is not None
        for user, time in zip(part.user, part.timestamp, strict=True)
    }


def _splits() -> str:
    rows = _rows()
    shapes: list[str] = []
    for number, (name, splitter) in enumerate(_SPLITS.items()):
        left, top = 20 + number % 3 * 245, 62 + number // 3 * 130
        shapes.append(_text(left, top, name, weight="bold"))
        split = splitter.split(rows, rng=np.random.default_rng(3), overlap=True)
        parts = _parts(split)
        for at, days in enumerate(_TIMES.values()):
            y = top + 12 + at * 18
            shapes.append(_line(left, y + 6, left + 222, y + 6))
            shapes += [_square(left + day * 11, y, COLOURS[parts.get((at, day), "unused")]) for day in days]
    legend = [
        ("train", "train"),
        ("validation", "validation"),
        ("test", "test"),
        ("fold-in", "fold-in"),
        ("unused", "not used"),
    ]
    shapes += _legend(legend, 20, 18)
    shapes.append(_text(560, 28, "each line a user, time to the right", size=11))
    height = top + 12 + 18 * len(_TIMES) + 12
    return _svg(760, height, shapes, "Five users' rows over time under each split")


_TARGETS: Mapping[str, Splitter] = {
    "leave_one_out_last, history=train": LeaveLastOut(n_validation=1),
    "..., history=train_validation": LeaveLastOut(n_validation=1, history="train_validation"),
    **{
        f"next_item, target={target}": NextItem(date="1970-01-12", target=target)
        for target in ("first", "last", "random", "all", "successive")
    },
}


def _next_item() -> str:
    """Draw what each query is asked for, and which rows a model that takes histories sees then."""
    rows = _rows()
    shapes: list[str] = []
    top = 56
    for name, splitter in _TARGETS.items():
        split = splitter.split(rows, rng=np.random.default_rng(1), overlap=True)
        grows = split.sequences is not None and split.sequences.grows
        before = split.before if grows and split.before is not None else split.train
        asked = [
            code for code in np.unique(split.test.user) if str(split.test.user_ids[code])[:2] in ("u2", "u5")
        ]
        shapes.append(_text(20, top, name, weight="bold"))
        if name.startswith("next_item"):
            shapes.append(_line(310 + 11 * 14, top - 10, 310 + 11 * 14, top - 6 + 18 * len(asked), "#555", 2))
        for number, code in enumerate(asked):
            y, owner = top - 10 + number * 18, str(split.test.user_ids[code])
            shapes += [_text(264, y + 10, owner, size=11), _line(310, y + 6, 310 + 20 * 14 + 11, y + 6)]
            shapes += [_square(310 + day * 14, y, COLOURS["unused"]) for day in _TIMES[owner[:2]]]
            for part, colour in ((before, "train"), (split.test, "test")):
                times = np.empty(0, np.int64) if part.timestamp is None else part.timestamp[part.user == code]
                shapes += [_square(310 + int(time) // _DAY * 14, y, COLOURS[colour]) for time in times]
        top += 18 * len(asked) + 18
    shapes += _legend([("train", "history"), ("test", "target"), ("unused", "neither")], 20, 18)
    shapes.append(_text(330, 28, "line: the cut in time; u2#6: the query for the sixth row of u2", size=11))
    return _svg(640, top, shapes, "What each user or query is asked for, and the history that is seen")


def _letters() -> str:
    """Three runs: the first two share a letter, the third has one of its own."""
    runs = [
        ("model A", 0.178, 0.170, 0.186, "a"),
        ("model B", 0.171, 0.163, 0.179, "a"),
        ("model C", 0.094, 0.086, 0.102, "b"),
    ]
    shapes = [_text(565, 16, "invented numbers", size=11)]

    def x(value: float) -> float:
        return 120 + (value - 0.08) * 4000

    for row, (name, mean, low, high, letter) in enumerate(runs):
        y = 40 + 36 * row
        shapes += [_text(16, y + 5, name), _line(x(low), y, x(high), y, "#33658a", 3)]
        shapes.append(f'<circle cx="{x(mean):.0f}" cy="{y}" r="5" fill="#33658a"/>')
        shapes.append(_text(590, y + 5, f"{mean:.3f} {letter}", weight="bold"))
    shapes.append(_line(120, 132, 560, 132))
    shapes += [_text(x(tick) - 12, 147, f"{tick:.2f}", size=11) for tick in (0.10, 0.12, 0.14, 0.16, 0.18)]
    shapes.append(_text(16, 147, "nDCG@10", size=11))
    shapes.append(_text(120, 170, "A and B share the letter a: their difference may be chance.", size=12))
    shapes.append(_text(120, 188, "C has no letter in common with them: it is worse than both.", size=12))
    return _svg(
        680, 202, shapes, "Means with 95 % intervals; runs that share a letter are not shown to differ"
    )


def _tuning() -> str:
    """Search on validation rows, final model on train and validation, one look at test."""
    steps = [
        ("search: each trial learns from train, validation decides", ("train", "validation"), (0, 1)),
        ("final model: learns from train and validation", ("train", "train"), (0, 1)),
        ("evaluated once: test", ("unused", "unused", "test"), (0, 1, 2)),
    ]
    edges, shapes = (20, 380, 470, 600), []
    for row, (text, parts, spans) in enumerate(steps):
        y = 20 + row * 56
        shapes.append(_text(20, y + 10, text, size=13))
        for part, at in zip(parts, spans, strict=True):
            width = edges[at + 1] - edges[at] - 4
            shapes.append(_bar(edges[at], y + 18, width, COLOURS[part]))
        if len(parts) == 2:
            shapes.append(_bar(edges[2], y + 18, edges[3] - edges[2] - 4, "none"))
            shapes.append(_text(edges[2] + 12, y + 31, "test: not looked at", size=11))
    shapes += _legend(
        [("train", "learns from"), ("validation", "decides"), ("test", "final number")], 20, 184
    )
    return _svg(620, 206, shapes, "Which rows a search, the final model and the final number see")


def _legend(entries: Sequence[tuple[str, str]], x: int, y: int) -> Iterator[str]:
    for part, text in entries:
        yield _square(x, y, COLOURS[part])
        yield _text(x + 16, y + 10, text, size=12)
        x += 34 + 7 * len(text)


def _square(x: int, y: int, colour: str) -> str:
    return f'<rect x="{x}" y="{y}" width="11" height="11" rx="2" fill="{colour}"/>'


def _box(x: int, y: int, width: int, height: int, colour: str) -> str:
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="3" fill="{colour}"/>'


def _bar(x: int, y: int, width: int, colour: str) -> str:
    edge = ' stroke="#999"' if colour == "none" else ""
    return f'<rect x="{x}" y="{y}" width="{width}" height="18" rx="3" fill="{colour}"{edge}/>'


def _line(x: float, y: float, end: float, bottom: float, colour: str = "#bbb", width: int = 1) -> str:
    return (
        f'<line x1="{x:.0f}" y1="{y}" x2="{end:.0f}" y2="{bottom}" stroke="{colour}" stroke-width="{width}"/>'
    )


def _text(x: float, y: float, text: str, *, size: int = 13, weight: str = "normal") -> str:
    return f'<text x="{x:.0f}" y="{y}" font-size="{size}" font-weight="{weight}">{text}</text>'


def _svg(width: int, height: int, shapes: Sequence[str], title: str) -> str:
    """Return a picture on white, which is readable on dark pages, too."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            'font-family="sans-serif" fill="#222">',
            f"<title>{title}</title>",
            f'<rect width="{width}" height="{height}" fill="white"/>',
            *shapes,
            "</svg>",
            "",
        ]
    )

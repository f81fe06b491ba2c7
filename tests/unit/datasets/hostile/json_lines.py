"""JSON lines."""

import json
from typing import Any

from unit.datasets.hostile.case import LONG, Case, lines

RATING, WHOLE = "line 1: the rating", "line 1: the user must be whole numbers"
GOOD = {"user": 1, "item": 2}
HALF = '{"user": "\\ud800", "item": "a"}'
MANY = 10**5


def of(name: str, refused: str, *rows: Any) -> Case:
    return Case(name, "r.jsonl", lines(*rows), refused)


JSON = [
    of("deep id", "too deeply", '{"user": 1, "item": ' + "[" * MANY + "]" * MANY + "}"),
    of("deep field", "too deeply", '{"user": 1, "item": 2, "x": ' + '{"a":' * MANY + "1" + "}" * MANY + "}"),
    of("deep JSON", "line 1.*nested too deeply", "[" * MANY + "]" * MANY),
    of("lone surrogate", "line 1.*surrogate", HALF),
    of("NaN in JSON", RATING, '{"user": 1, "item": 2, "rating": NaN}'),
    of("huge number in JSON", RATING, '{"user": 1, "item": 2, "rating": 1e400}'),
    of("rating as a list", RATING, {**GOOD, "rating": [3]}),
    of("number of 5,000 digits", "line 1", '{"user": %s, "item": 2}' % ("9" * 5000)),
    of("id beyond 2**63", "line 1", {"user": 2**70, "item": 2}),
    of("id beyond 2**63 below 2**64", "line 1", {"user": 2**63 + 1, "item": 2}, GOOD),
    of("float ids in JSON", WHOLE, {"user": 1.5, "item": 2}),
    of("boolean ids", WHOLE, {"user": True, "item": 2}),
    of("nested ids", WHOLE, {"user": {"id": 1}, "item": 2}),
    of("numbers as text", "line 2: the user must", GOOD, {"user": "1", "item": 3}),
    of(
        "long id in JSON",
        "line 2: the item is longer than",
        {"user": 1, "item": "a"},
        {"user": 1, "item": LONG},
    ),
    of("escapes in JSON", r"\\x1b\[2J", "\x1b[2J nonsense"),
    of("many keys", "(?s)^.{,1500}$", {f"c{n}": 1 for n in range(5_000)}),
    Case(
        "lone surrogate left out",
        "r.jsonl",
        lines({"user": "u", "item": "a"}, HALF),
        users=["u"],
        items=["a"],
        options={"on_bad_rows": "skip"},
    ),
    Case("brackets in text", "r.jsonl", lines('{"user": 1, "item": "' + "[" * 999 + '"}'), users=["1"]),
    Case("a key twice", "r.jsonl", lines('{"user": 1, "user": 2, "item": 3}'), users=["2"], items=["3"]),
    Case("rating as text", "r.jsonl", lines({**GOOD, "rating": "3.5"}), users=["1"], items=["2"]),
    Case("BOM before JSON", "r.jsonl", b"\xef\xbb\xbf" + lines(GOOD).encode(), users=["1"], items=["2"]),
    Case("JSON in UTF-16", "r.jsonl", lines(GOOD).encode("utf-16"), "r.jsonl"),
    Case(
        "a JSON array over lines", "r.json", json.dumps([GOOD], indent=1), "line 1: no line is a JSON object"
    ),
]

"""JSON lines."""

import json

from unit.datasets.hostile.case import LONG, Case, lines

JSON = [
    Case("deep id", "r.jsonl", lines('{"user": 1, "item": ' + "[" * 10**5 + "]" * 10**5 + "}"), "too deeply"),
    Case(
        "deep field",
        "r.jsonl",
        lines('{"user": 1, "item": 2, "x": ' + '{"a":' * 10**5 + "1" + "}" * 10**5 + "}"),
        "too deeply",
    ),
    Case("brackets in text", "r.jsonl", lines('{"user": 1, "item": "' + "[" * 999 + '"}'), users=["1"]),
    Case("deep JSON", "r.jsonl", lines("[" * 100_000 + "]" * 100_000), "line 1.*nested too deeply"),
    Case("lone surrogate", "r.jsonl", lines('{"user": "\\ud800", "item": "a"}'), "line 1.*surrogate"),
    Case(
        "lone surrogate left out",
        "r.jsonl",
        lines({"user": "u", "item": "a"}, '{"user": "\\ud800", "item": "a"}'),
        users=["u"],
        items=["a"],
        options={"on_bad_rows": "skip"},
    ),
    Case("NaN in JSON", "r.jsonl", lines('{"user": 1, "item": 2, "rating": NaN}'), "line 1: the rating"),
    Case(
        "huge number in JSON",
        "r.jsonl",
        lines('{"user": 1, "item": 2, "rating": 1e400}'),
        "line 1: the rating",
    ),
    Case("number of 5,000 digits", "r.jsonl", lines('{"user": %s, "item": 2}' % ("9" * 5000)), "line 1"),
    Case("id beyond 2**63", "r.jsonl", lines({"user": 2**70, "item": 2}), "line 1.*2\\*\\*63|line 1"),
    Case(
        "id beyond 2**63 below 2**64",
        "r.jsonl",
        lines({"user": 2**63 + 1, "item": 2}, {"user": 1, "item": 2}),
        "line 1",
    ),
    Case(
        "float ids in JSON",
        "r.jsonl",
        lines({"user": 1.5, "item": 2}),
        "line 1: the user must be whole numbers",
    ),
    Case(
        "boolean ids", "r.jsonl", lines({"user": True, "item": 2}), "line 1: the user must be whole numbers"
    ),
    Case(
        "nested ids",
        "r.jsonl",
        lines({"user": {"id": 1}, "item": 2}),
        "line 1: the user must be whole numbers",
    ),
    Case(
        "numbers as text",
        "r.jsonl",
        lines({"user": 1, "item": 2}, {"user": "1", "item": 3}),
        "line 2: the user must",
    ),
    Case("a key twice", "r.jsonl", lines('{"user": 1, "user": 2, "item": 3}'), users=["2"], items=["3"]),
    Case(
        "rating as text", "r.jsonl", lines({"user": 1, "item": 2, "rating": "3.5"}), users=["1"], items=["2"]
    ),
    Case("rating as a list", "r.jsonl", lines({"user": 1, "item": 2, "rating": [3]}), "line 1: the rating"),
    Case(
        "a JSON array over lines",
        "r.json",
        json.dumps([{"user": 1, "item": 2}], indent=1),
        "line 1: no line is a JSON object",
    ),
    Case(
        "long id in JSON",
        "r.jsonl",
        lines({"user": 1, "item": "a"}, {"user": 1, "item": LONG}),
        "line 2: the item is longer than",
    ),
    Case(
        "BOM before JSON",
        "r.jsonl",
        b"\xef\xbb\xbf" + lines({"user": 1, "item": 2}).encode(),
        users=["1"],
        items=["2"],
    ),
    Case("JSON in UTF-16", "r.jsonl", lines({"user": 1, "item": 2}).encode("utf-16"), "r.jsonl"),
    Case("escapes in JSON", "r.jsonl", lines("\x1b[2J nonsense"), r"\\x1b\[2J"),
    Case("many keys", "r.jsonl", lines({f"c{n}": 1 for n in range(5_000)}), "(?s)^.{,1500}$"),
]

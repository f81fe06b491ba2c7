"""Candidates that were judged on the same rows before are counted."""

import json
from dataclasses import asdict, replace

import pandas as pd
import pytest

import recgauge
from recgauge.checks.looks import Look, read_looks, write_look
from recgauge.errors import SchemaError

N = 300
RULES = {"not_worse": {"ndcg": 0.01}}


@pytest.fixture
def result(rng):
    old = pd.DataFrame({"ndcg": rng.random(N)}, index=pd.Index(range(N), name="user"))
    return lambda **options: recgauge.check(old + 0.001, old, RULES, **options)


def test_each_candidate_counts_once_and_only_on_the_same_rows(result):
    look = result().look
    others = [replace(look, candidate=name) for name in ("a", "b", "a", "b")]
    judged = result(looks=[*others, look, replace(look, candidate="c", test_sha256="other rows")])
    assert judged.candidates_before == 2
    assert "Candidate 3 on these test rows" in judged.to_markdown()
    assert "15 %, not 5 %" in judged.to_markdown()
    assert judged.passed


def test_looks_are_kept_in_a_file(result, tmp_path):
    file = tmp_path / "deep" / "looks.jsonl"
    assert read_looks(file) == []
    look = result().look
    write_look(file, look)
    write_look(file, replace(look, outcome="worse"))
    assert read_looks(file) == [look, replace(look, outcome="worse")]
    of_an_earlier_version = json.dumps(asdict(look) | {"p": 0.5})
    assert Look.from_json(of_an_earlier_version) == look
    file.write_text("{}\n")
    with pytest.raises(SchemaError, match=r"looks.jsonl: .*Name another file, --looks"):
        read_looks(file)

"""Candidates that were judged on the same rows before: counted, and what that does to the level."""

import json
from dataclasses import asdict, replace

import pandas as pd
import pytest

import recgauge
from recgauge.checks.looks import Look, read_looks, write_look
from recgauge.errors import SchemaError

N = 300
IDS = pd.Index(range(N), name="user")
RULES = {"not_worse": {"ndcg": 0.01}}


@pytest.fixture
def old(rng):
    return pd.DataFrame({"ndcg": rng.random(N)}, index=IDS)


def candidate(old, rng, by):
    noise = rng.normal(0, 0.05, (N, 1))
    return old + by + noise - noise.mean()


def earlier(look, n, **changes):
    return [replace(look, **{"candidate": f"other {i}", "p": 0.5} | changes) for i in range(n)]


def test_each_candidate_counts_once_and_only_on_the_same_rows(old, rng):
    new = candidate(old, rng, 0)
    look = recgauge.check(new, old, RULES).look
    looks = [
        *earlier(look, 2),
        *earlier(look, 2),
        look,
        *earlier(look, 1, test_sha256="other rows", candidate="elsewhere"),
    ]
    result = recgauge.check(new, old, RULES, looks=looks)
    assert len(result.before) == 2
    assert "Candidate 3 on these test rows" in result.to_markdown()
    assert "15 %, not 5 %" in result.to_markdown()
    assert result.passed  # said, and not corrected unless that is asked for


def test_holm_judges_each_candidate_at_its_share_of_the_level(old, rng):
    rules, new = RULES | {"looks": "holm"}, candidate(old, rng, -0.004)
    look = recgauge.check(new, old, RULES).look
    assert 0.01 < look.p < 0.025
    first = recgauge.check(new, old, rules, looks=[])
    assert (first.level, first.passed, first.look.number) == (0.025, True, 1)
    failed = [replace(each, number=n + 1) for n, each in enumerate(earlier(look, 9))]
    later = recgauge.check(new, old, rules, looks=failed)
    assert later.level == pytest.approx(0.05 / 110)
    assert (later.outcome, later.look.number) == ("undecided", 10)
    passed = [replace(each, p=1e-6) for each in failed]  # those that passed leave their share
    assert recgauge.check(new, old, rules, looks=passed).level == pytest.approx(0.05 / 11)
    again = recgauge.check(new, old, rules, looks=[first.look, *earlier(look, 3, number=2)])
    assert again.level == 0.025  # the same candidate keeps its place


def test_the_ladder_says_nothing_of_what_is_no_step_up(old, rng):
    rules = RULES | {"looks": "ladder"}
    up, level = candidate(old, rng, 0.05), candidate(old, rng, 0.051)
    first = recgauge.check(up, old, rules, looks=[])
    assert first.passed
    second = recgauge.check(level, old, rules, looks=[first.look])
    assert second.outcome == "undecided"
    assert not second.verdicts
    assert "says nothing of it" in second.to_markdown()
    assert "failure" in second.to_junit()
    higher = recgauge.check(candidate(old, rng, 0.08), old, rules, looks=[first.look, second.look])
    assert higher.passed
    assert higher.look.number == 3


def test_looks_are_kept_in_a_file(old, rng, tmp_path):
    file = tmp_path / "deep" / "looks.jsonl"
    assert read_looks(file) == []
    look = recgauge.check(candidate(old, rng, 0), old, RULES).look
    write_look(file, look)
    write_look(file, replace(look, p=0.25))
    assert read_looks(file) == [look, replace(look, p=0.25)]
    earlier_version = json.dumps(asdict(look) | {"of_earlier": 0.5})
    assert Look.from_json(earlier_version) == look
    file.write_text("{}\n")
    with pytest.raises(SchemaError, match=r"looks.jsonl, line 1: is not a look"):
        read_looks(file)

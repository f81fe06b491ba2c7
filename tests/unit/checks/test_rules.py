"""Rules are read as they are written, and what cannot be meant is refused in one line."""

import pytest

from recgauge.checks.rules import Rules
from recgauge.errors import ConfigError

FILE = """
confidence: 0.9
not_worse:
  ndcg@10: 2%
  recall@20: 0.005
better_by: {map@10: 1e-3}
at_most: {popularity@10: 110%}
segments:
  activity: {ndcg@10: 5%}
cost: {fit_seconds: 60, model_bytes: 150%}
"""


def test_a_file_says_what_it_says(tmp_path):
    path = tmp_path / "check.yaml"
    path.write_text(FILE)
    rules = Rules.of(path)
    assert [(rule.path, str(rule)) for rule in rules.rules] == [
        ("not_worse.ndcg@10", "not worse by 2 %"),
        ("not_worse.recall@20", "not worse by 0.005"),
        ("better_by.map@10", "better by 0.001"),
        ("at_most.popularity@10", "at most 110 % of the baseline's"),
        ("segments.activity.ndcg@10", "not worse by 5 %"),
        ("cost.fit_seconds", "at most 60"),
        ("cost.model_bytes", "at most 150 % of the baseline's"),
    ]
    assert (rules.rules[0].value, rules.rules[0].relative) == (0.02, True)
    assert rules.alpha == 0.1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"not_wrose": {"ndcg": 1}}, "there is no not_wrose. Did you mean not_worse?"),
        ({"not_worse": {"ndcg@10": "-2%"}}, "not_worse.ndcg@10 must be a finite number >= 0, got -0.02"),
        ({"not_worse": {"ndcg@10": "100%"}}, "may lose all of it"),
        ({"not_worse": {"ndcg@10": 0.1, "ndcg_at_10": 0.2}}, "not_worse.ndcg@10 is there twice"),
        ({"cost": {"fit": 3}}, "cost must be one of fit_seconds, recommend_seconds"),
        ({"not_worse": {"ndcg": 0}, "undecided": "maybe"}, "fail, pass"),
    ],
)
def test_what_cannot_be_meant_is_refused(content, message):
    with pytest.raises(ConfigError) as error:
        Rules.of(content)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not_worse: {a: 1, a: 2}", "a is there twice"),
        ("not_worse: [", "is no YAML"),
        ("a: &a [1]\nb: [*a, *a]", "has an alias"),
        ("!!python/object/apply:os.getcwd []", "is no YAML"),
        (None, "No such file"),
    ],
)
def test_a_file_that_holds_no_rules_is_named(tmp_path, text, message):
    path = tmp_path / "check.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ConfigError, match=r"check\.yaml: ") as error:
        Rules.of(path)
    assert message in str(error.value)
    assert "\n" not in str(error.value)

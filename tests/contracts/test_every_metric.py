"""Every metric class of the package keeps the house's rules; new ones are found by themselves."""

import inspect
import re
from dataclasses import MISSING, fields, is_dataclass

import pytest

from recgauge.conventions import canonical_name, conventions, get_convention
from recgauge.errors import ConfigError
from recgauge.metrics import Metric, check_suite
from recgauge.metrics.discovery import default_metrics, metric_classes

CLASSES = metric_classes()


@pytest.mark.parametrize("leaf", CLASSES, ids=lambda leaf: leaf.__name__)
class TestEveryMetric:
    def test_is_a_frozen_value(self, leaf: type[Metric]) -> None:
        assert is_dataclass(leaf)
        assert leaf.__dataclass_params__.frozen
        if leaf in map(type, default_metrics().values()):
            assert leaf() == leaf()
            assert hash(leaf()) == hash(leaf())

    def test_docstring_has_all_sections(self, leaf: type[Metric]) -> None:
        text = inspect.getdoc(leaf) or ""
        for section in ("Notes", "References", "Examples"):
            assert f"{section}\n{'-' * len(section)}" in text, f"{leaf.__name__} lacks {section}"
        if fields(leaf):
            assert "Parameters\n----------" in text
        assert ".. math::" in text
        assert ">>> " in text
        notes = text.split("Notes\n-----")[1].split("References\n")[0]
        assert re.search(r"[Rr]ange", notes)
        assert re.search(r"(higher|lower) (is better|means)", notes, re.IGNORECASE)

    def test_documented_defaults_are_the_signature(self, leaf: type[Metric]) -> None:
        text = inspect.getdoc(leaf) or ""
        for field in fields(leaf):
            line = re.search(rf"^{field.name} : (.+)$", text, re.MULTILINE)
            assert line, f"{leaf.__name__}: {field.name} is not documented"
            if field.default is not MISSING:
                shown = f'"{field.default}"' if isinstance(field.default, str) else str(field.default)
                assert line[1].endswith(f"default {shown}"), f"{leaf.__name__}: {field.name}: {line[1]}"

    def test_invalid_values_are_refused_with_the_valid_ones(self, leaf: type[Metric]) -> None:
        text = inspect.getdoc(leaf) or ""
        for field in fields(leaf):
            choices = re.search(rf"^{field.name} : {{(.+)}}", text, re.MULTILINE)
            if choices and field.default is not MISSING:
                with pytest.raises(ConfigError) as error:
                    leaf(**{field.name: "nonsense"})
                for choice in re.findall(r'"(\w+)"', choices[1]):
                    assert choice in str(error.value)

    def test_definition_names_every_setting(self, leaf: type[Metric]) -> None:
        if leaf not in map(type, default_metrics().values()):
            pytest.skip("needs arguments")
        text = leaf().definition(10)
        assert text.startswith(leaf.label)
        assert text.endswith("@10")
        assert leaf().definition().count("@") == 0


def test_names_are_distinct() -> None:
    names = [leaf.name for leaf in CLASSES]
    assert len(names) == len(set(names))


def test_a_side_setting_shows_where_it_matters() -> None:
    ndcg = get_convention("article_ndcg_note").metric("ndcg")
    assert ndcg.definition(5) == "nDCG(gain=linear, discount=log2, ideal=own_list, normalization=minmax)@5"
    assert get_convention("standard").metric("ndcg").definition(10) == (
        "nDCG(gain=linear, discount=log2, ideal=at_k)@10"
    )


def test_conventions_are_the_promised_ones() -> None:
    libraries = (
        *("trec", "ranx", "recbole", "lenskit", "rectools", "cornac", "irspack", "replay", "elliot"),
        *("recommenders", "recmetrics", "capri", "implicit", "sklearn"),
    )
    articles = [name for name in conventions() if name.startswith("article_")]
    assert list(conventions()) == ["standard", *libraries, *articles]
    assert len(articles) == 5


@pytest.mark.parametrize("name", conventions())
def test_convention_is_sound(name: str) -> None:
    convention = get_convention(name)
    assert convention.about.endswith(".")
    check_suite(convention.known())
    assert all(canonical_name(metric) == metric for metric in convention.metrics)
    assert set(convention.deviations) <= set(convention.metrics)
    assert all(convention.definition(metric) for metric in convention.deviations)


def test_short_names_mean_the_same() -> None:
    standard = get_convention("standard")
    for short, long in {"ap": "map", "rr": "mrr", "hit": "hit_rate", "ar": "mar"}.items():
        assert standard.metric(short) == standard.metric(long)

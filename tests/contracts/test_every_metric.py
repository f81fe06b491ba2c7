"""Every metric class of the package keeps the house's rules; new ones are found by themselves."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import MISSING, fields
from importlib import import_module
from pkgutil import walk_packages

import pytest

import recgauge.metrics
from conftest import REPOSITORY
from recgauge.conventions import canonical_name, conventions, get_convention, standard_metrics
from recgauge.errors import ConfigError
from recgauge.metrics import Metric, check_suite, metric_classes

CLASSES = metric_classes()


@pytest.mark.parametrize("leaf", CLASSES, ids=lambda leaf: leaf.__name__)
class TestEveryMetric:
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
        if leaf not in map(type, standard_metrics().values()):
            pytest.skip("needs arguments")
        text = leaf().definition(10)
        assert text.startswith(leaf.label)
        assert text.endswith("@10")
        assert leaf().definition().count("@") == 0


def defined_below(parent: type[Metric]) -> Iterator[type[Metric]]:
    for leaf in parent.__subclasses__():
        if leaf.__module__.startswith("recgauge.metrics."):
            yield leaf
            yield from defined_below(leaf)


def test_every_class_of_every_module_is_listed_and_no_two_have_one_name() -> None:
    for module in walk_packages(recgauge.metrics.__path__, "recgauge.metrics."):
        import_module(module.name)
    defined = {leaf for leaf in defined_below(Metric) if not leaf.__name__.startswith("_")}
    missing = (
        {leaf.__name__ for leaf in defined} - set(recgauge.metrics.__all__) - {"UserMetric", "RunMetric"}
    )
    assert not missing, "add a line to the imports for type checkers in recgauge/metrics/__init__.py"
    concrete = {leaf for leaf in defined if not inspect.isabstract(leaf)}
    assert set(CLASSES) == concrete
    assert len({leaf.name for leaf in concrete}) == len(concrete)


def test_conventions_are_those_of_the_files() -> None:
    assert {path.stem for path in (REPOSITORY / "conf" / "conventions").glob("*.yaml")} == set(conventions())


@pytest.mark.parametrize("name", conventions())
def test_convention_is_sound(name: str) -> None:
    convention = get_convention(name)
    assert convention.about.endswith(".")
    check_suite(convention.by_name())
    assert all(canonical_name(metric) == metric for metric in convention.metrics)
    assert set(convention.deviations) <= set(convention.metrics)
    assert all(convention.definition(metric) for metric in convention.deviations)


def test_short_names_mean_the_same() -> None:
    standard = get_convention("standard")
    for short, long in {"ap": "map", "rr": "mrr", "hit": "hit_rate", "ar": "mar"}.items():
        assert standard.metric(short) == standard.metric(long)

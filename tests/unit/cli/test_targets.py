"""What a ``_target_`` may name, and where it may stand. Each probe leaves a file if it takes effect."""

import re
import sys

import pytest

from recgauge.errors import ConfigError
from recgauge.models import Recommender
from recgauge.runs.targets import allowed_packages, check_targets, find_class
from recgauge.sweeps.compose import build, build_study

HARM = "open('marker', 'w').close()\n\n\nclass Thing:\n    def __init__(self, **_):\n        pass\n"
OUTSIDE = "is not one of recgauge"
NOT_PUBLIC = "is not the public name of a class"
NO_IMPORT = "cannot import"
NO_CLASS = "is not a class"
ELSEWHERE = "is defined in"
OTHER_KIND = "is not a Recommender"
NO_NAME = "expected a mapping with a _target_"
TOUCH = {"args": ["touch", "marker"]}
TARGETS = {
    "function of os": ("os.system", {"command": "touch marker"}, OUTSIDE),
    "builtin": ("builtins.eval", {}, OUTSIDE),
    "subprocess": ("subprocess.Popen", TOUCH, OUTSIDE),
    "pickle": ("pickle.loads", {"data": "cstranger\nThing\n."}, OUTSIDE),
    "hydra": ("hydra.utils.instantiate", {"config": {"_target_": "stranger.Thing"}}, OUTSIDE),
    "module that acts when imported": ("stranger.Thing", {}, OUTSIDE),
    "our name as a prefix": ("recgauge_stranger.Thing", {}, OUTSIDE),
    "our name alone": ("recgauge", {}, OUTSIDE),
    "our name, but for capitals": ("Recgauge.models.svd.SVD", {}, OUTSIDE),
    "our name in other letters": ("r\u0435cgauge.models.svd.SVD", {}, OUTSIDE),
    "relative name": (".stranger.Thing", {}, OUTSIDE),
    "no module": ("Thing", {}, OUTSIDE),
    "empty": ("", {}, OUTSIDE),
    "path": ("recgauge/../stranger.Thing", {}, OUTSIDE),
    "file": ("stranger.py", {}, OUTSIDE),
    "empty part": ("recgauge..stranger.Thing", {}, NOT_PUBLIC),
    "space": ("recgauge.models.svd. stranger.Thing", {}, NOT_PUBLIC),
    "line end": ("recgauge.models.svd.SVD\n", {}, NOT_PUBLIC),
    "zero": ("recgauge.models.svd.SVD\0", {}, NOT_PUBLIC),
    "call": ("recgauge.models.svd.SVD()", {}, NOT_PUBLIC),
    "dunder": ("recgauge.__loader__.load_module", {}, NOT_PUBLIC),
    "module that runs when imported": ("recgauge.__main__.main", {}, NOT_PUBLIC),
    "private module": ("recgauge.splits._order.ByTime", {}, NOT_PUBLIC),
    "private function": ("recgauge.datasets.demo._sample", {}, NOT_PUBLIC),
    "module seen through ours": ("recgauge.sweeps.places.os.mkdir", {"path": "marker"}, NO_IMPORT),
    "class seen through ours": ("recgauge.isolated.process.subprocess.Popen", TOUCH, NO_IMPORT),
    "attribute of a class": ("recgauge.models.svd.SVD.fit", {}, NO_IMPORT),
    "nothing": ("recgauge.models.svd.Nothing", {}, NO_IMPORT),
    "module as a class": ("recgauge.models.svd", {}, NO_CLASS),
    "function of ours": ("recgauge.cli.main.command_line", {"words": []}, NO_CLASS),
    "function re-exported by ours": ("recgauge.sweeps.engines.suppress", {}, ELSEWHERE),
    "class re-exported by ours": ("recgauge.sweeps.places.Path", {}, ELSEWHERE),
    "thread re-exported by ours": ("recgauge.isolated.process.TemporaryDirectory", {}, ELSEWHERE),
    "class of ours of another kind": ("recgauge.metrics.discounted.NDCG", {}, OTHER_KIND),
    "class of ours that acts": ("recgauge.isolated.process.Worker", {}, OTHER_KIND),
    "error of ours": ("recgauge.errors.ConfigError", {}, OTHER_KIND),
    "number": (3, {}, NO_NAME),
    "list": (["stranger.Thing"], {}, NO_NAME),
    "mapping": ({"_target_": "stranger.Thing"}, {}, NO_NAME),
}


@pytest.fixture
def strangers(tmp_path, monkeypatch):
    """A folder of modules that leave `marker` when they are imported."""
    for name in ("stranger", "recgauge_stranger"):
        (tmp_path / f"{name}.py").write_text(HARM)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    yield tmp_path / "marker"
    for name in ("stranger", "recgauge_stranger"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("name", TARGETS)
def test_a_hostile_target_is_refused_by_the_check_that_is_meant_for_it(strangers, name):
    target, settings, rule = TARGETS[name]
    with pytest.raises(ConfigError, match=rf"(?s)^model.*{re.escape(rule)}"):
        build({"_target_": target, **settings}, Recommender, "model", allowed_packages(()))
    assert not strangers.exists()


@pytest.mark.parametrize(
    "name", [name for name, (target, _, rule) in TARGETS.items() if rule in (OUTSIDE, NOT_PUBLIC)]
)
def test_names_are_checked_before_any_component_is_built(name):
    node = {"_target_": TARGETS[name][0]}
    for place in ("model", "dataset", "split", "candidates", "conventions", "tracking", "study", "tune"):
        with pytest.raises(ConfigError, match=rf"^{place}\._target_: "):
            check_targets({place: node}, allowed_packages(()))
    for place in ("filters", "metrics"):
        with pytest.raises(ConfigError, match=rf"^{place}\.mine\._target_: "):
            check_targets({place: {"mine": node}}, allowed_packages(()))


def test_a_short_name_of_ours_is_as_good_as_the_full_one():
    packages = allowed_packages(())
    short, full = (find_class(f"recgauge.{name}SVD", "model", packages) for name in ("", "models.svd."))
    assert short is full


NODE = {"_target_": "recgauge.models.svd.SVD"}
INSIDE = {
    "n_factors._target_": {"n_factors": NODE},
    "n_factors[1]._target_": {"n_factors": [1, NODE]},
    "n_factors[0][0]._target_": {"n_factors": [[NODE]]},
    "n_factors.a.b._target_": {"n_factors": {"a": {"b": NODE}}},
    "n_factors[0].a._target_": {"n_factors": ({"a": NODE},)},
    "_args_": {"_args_": [1]},
    "_partial_": {"_partial_": True},
    "_call_": {"_call_": "stranger"},
    "_recursive_": {"_recursive_": True},
    "_convert_": {"_convert_": "object"},
}
NOT_ON_TOP = {f"model.{path}": {"model": NODE | settings} for path, settings in INSIDE.items()}
NOT_ON_TOP |= {
    f"{group}._target_": {group: NODE} for group in ("filters", "metrics")
}  # of several components
NOT_ON_TOP |= {
    f"{name}[0]._target_": {name: [NODE]} for name in ("data", "seed", "cutoffs", "search", "hydra")
}


@pytest.mark.parametrize("path", NOT_ON_TOP)
def test_only_the_top_of_a_component_names_code(path):
    settings, message = NOT_ON_TOP[path], rf"^{re.escape(path)}: .* is not allowed here"
    with pytest.raises(ConfigError, match=message):
        check_targets(settings, allowed_packages(()))
    if "model" in settings:
        with pytest.raises(ConfigError, match=message):
            build(settings["model"], Recommender, "model", allowed_packages(()))


@pytest.mark.parametrize("name", ["os", "builtins", "os.path", "subprocess", "importlib.util", "posix"])
def test_no_part_of_python_can_be_trusted(name):
    with pytest.raises(ConfigError, match="is part of Python"):
        allowed_packages([name])


@pytest.mark.parametrize("name", ["", ".", "*", "my-package", "_private", "my..package", "a b", 3, None])
def test_what_is_trusted_is_the_name_of_a_package(name):
    with pytest.raises(ConfigError, match="is not the name of a package"):
        allowed_packages([name])


def test_only_what_is_defined_in_a_trusted_package_is_built(strangers):
    assert find_class("stranger.Thing", "model", allowed_packages(["stranger"])).__name__ == "Thing"
    (strangers.parent / "stranger.py").write_text("from subprocess import Popen\n")
    sys.modules.pop("stranger")
    with pytest.raises(ConfigError, match="is defined in subprocess"):
        find_class("stranger.Popen", "model", allowed_packages(["stranger"]))


@pytest.mark.parametrize("name", ["..", "../outside", "/tmp/outside", "a/b", "", ".hidden", "a\0b", "a\n"])
def test_a_study_is_named_like_a_folder(name):
    node = {"_target_": "recgauge.experiments.metric_disagreement.study.MetricDisagreement", "name": name}
    with pytest.raises(ConfigError, match=r"^study\.name: must be the name of a folder"):
        build_study(node, ())

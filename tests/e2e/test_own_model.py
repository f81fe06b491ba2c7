"""docs/own_model.md and examples/: own options without a fork."""

import json
from shutil import copytree
from types import SimpleNamespace

import pytest

from conftest import REPOSITORY
from e2e.program import Workplace
from recgauge.errors import ConfigError
from recgauge.runs import targets

EXAMPLES = REPOSITORY / "examples"
QUICK = ("tracking=off", "cutoffs=[2]", "hydra.run.dir=run")


@pytest.mark.e2e
def test_the_examples_run_together(tmp_path):
    words = [
        *("--config-dir", str(EXAMPLES / "conf"), "allowed_targets=[mine]", "model=recency"),
        *("model.half_life=0.5", "metrics=[first_hits]", "split=every_nth", "split.n=4", "dataset=purchases"),
        *(f"dataset.path={EXAMPLES / 'purchases.txt'}", *QUICK),
    ]
    done = Workplace(tmp_path).run(*words, PYTHONPATH=str(EXAMPLES))
    assert done.code == 0, done.err
    assert "recency on purchases" in done.out
    assert "every_nth: train 12 rows, test 4 rows" in done.out
    command = json.loads((tmp_path / "run" / "record.json").read_text())["command"]
    assert f"--config-dir={EXAMPLES / 'conf'}" in command  # or nobody could repeat it
    rows = [line.split(";") for line in (EXAMPLES / "purchases.txt").read_text().split()]
    test, train = rows[::4], [row for n, row in enumerate(rows) if n % 4]
    items = sorted({item for _, item in rows})
    counts = {item: sum(what == item for _, what in train) for item in items}
    hits = []
    for user in sorted({user for user, _ in test}):
        seen = {what for who, what in train if who == user}
        best = sorted((item for item in items if item not in seen), key=lambda item: (-counts[item], item))
        hits.append(sum([user, item] in test for item in best[:2]) / 2)
    record = json.loads((tmp_path / "run" / "record.json").read_text(encoding="utf-8"))
    (entry,) = record["results"]
    assert (entry["key"], entry["definition"]) == ("first_hits_at_2", "FirstHits(scale=share)@2")
    assert entry["value"] == pytest.approx(sum(hits) / len(hits))


@pytest.fixture
def installed(tmp_path):
    """A folder like site-packages, in which a package with an option is installed."""
    site = tmp_path / "site"
    copytree(EXAMPLES / "conf" / "model", site / "shelf" / "conf" / "model")
    (site / "shelf" / "__init__.py").write_text((EXAMPLES / "mine.py").read_text(encoding="utf-8"))
    yaml = site / "shelf" / "conf" / "model" / "recency.yaml"
    yaml.write_text(yaml.read_text().replace("mine.Recency", "shelf.Recency"))
    (site / "shelf-1.0.dist-info").mkdir()
    (site / "shelf-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: shelf\nVersion: 1.0\n"
    )
    entry = site / "shelf-1.0.dist-info" / "entry_points.txt"
    entry.write_text("[recgauge.options]\nshelf = shelf\n")
    return site


@pytest.mark.e2e
def test_an_installed_package_adds_its_options(installed, tmp_path):
    done = Workplace(tmp_path).run("model=recency", *QUICK, PYTHONPATH=str(installed))
    assert done.code == 0, done.err
    assert "recency on demo" in done.out


@pytest.mark.parametrize(
    "value", ["os", "recgauge", "recgauge.models", "numpy", "no_such_package", "_private", ""]
)
def test_an_entry_point_trusts_only_a_package_with_options(value, monkeypatch):
    entry = SimpleNamespace(name="x", value=value, dist=SimpleNamespace(name="sly"))
    monkeypatch.setattr(targets, "entry_points", lambda **_: [entry])
    targets.installed_options.cache_clear()
    try:
        with pytest.raises(ConfigError, match="the installed package sly has an entry point x = "):
            targets.allowed_packages(())
    finally:
        targets.installed_options.cache_clear()

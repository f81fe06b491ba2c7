"""docs/own_model.md and examples/: own options without a fork."""

import json
import re

import numpy as np
import pytest
from omegaconf import OmegaConf

from conftest import REPOSITORY
from e2e.program import Workplace
from recgauge.models.recommend import recommend

EXAMPLES = REPOSITORY / "examples"
PAGE = (REPOSITORY / "docs" / "own_model.md").read_text(encoding="utf-8")
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


def test_the_code_for_a_notebook_runs(capsys, monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    code = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[1]
    exec(compile(code, "own_model.md", "exec"), {})
    assert "ndcg_at_10" in capsys.readouterr().out


def test_the_two_files_of_the_page_fit_together(demo):
    code, yaml = (re.search(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL).group(1) for kind in ("python", "yaml"))
    names = {"__name__": "mymodel"}
    exec(compile(code, "mymodel.py", "exec"), names)
    settings = OmegaConf.to_container(OmegaConf.create(yaml))
    assert settings.pop("_target_") == "mymodel.Liked"
    model = names["Liked"](**settings).fit(demo.interactions, rng=np.random.default_rng(0))
    lists = recommend(model, np.arange(3, dtype=np.int32), 5, excluded=demo.interactions.to_csr())
    assert lists.items.shape == (3, 5)

"""docs/models.md tells the truth about every model."""

import re
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from recgauge.models import EpochModel, RatingPredictor, Recommender
from recgauge.runs.targets import find_class

ROOT = Path(__file__).parents[2]
HAS = {"ranks": Recommender, "rates": RatingPredictor, "learns in epochs": EpochModel}


def rows():
    table = (ROOT / "docs" / "models.md").read_text().partition("\n## ")[0]
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    names = [cell.strip() for cell in lines[0].strip("|").split("|")]
    for line in lines[2:]:
        cells = dict(zip(names, (cell.strip() for cell in line.strip("|").split("|")), strict=True))
        for model in re.findall(r"`(\w+)`", cells["`model=`"]):
            yield model, cells


ROWS = dict(rows())


def test_every_model_is_on_the_page():
    options = {path.stem for path in (ROOT / "conf" / "model").glob("*.yaml")}
    assert set(ROWS) == options - {"rating_knn"}


@pytest.mark.parametrize("name", ROWS)
def test_what_a_model_can_do_is_what_the_page_says(name):
    target = OmegaConf.load(ROOT / "conf" / "model" / f"{name}.yaml").get("_target_")
    target = target or OmegaConf.load(ROOT / "conf" / "model" / "rating_knn.yaml")["_target_"]
    kind = find_class(target, "model._target_", ("recgauge",))
    for column, contract in HAS.items():
        assert (ROWS[name][column] == "yes") == issubclass(kind, contract), column
    assert (ROWS[name]["new users"] == "yes") == hasattr(kind, "fold_in")

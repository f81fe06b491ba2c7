"""A metric, a model, a data set and a split are one file and one YAML each; nothing else has to change.

They are added from outside the package, as a user does: an importable package with one file for each, a
folder for ``--config-dir`` with one YAML for each, and ``allowed_targets``. A run then uses all four.
"""

import json
import os
import subprocess
import sys
from textwrap import dedent

import pytest

from e2e.conftest import Workplace

PYTHON = {
    "first_hits": '''
        """How many of the first two items are relevant."""

        from dataclasses import dataclass
        from typing import ClassVar, Literal

        from recgauge.metrics import UserMetric


        @dataclass(frozen=True)
        class FirstHits(UserMetric):
            name: ClassVar[str] = "first_hits"
            label: ClassVar[str] = "FirstHits"

            scale: Literal["count", "share"] = "count"

            def per_user(self, judged, k):
                counts = judged.hits.cut(min(2, k)).counts()
                return counts / 2 if self.scale == "share" else counts
        ''',
    "newest": '''
        """Items with the highest codes first, the same list for everybody."""

        from dataclasses import dataclass

        import numpy as np

        from recgauge.models import Recommender


        @dataclass(eq=False)
        class HighestCode(Recommender):
            step: int = 1

            def fit(self, train, *, rng):
                self._scores = np.arange(train.n_items, dtype=np.float32) * self.step
                return self

            def score(self, users):
                return np.tile(self._scores, (len(users), 1))
        ''',
    "grid": '''
        """Every user rates every item but one, whose number is the user's."""

        from dataclasses import dataclass

        from recgauge.data.dataset import Dataset
        from recgauge.data.interactions import Interactions
        from recgauge.datasets import DatasetSource


        @dataclass(frozen=True)
        class Grid(DatasetSource):
            size: int = 12

            def load(self, progress=None):
                pairs = [(u, i) for u in range(self.size) for i in range(self.size) if u != i]
                rows = Interactions.from_ids(*zip(*pairs), [5.0] * len(pairs))
                return Dataset(
                    name="grid",
                    interactions=rows,
                    feedback="explicit",
                    relevant_from=4.0,
                    sha256=rows.sha256(),
                    provenance="made up",
                    source="outside",
                    licence="none",
                )
        ''',
    "diagonals": '''
        """Every n-th diagonal of the table of users and items is held out."""

        from dataclasses import dataclass
        from typing import ClassVar

        from recgauge.splits import Assignment, Splitter


        @dataclass(frozen=True)
        class Diagonals(Splitter):
            name: ClassVar[str] = "diagonals"

            n: int = 3

            def assign(self, interactions, *, rng):
                return Assignment((interactions.user + interactions.item) % self.n == 0)
        ''',
}
YAML = {
    "metrics/first_hits": """
        # Hits among the first two.
        first_hits:
          _target_: outside.first_hits.FirstHits
          scale: share
        """,
    "model/newest": """
        # Items with the highest codes first.
        _target_: outside.newest.HighestCode
        step: 2                       # between the scores of two items
        """,
    "dataset/grid": """
        # Every user rates nearly every item.
        _target_: outside.grid.Grid
        size: 15                      # users, and items
        """,
    "split/diagonals": """
        # Every fourth diagonal of the table of users and items.
        _target_: outside.diagonals.Diagonals
        n: 4                          # one of so many is held out
        """,
}
CHOSEN = {
    "metric": ("metrics=[ranking,first_hits]",),
    "model": ("model=newest",),
    "data set": ("dataset=grid", "model=popularity"),
    "split": ("split=diagonals",),
    "all four": ("metrics=[first_hits]", "model=newest", "dataset=grid", "split=diagonals"),
}


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outside")
    for name, text in PYTHON.items():
        path = folder / "outside" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(dedent(text).lstrip(), encoding="utf-8")
    (folder / "outside" / "__init__.py").touch()
    for name, text in YAML.items():
        path = folder / "conf" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip(), encoding="utf-8")
    return folder


def run(folder, *arguments):
    """Run the program as a user does; return the record that it leaves."""
    fixed = ["allowed_targets=[outside]", "tracking=off", "cutoffs=[5]", "hydra.run.dir=run"]
    words = ["--config-dir", str(folder / "conf"), *arguments, *fixed]
    done = Workplace(folder).run(*words, PYTHONPATH=str(folder))
    assert done.code == 0, done.out + done.err
    return json.loads((folder / "run" / "record.json").read_text(encoding="utf-8")), done.out


@pytest.mark.e2e
@pytest.mark.parametrize("part", CHOSEN)
def test_one_file_and_one_yaml_are_enough(outside, part):
    record, printed = run(outside, *CHOSEN[part])
    values = {entry["key"]: entry["value"] for entry in record["results"]}
    assert values, printed
    if part == "metric":
        assert "FirstHits(scale=share)@5" in json.dumps(record["results"])
        assert 0 < values["first_hits_at_5"] <= 1
    if part == "all four":
        hits = []
        for user in range(15):
            test = {item for item in range(15) if item != user and (user + item) % 4 == 0}
            first_two = sorted(test | {user}, reverse=True)[:2]  # the user's own item has no row to hide it
            hits.append(len(test & set(first_two)))
        assert values["first_hits_at_5"] == pytest.approx(sum(hits) / 2 / 15)
        assert "newest on grid" in printed
    for shown in {"model": ["newest"], "data set": ["grid"], "split": ["diagonals"]}.get(part, []):
        assert shown in printed


@pytest.mark.e2e
def test_a_choice_with_a_typing_error_is_refused_by_the_base_class(outside):
    out = subprocess.run(
        [
            *(sys.executable, "-c"),
            "from outside.first_hits import FirstHits; FirstHits(scale='shar')",
        ],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(outside), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
    )
    assert "FirstHits: scale must be one of count, share; got 'shar'" in out.stderr

"""Which share of the test rows lies within an hour of a training row of the same user, under each split.

`python experiments/leakage/sittings.py`
prints it for every file of `conf/experiment/leakage/`; needs `ml_1m`.
"""

import sys

import numpy as np

from recgauge.cli.settings import register_schema, typed_settings
from recgauge.cli.words import CommandLine
from recgauge.data.split import Split
from recgauge.experiment import prepare
from recgauge.sweeps.compose import compose
from recgauge.sweeps.places import conf_folder
from recgauge.utils.progress import Progress, Timings

HOUR = 3600


def share_of_sittings(split: Split) -> float:
    """Return the share of test rows that have a training row of the same user within an hour."""
    seen, held_out = split.train.timestamp, split.test.timestamp
    assert seen is not None
    assert held_out is not None
    near = 0
    for user in np.unique(split.test.user):
        before_or_after = seen[split.train.user == user]
        away = np.abs(held_out[split.test.user == user][:, None] - before_or_after)
        near += int((away.min(axis=1, initial=HOUR + 1) <= HOUR).sum())
    return near / len(split.test)


if __name__ == "__main__":
    register_schema()
    for file in sorted((conf_folder() / "experiment" / "leakage").glob("*.yaml")):
        words = ("experiment=leakage", f"+experiment/leakage={file.stem}", "model=popularity")
        experiment = compose(typed_settings(CommandLine(words).composed()))
        split = prepare(experiment, Timings(Progress())).split
        sys.stdout.write(f"{file.stem} {share_of_sittings(split):.4f}\n")

"""The description of an experiment, which MLflow shows above its runs: the newest comparison."""

from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from recgauge.tracking.page import NOTE_TAG, shortened
from recgauge.tracking.store import Opened

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Experiment

MARK = "<!-- comparison by recgauge -->"
"""Begins what `append` writes; what stands before it stays."""
OWN_TAG = "recgauge.description"
LONGEST = 4_800  # characters, with some left for a link; MLflow refuses 5,000 in a tag of an experiment
_LEAST = 300  # characters that a comparison needs


def describe(opened: Opened, text: str, at: float) -> None:
    """Set an experiment's description, unless somebody has written another, or a newer one is there.

    What `append` has written stays where there is room for it.

    Parameters
    ----------
    opened : Opened
    text : str
        Markdown of less than 5,000 characters, as `linked` returns it.
    at : float
        When the text was made, in seconds since 1970.
    """
    tags = opened.client.get_experiment(opened.experiment_id).tags
    digest, _, time = tags.get(OWN_TAG, "").partition(" ")
    before, mark, appended = tags.get(NOTE_TAG, "").partition(MARK)
    before, whole = before.rstrip(), f"{text}\n\n{mark}{appended}".rstrip()
    if at < float(time or 0) or (before and _digest(before) != digest):
        return
    opened.client.set_experiment_tag(opened.experiment_id, NOTE_TAG, whole if len(whole) <= LONGEST else text)
    opened.client.set_experiment_tag(opened.experiment_id, OWN_TAG, f"{_digest(text.rstrip())} {at:.3f}")


def append(client: "MlflowClient", experiment: "Experiment", lines: Sequence[str], file: str) -> None:
    """Write a comparison below an experiment's description, in the place of an earlier one.

    `file` has all of it: the description gets as much as there is room for.
    """
    before = experiment.tags.get(NOTE_TAG, "").partition(MARK)[0].rstrip()
    if (room := LONGEST - len(before)) >= _LEAST:
        text = f"{before}\n\n{shortened([MARK, '', *lines], file, room)}".lstrip()
        client.set_experiment_tag(experiment.experiment_id, NOTE_TAG, text)


def linked(opened: Opened, text: str) -> str:
    """Return Markdown whose links, such as ``[svd](runs/ID)``, lead to runs of the experiment."""
    return text.replace("](runs/", f"](#/experiments/{opened.experiment_id}/runs/")


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]

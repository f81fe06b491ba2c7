"""The description of an experiment, which MLflow shows above its runs: the newest comparison."""

from hashlib import sha256

from recgauge.tracking.page import NOTE_TAG
from recgauge.tracking.store import Opened

OWN_TAG = "recgauge.description"
LONGEST = 4_800  # characters, with some left for a link; MLflow refuses 5,000 in a tag of an experiment


def describe(opened: Opened, text: str, at: float) -> None:
    """Set an experiment's description, unless somebody has written another, or a newer one is there.

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
    before = tags.get(NOTE_TAG, "")
    if at < float(time or 0) or (before and _digest(before) != digest):
        return
    opened.client.set_experiment_tag(opened.experiment_id, NOTE_TAG, text)
    opened.client.set_experiment_tag(opened.experiment_id, OWN_TAG, f"{_digest(text)} {at:.3f}")


def linked(opened: Opened, text: str) -> str:
    """Return Markdown whose links, such as ``[svd](runs/ID)``, lead to runs of the experiment."""
    return text.replace("](runs/", f"](#/experiments/{opened.experiment_id}/runs/")


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]

"""The description of an experiment, which MLflow shows above its runs: the newest comparison."""

from recgauge.tracking.page import NOTE_TAG, shortened
from recgauge.tracking.store import Opened

MARK = "<!-- comparison by recgauge -->"
"""Begins what `describe` writes; what stands before it stays."""
TIME_TAG = "recgauge.description"
LONGEST = 4_900  # characters; MLflow refuses 5,000 in a tag of an experiment
_LEAST = 300  # characters that a comparison needs


def describe(opened: Opened, text: str, link: str, at: float) -> None:
    """Write a comparison into an experiment's description, behind what somebody has written there.

    Parameters
    ----------
    opened : Opened
    text, link : str
        Markdown, as `linked` returns it; of the text the description gets as much as there is room for.
    at : float
        When the text was made, in seconds since 1970; a newer one stays.
    """
    tags = opened.client.get_experiment(opened.experiment_id).tags
    before = tags.get(NOTE_TAG, "").partition(MARK)[0].rstrip()
    room = LONGEST - len(before) - len(link)
    if at < float(tags.get(TIME_TAG, 0)) or room < _LEAST:
        return
    own = shortened([MARK, *text.split("\n")], "the comparison's run", room)
    whole = f"{before}\n\n{own}\n\n{link}".lstrip()
    opened.client.set_experiment_tag(opened.experiment_id, NOTE_TAG, whole)
    opened.client.set_experiment_tag(opened.experiment_id, TIME_TAG, f"{at:.3f}")


def linked(opened: Opened, text: str) -> str:
    """Return Markdown whose links, such as ``[svd](runs/ID)``, lead to runs of the experiment."""
    return text.replace("](runs/", f"](#/experiments/{opened.experiment_id}/runs/")

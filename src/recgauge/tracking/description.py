"""The description of an experiment, which MLflow shows above its runs: the newest comparison."""

import re
from datetime import UTC, datetime
from urllib.parse import quote

from recgauge.runs.folder import Summary
from recgauge.tracking.page import NOTE_TAG, SUMMARY_TAG, shortened
from recgauge.tracking.pages import MODEL_TRAINING
from recgauge.tracking.store import Opened

MARK = "<!-- comparison by recgauge -->"
"""Ends the first line of what `describe` writes, as MLflow lists beginnings; what stands above it stays."""
TIME_TAG = "recgauge.description"
LONGEST = 4_900  # characters; MLflow refuses 5,000 in a tag of an experiment
MOST_EARLIER = 4  # comparisons whose answers are repeated
_ALL = f"tags.`{SUMMARY_TAG}` LIKE '%'"
_LEAST = 300  # characters that a comparison needs


def describe(opened: Opened, summary: Summary, run_id: str, report: str) -> None:
    """Let the experiment's description be that of its newest comparison, with the answers of earlier ones.

    It stands behind what somebody has written there, as far as there is room.

    Parameters
    ----------
    opened : Opened
    summary : Summary
    run_id : str
        Of the summary.
    report : str
        The report among its files; empty if there is none.
    """
    tags = opened.client.get_experiment(opened.experiment_id).tags
    above, mark, _ = tags.get(NOTE_TAG, "").partition(MARK)
    before = (above.rpartition("\n")[0] if mark else above).rstrip()
    links = [f"[Report](runs/{run_id}/artifacts/{report})"] * bool(report)
    links += [f"[{summary.subject}](runs/{run_id})", f"[all comparisons](runs?searchFilter={quote(_ALL)})"]
    at = summary.job.ended
    link = f"{_time(at)}: {', '.join(links)}"
    link = linked(opened, "\n".join([link, *_earlier(opened, run_id)]))
    room = LONGEST - len(before) - len(link)
    if at < float(tags.get(TIME_TAG, 0)) or room < _LEAST:
        return
    first, *rest = linked(opened, summary.text).split("\n")
    # plain, as MLflow's list shows its signs
    first = f"Newest: {first.strip('*')} {MARK}"
    own = shortened([first, *rest], "the comparison's run", room)
    whole = f"{before}\n\n{own}\n\n{link}".lstrip()
    opened.client.set_experiment_tag(opened.experiment_id, NOTE_TAG, whole)
    opened.client.set_experiment_tag(opened.experiment_id, TIME_TAG, f"{at:.3f}")


def _earlier(opened: Opened, run_id: str) -> list[str]:
    """Return the first lines of the newest comparisons but one, each with the time and a link to its run."""
    order, n = ["attributes.start_time DESC"], MOST_EARLIER + 1
    runs = opened.client.search_runs([opened.experiment_id], _ALL, order_by=order, max_results=n)
    lines = []
    for run in [run for run in runs if run.info.run_id != run_id][:MOST_EARLIER]:
        first = run.data.tags.get(NOTE_TAG, "").partition("\n")[0].strip("*")
        lines.append(f"- [{_time(run.info.start_time / 1000)}](runs/{run.info.run_id}): {first}")
    return ["", "Earlier:", "", *lines] if lines else []


def _time(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"


def linked(opened: Opened, text: str) -> str:
    """Return Markdown whose links, such as ``[svd](runs/ID)``, lead to runs of the experiment."""
    page = rf"](#/experiments/{opened.experiment_id}/runs\1?{MODEL_TRAINING}"
    return re.sub(r"\]\(runs([^?)]*)", page, text).replace(f"{MODEL_TRAINING}?", f"{MODEL_TRAINING}&")

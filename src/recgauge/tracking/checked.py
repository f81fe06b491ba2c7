"""What a check leaves in a store: tags and files of the candidate's run, and the looks at test rows."""

from collections.abc import Mapping

from recgauge.checks.looks import Look
from recgauge.errors import SchemaError
from recgauge.tracking.store import Store, explained
from recgauge.tracking.stored import RunStore

OUTCOME_TAG, TEST_TAG, LOOK_TAG = "recgauge.check", "recgauge.check.test_sha256", "recgauge.check.look"
FOLDER = "check"
"""Of the files among a run's artifacts."""


def looks_in(uri: str, test_sha256: str) -> list[Look]:
    """Return the looks at test rows that the runs of a store carry, whatever their experiment."""
    store = RunStore(uri)
    runs = [
        run
        for experiment in store.experiments()
        for run in store.runs(experiment, f"tags.`{TEST_TAG}` = '{test_sha256}'")
    ]
    runs.sort(key=lambda run: run.info.start_time or 0)
    return [look for run in runs if (look := _look(run.data.tags.get(LOOK_TAG, ""))) is not None]


def record_check(uri: str, run_id: str, look: Look, files: Mapping[str, str]) -> None:
    """Write a check into the candidate's run: its tags, and its files as artifacts."""
    store = Store(uri)
    tags = {OUTCOME_TAG: look.outcome, TEST_TAG: look.test_sha256, LOOK_TAG: look.to_json()}
    client = RunStore(uri).client()
    with explained(store, f"write the check into run {run_id}"):
        for name, text in files.items():
            client.log_text(run_id, text, f"{FOLDER}/{name}")
        for tag, value in tags.items():
            client.set_tag(run_id, tag, value)


def _look(text: str) -> Look | None:
    """Return the look of a tag, None of what somebody else has written."""
    try:
        return Look.from_json(text)
    except SchemaError:
        return None

"""Which files of a run may be passed on, and its record without secrets and without this machine's places."""

import re
from dataclasses import replace
from pathlib import Path
from shutil import copyfile

from recgauge.runs.record import RunRecord
from recgauge.runs.stored import LISTS, PER_USER
from recgauge.sweeps.artifacts import CONVENTIONS, write_record
from recgauge.utils.secrets import without_secrets

FILES = (LISTS, PER_USER, CONVENTIONS, "precision_recall.parquet", "roc.parquet", "data_card.json")
"""Files without rows of the data set."""
_HOMES = r"(?:/home/|/Users/|[A-Za-z]:(?:\\+|/)Users(?:\\+|/))[^/\\\s\"'<>|]+"


def write_public_run(source: Path, record: RunRecord, target: Path) -> None:
    """Write the folder of a run as it may be passed on: without rows, secrets and this machine's places."""
    for name in FILES:
        if (source / name).is_file():
            copyfile(source / name, target / name)
    write_record(_public_record(record), target)


def _public_record(record: RunRecord) -> RunRecord:
    """Return a record without secrets, user names, stores and folders of this machine."""
    settings = {key: node for key, node in record.settings.items() if key not in ("tracking", "data")}
    dataset = dict(settings.get("dataset") or {})
    dataset |= {name: None for name in ("mirror", "cache", "archive") if name in dataset}
    match dataset.get("path"):
        case str(path):
            dataset["path"] = Path(path).name
        case list(paths):
            dataset["path"] = [Path(str(path)).name for path in paths]
    job = record.job and replace(record.job, user="", sweep="", store={})
    public = replace(record, settings=without_secrets(settings | {"dataset": dataset}), command="", job=job)
    home = str(Path.home())
    own = rf"{re.escape(home)}(?![\w.-])|" if len(home) > 1 else ""
    return RunRecord.from_json(re.sub(own + _HOMES, "~", public.to_json()))

"""Which files of a run may be passed on, and its record without secrets and without this machine's places."""

import re
import shlex
from dataclasses import replace
from pathlib import Path
from shutil import copyfile

import pyarrow.parquet as pq

from recgauge.runs.folder import HITS
from recgauge.runs.record import JobFacts, RunRecord
from recgauge.runs.stored import LISTS, PER_USER, PREDICTIONS, TEST, read_table
from recgauge.sweeps.artifacts import CONVENTIONS
from recgauge.utils.secrets import without_secrets

PREDICTED = "predicted.parquet"
"""Predictions without users, items and ratings; who has the data draws the split again, and so knows them."""
_ROWS = (TEST, HITS, PREDICTIONS)
"""Files with held-out rows of the data set."""
FILES = (
    *(LISTS, PER_USER, *_ROWS, CONVENTIONS, "precision_recall.parquet", "roc.parquet"),
    *("data_card.json", "data_card.md"),
)
_OPEN = re.compile(r"(MIT|CC0|PDDL|ODC-By|ODbL|public domain|CC[ -]BY(-SA)?)\b(?![ -]?N)", re.IGNORECASE)
"""Licences that let anybody pass rows on; not those "for non-commercial use" or "without derivatives"."""
_PLACES = ("mirror", "cache", "archive")
_HOMES = r"(?:/home/|/Users/|[A-Za-z]:(?:\\+|/)Users(?:\\+|/))[^/\\\s\"'<>|]+"


def may_share_rows(record: RunRecord) -> bool:
    """Whether the licence of a run's data set lets anybody pass its rows on."""
    return _OPEN.match(record.dataset.licence) is not None


def copy_public_files(source: Path, target: Path, record: RunRecord) -> None:
    """Copy the files of a run that may be passed on; predictions without their rows if these may not."""
    is_open = may_share_rows(record)
    for name in FILES:
        if (source / name).is_file() and (is_open or name not in _ROWS):
            copyfile(source / name, target / name)
    if (source / PREDICTIONS).is_file() and not is_open:
        predictions = read_table(source / PREDICTIONS, ["predicted", "impossible"])
        pq.write_table(predictions, target / PREDICTED, compression="zstd")


def public_record(record: RunRecord) -> RunRecord:
    """Return a record without secrets, user names, stores and folders of this machine."""
    settings = {key: node for key, node in record.settings.items() if key not in ("tracking", "data")}
    dataset = dict(settings.get("dataset") or {})
    dataset |= {name: None for name in _PLACES if name in dataset}
    if isinstance(path := dataset.get("path"), (str, list)):
        dataset["path"] = (
            Path(path).name if isinstance(path, str) else [Path(str(part)).name for part in path]
        )
    job = record.job and JobFacts(
        record.job.name, record.job.started, record.job.ended, experiment=record.job.experiment
    )
    public = replace(
        record,
        settings=without_secrets(settings | {"dataset": dataset}),
        command=_public_command(record),
        job=job,
    )
    return RunRecord.from_json(_without_homes(public.to_json()))


def _public_command(record: RunRecord) -> str:
    """Return the command without words that say where this machine has data and results."""
    machine = ("tracking", "data.", "hydra.", *(f"dataset.{name}=" for name in _PLACES))
    try:
        words = shlex.split(record.command)
    except ValueError:
        return ""
    return shlex.join(without_secrets([word for word in words if not word.lstrip("+").startswith(machine)]))


def _without_homes(text: str) -> str:
    home = str(Path.home())
    own = rf"{re.escape(home)}(?![\w.-])|" if len(home) > 1 else ""
    return re.sub(own + _HOMES, "~", text)

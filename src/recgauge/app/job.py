"""From the settings of a job to a job that can be performed."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from recgauge.app.compose import build_study, build_tracker
from recgauge.app.files.list_files import check_study
from recgauge.app.names import chosen_names
from recgauge.app.targets import allowed_packages, check_targets
from recgauge.app.terminal.secrets import learn_settings, without_secrets
from recgauge.app.tracking.tracker import Tracker
from recgauge.app.tune import check_tuning
from recgauge.runs.facts import SearchFacts
from recgauge.runs.settings import RunSettings
from recgauge.studies import Study


@dataclass(frozen=True)
class Job:
    """A job whose settings have been checked.

    Parameters
    ----------
    typed : RunSettings
        The settings as components get them.
    settings : dict of str to Any
        The same as plain values without secrets, for what is stored.
    names : dict of str to str
        The chosen option of each group.
    words : list of str
        The overrides as they were typed.
    grid : str or None
        The chosen experiment, whose runs are found by a tag of its own.
    study : Study or None
    tracker : Tracker
    folder : Path
        Gets the files.
    sweep : Path or None
        The folder of the sweep that the job is one of.
    search : SearchFacts or None
        The search that chose the model's settings.
    delivery : str
        Tells the job's run from all others, if the store gets it in several attempts.
    """

    typed: RunSettings
    settings: dict[str, Any]
    names: dict[str, str]
    words: list[str]
    grid: str | None
    study: Study | None
    tracker: Tracker
    folder: Path
    sweep: Path | None
    search: SearchFacts | None = None
    delivery: str = field(default_factory=lambda: uuid4().hex)

    @property
    def leaves_out(self) -> bool:
        """Whether metrics that the model cannot be measured by are left out rather than refused."""
        return self.sweep is not None or "all" in self.names["metrics"].split("+")

    @property
    def may_reuse(self) -> bool:
        """Whether a finished run of the store may take its place."""
        return self.typed.reuse and not self.typed.force


def prepare(
    typed: RunSettings, words: list[str], choices: dict[str, Any], *, folder: Path, sweep: Path | None
) -> Job:
    """Check the settings of a job, and build what decides how it goes.

    Parameters
    ----------
    typed : RunSettings
    words : list of str
        The overrides as they were typed.
    choices : dict of str to Any
        The chosen option of each group, as far as Hydra knows it.
    folder, sweep : Path
        See `Job`.

    Raises
    ------
    RecgaugeError
        If a setting cannot be used.
    """
    plain = asdict(typed)
    check_targets(plain, allowed_packages(typed.allowed_targets))
    learn_settings(plain)  # an error may show a password in another form
    study = build_study(typed.study, typed.allowed_targets)
    if typed.tune is not None:
        check_tuning(typed)
    check_study(typed.artifacts.lists, () if study is None else study.artifacts)
    return Job(
        typed=typed,
        settings=without_secrets(plain),
        names=chosen_names(choices, words, typed),
        words=words,
        grid=choices.get("experiment"),
        study=study,
        tracker=build_tracker(typed.tracking),
        folder=folder,
        sweep=sweep,
    )

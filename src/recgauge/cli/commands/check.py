"""``recgauge check --candidate A --baseline B``: may A replace B, by rules; the exit code says it."""

from argparse import ArgumentParser, Namespace
from dataclasses import dataclass, replace
from functools import partial
from os.path import lexists
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from recgauge.checks.checking import Side, judge, read_side
from recgauge.checks.looks import read_looks, write_look
from recgauge.checks.rules import Rules
from recgauge.cli.commands.options import (
    add_allowed,
    add_directions,
    add_store,
    say,
    store_uri,
    users_of,
    write_out,
)
from recgauge.cli.commands.reading import (
    add_policy_options,
    add_reading_options,
    convention_of,
    reading_of,
    refused_findings,
)
from recgauge.cli.run_data import load_data
from recgauge.errors import ConfigError, RecgaugeError, TrackingError, listed
from recgauge.metrics.names import label
from recgauge.report.check_tables import check_blocks, check_json, check_junit, check_markdown, check_page
from recgauge.report.console import output, render_terminal, shown_path
from recgauge.runs.folder import file_digest
from recgauge.runs.stored import TEST
from recgauge.sweeps.places import conf_folder, work_folder
from recgauge.tracking import (
    Registered,
    Store,
    find_runs,
    looks_in,
    promote,
    record_check,
    registered_run,
    stored_run,
)
from recgauge.tracking.registry import FOLDER, OUTCOME_TAG
from recgauge.utils.files import check_formats, text_writer
from recgauge.utils.messages import print_error

if TYPE_CHECKING:
    from recgauge.checks.checking import CheckResult
    from recgauge.checks.looks import Look

SHOWN, WORSE, WRONG_USE, UNDECIDED, NOT_PROMOTED = 0, 1, 2, 3, 4
_WRITERS = {".md": check_markdown, ".xml": check_junit, ".json": check_json, ".html": check_page}
_LOOKS = "looks.jsonl"
_TRACKED = ("check.md", "check.json")
_SOURCE = """id or folder of a run, models:/NAME@ALIAS, a table of users' values (.csv, .parquet), or, with
--truth, a file of lists"""
_CODES = f"""exit codes: {SHOWN} all rules are shown, {WORSE} something is worse, {UNDECIDED} undecided,
{WRONG_USE} nothing could be judged, or the check not be kept, {NOT_PROMOTED} all are shown, none promoted."""


def add_check_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``check``."""
    parser.epilog = _CODES
    add: Any = parser.add_argument
    add("--candidate", metavar="RUN", required=True, help=_SOURCE)
    add("--baseline", metavar="RUN", required=True, help="what it is to replace; likewise")
    rules = "YAML (default: check.yaml here, else one rule: ndcg@10 by 2%%)"
    files: Any = {"metavar": "FILE", "nargs": "+", "default": []}
    add("--rules", metavar="FILE", type=Path, help=rules)
    add("--truth", **files, help="relevant items, where both are files of lists")
    add("--train", **files, help="who had what in training, likewise")
    add("--conventions", metavar="NAME", default="standard", help="whose definitions, of lists")
    add("--keep", metavar="FINDING", nargs="+", default=[], help="of odd lists, as in recgauge evaluate")
    add_policy_options(parser)
    add("--relevant-from", metavar="GRADE", type=float, help="lower grades of the truth are not relevant")
    add_reading_options(parser)
    users = "your table of users: user_id, columns that segments name"
    add("--users", metavar="TABLE", type=Path, help=users)
    add_directions(parser)
    promote = "move models:/NAME@ALIAS (default: the baseline's)"
    add("--promote", metavar="MODEL", nargs="?", const="", help=promote)
    add_store(parser)
    add_allowed(parser)
    add("--out", **files, type=Path, help=f"also write {', '.join(_WRITERS)}")


def run_check(options: Namespace) -> int:
    """Judge, print, write, track and promote; return the exit code."""
    try:
        check_formats(options.out, tuple(_WRITERS))
        model = None if options.promote is None else _target(options)
        rules = _rules(options)
        candidate, baseline = _of_lists(options, rules) if options.truth else _of_runs(options)
        store = _Store.of(options, candidate)
        users = users_of(options)
        before = store.looks(baseline.test_sha256)
        load = partial(load_data, trusted=options.allow)
        result = judge(candidate, baseline, rules, users=users, looks=before, load=load)
        render_terminal(check_blocks(result), output())
        write_out({file: text_writer(_WRITERS[file.suffix](result)) for file in options.out})
        store.write(result)
    except RecgaugeError as error:
        print_error(str(error))
        return WRONG_USE
    code = SHOWN if result.passed else WORSE if result.outcome == "worse" else UNDECIDED
    return code if model is None else _promoted(result, model, store) or code


@dataclass(frozen=True)
class _Store:
    """Where checks are kept: in the candidate's run of a tracking store, else in a file."""

    uri: str
    run_id: str | None
    file: Path | None

    @classmethod
    def of(cls, options: Namespace, candidate: Side) -> Self:
        uri, run_id = store_uri(options), candidate.run_id
        if run_id is not None and (not (store := Store(uri)).exists or stored_run(store, run_id) is None):
            run_id = None  # a folder that another store has
        return cls(uri, run_id, work_folder() / "outputs" / _LOOKS if run_id is None else None)

    def looks(self, test_sha256: str) -> "list[Look]":
        """Return the earlier checks."""
        return looks_in(self.uri, test_sha256) if self.file is None else read_looks(self.file)

    def write(self, result: "CheckResult") -> None:
        """Keep a check and print where; TrackingError if it cannot be kept."""
        try:
            if self.file is not None:
                write_look(self.file, result.look)
                say(f"looks    {shown_path(self.file)}")
            if self.run_id is not None:
                texts = {name: _WRITERS[Path(name).suffix](result) for name in _TRACKED}
                record_check(self.uri, self.run_id, result.look, texts)
                say(f"tracked  run {self.run_id}, tag {OUTCOME_TAG}, files in {FOLDER}/")
        except (TrackingError, OSError) as error:
            raise TrackingError(f"the check is not kept, so later ones do not count it: {error}") from error


def _rules(options: Namespace) -> Rules:
    """Return the rules of `--rules`, of the current folder, or the default ones."""
    here = [Path(name) for name in ("check.yaml", "check.yml") if lexists(name)]
    default = here[0] if here else conf_folder() / "check" / "default.yaml"
    rules = Rules.of(options.rules or default)
    return replace(
        rules,
        lower_is_better=(*rules.lower_is_better, *options.lower_is_better),
        higher_is_better=(*rules.higher_is_better, *options.higher_is_better),
    )


def _of_runs(options: Namespace) -> list[Side]:
    return [_side(getattr(options, role), role, options) for role in ("candidate", "baseline")]


def _side(source: str, role: str, options: Namespace) -> Side:
    uri = store_uri(options)
    if source.startswith("models:/"):
        source = registered_run(uri, Registered.of(source))
    elif Path(source).is_file():
        return read_side(Path(source), role)
    elif not Path(source).is_dir() and (len(source) != 32 or set(source) - set("0123456789abcdef")):
        raise ConfigError(
            f"--{role}: {source} is no folder, no file, and no run's id. Give the folder or the id of a run, "
            "models:/NAME@ALIAS, or a table of users' values."
        )
    runs, _ = find_runs([source], uri, experiment=options.experiment, files=(TEST,))
    return read_side(runs, f"--{role}")


def _of_lists(options: Namespace, rules: Rules) -> list[Side]:
    """Return two files of lists, measured by the metrics of the rules."""
    from recgauge.evaluation.measured import list_settings, measure_recorded  # these take long to import
    from recgauge.evaluation.recorded_runs import measures_ratings, parse_metrics
    from recgauge.recorded import read_recorded
    from recgauge.report.measured_lists import grade_lines

    if costs := [rule.path for rule in rules.rules if rule.kind == "cost"]:
        raise ConfigError(f"{costs[0]}: files of lists do not say what they took.")
    for role in ("candidate", "baseline"):
        if not Path(path := getattr(options, role)).is_file():
            raise ConfigError(f"--{role}: there is no file {path}. With --truth, give a file of lists.")
    suite = parse_metrics(",".join(map(label, rules.keys)))
    convention = convention_of(options)
    refused = refused_findings(options)
    settings = list_settings(suite, convention, refuse=refused, keep=options.keep, seen=options.seen)
    recorded = read_recorded(
        [options.candidate, options.baseline],
        options.truth,
        options.train,
        settings=settings,
        ratings=measures_ratings(suite),
        relevant_from=options.relevant_from,
        **reading_of(options),
    )
    for warning in recorded.warnings:
        say(f"warning  {warning}")
    if len(recorded.runs) != 2:
        names = listed(run.name for run in recorded.runs)
        raise ConfigError(f"--candidate, --baseline: expected a run in each file, got {names}.")
    measured = measure_recorded(
        recorded, suite, convention, settings, relevant_from=options.relevant_from, seen=options.seen
    )
    for line in grade_lines(measured):
        say(line)
    digest = " ".join(file_digest(Path(path)) for path in options.truth)
    return [
        replace(read_side(evaluation, name, name), test_sha256=digest)
        for name, evaluation in measured.results.items()
    ]


def _target(options: Namespace) -> Registered:
    """Return the alias that is to be moved."""
    address = options.promote or options.baseline
    if not address.startswith("models:/") or not (model := Registered.of(address)).alias:
        raise ConfigError(
            f"--promote: {address} is no alias of a registered model. Write --promote models:/NAME@ALIAS, or "
            "give such a baseline."
        )
    return model


def _promoted(result: "CheckResult", model: Registered, store: _Store) -> int:
    """Move the alias if all rules are shown, and print it or the reason; 0 if nothing failed."""
    if result.outcome != "shown":
        say(f"promoted nothing: {model} stays, since not all rules are shown")
        return 0
    try:
        if store.run_id is None:
            raise ConfigError(f"the candidate is no tracked run of {store.uri}.")
        say(f"promoted {promote(store.uri, model, store.run_id)}")
    except RecgaugeError as error:
        print_error(f"not promoted, {model} stays: {error}")
        return NOT_PROMOTED
    return 0

"""``recgauge check --candidate A --baseline B``: may A replace B, by rules; the exit code says it."""

from argparse import ArgumentParser, Namespace
from dataclasses import replace
from functools import partial
from os.path import lexists
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recgauge.checks.checking import Side, check, read_side
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

SHOWN, WORSE, WRONG_USE, UNDECIDED, NOT_PROMOTED = 0, 1, 2, 3, 4
_WRITERS = {".md": check_markdown, ".xml": check_junit, ".json": check_json, ".html": check_page}
_LOOKS = Path("outputs", "looks.jsonl")
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
    """Judge, print, write, track and promote; return the exit code.

    Examples
    --------
    recgauge check --candidate new.csv --baseline old.csv --truth test.csv
        two files of lists
    recgauge check --candidate RUN_ID --baseline RUN_ID --rules check.yaml
        two runs, by your rules
    """
    try:
        check_formats(options.out, tuple(_WRITERS))
        model = None if options.promote is None else _target(options)
        rules = _rules(options)
        candidate, baseline = _of_lists(options, rules) if options.truth else _of_runs(options)
        run_id, uri, users = _tracked_id(options, candidate), store_uri(options), users_of(options)
        looks = read_looks(work_folder() / _LOOKS) if run_id is None else looks_in(uri, baseline.test_sha256)
        load = partial(load_data, trusted=options.allow)
        result = check(candidate, baseline, rules, users=users, looks=looks, load=load)
        render_terminal(check_blocks(result), output())
        write_out({file: text_writer(_WRITERS[file.suffix](result)) for file in options.out})
        _keep(result, run_id, uri)
    except RecgaugeError as error:
        print_error(str(error))
        return WRONG_USE
    code = SHOWN if result.passed else WORSE if result.outcome == "worse" else UNDECIDED
    return code if model is None else _promoted(result, model, run_id, uri) or code


def _tracked_id(options: Namespace, candidate: Side) -> str | None:
    """Return the id of the candidate's run, None where the tracking store has none."""
    store, run_id = Store(store_uri(options)), candidate.run_id
    has_run = run_id is not None and store.exists and stored_run(store, run_id) is not None
    return run_id if has_run else None


def _keep(result: "CheckResult", run_id: str | None, uri: str) -> None:
    """Keep a check in the candidate's run, else in a file, and print where; TrackingError if it cannot be."""
    try:
        if run_id is None:
            write_look(file := work_folder() / _LOOKS, result.look)
            say(f"looks    {shown_path(file)}")
        else:
            texts = {name: _WRITERS[Path(name).suffix](result) for name in _TRACKED}
            record_check(uri, run_id, result.look, texts)
            say(f"tracked  run {run_id}, tag {OUTCOME_TAG}, files in {FOLDER}/")
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
    from recgauge.evaluation.recorded_runs import measures_ratings
    from recgauge.recorded import read_recorded
    from recgauge.report.measured_lists import grade_lines

    for role in ("candidate", "baseline"):
        if not Path(path := getattr(options, role)).is_file():
            raise ConfigError(f"--{role}: there is no file {path}. With --truth, give a file of lists.")
    metrics = [*map(label, rules.keys)]
    convention = convention_of(options)
    refused = refused_findings(options)
    settings = list_settings(metrics, convention, refuse=refused, keep=options.keep, seen=options.seen)
    recorded = read_recorded(
        [options.candidate, options.baseline],
        options.truth,
        options.train,
        settings=settings,
        ratings=measures_ratings(metrics),
        relevant_from=options.relevant_from,
        **reading_of(options),
    )
    for warning in recorded.warnings:
        say(f"warning  {warning}")
    if len(recorded.runs) != 2:
        names = listed(run.name for run in recorded.runs)
        raise ConfigError(f"--candidate, --baseline: expected a run in each file, got {names}.")
    measured = measure_recorded(
        recorded, metrics, convention, settings, relevant_from=options.relevant_from, seen=options.seen
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


def _promoted(result: "CheckResult", model: Registered, run_id: str | None, uri: str) -> int:
    """Move the alias if all rules are shown, and print it or the reason; 0 if nothing failed."""
    if result.outcome != "shown":
        say(f"promoted nothing: {model} stays, since not all rules are shown")
        return 0
    try:
        if run_id is None:
            raise ConfigError(f"the candidate is no tracked run of {uri}.")
        say(f"promoted {promote(uri, model, run_id)}")
    except RecgaugeError as error:
        print_error(f"not promoted, {model} stays: {error}")
        return NOT_PROMOTED
    return 0

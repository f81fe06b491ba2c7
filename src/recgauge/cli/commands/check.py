"""``recgauge check --candidate A --baseline B``: may A replace B, by rules; the exit code says it."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from os.path import lexists
from pathlib import Path
from typing import Any

from recgauge.checks.checking import CheckResult, Side, check, read_side
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
from recgauge.cli.commands.reading import add_reading_options, reading_of
from recgauge.cli.run_data import load_data
from recgauge.errors import ConfigError, RecgaugeError, listed
from recgauge.metrics.names import label
from recgauge.report.check_tables import check_blocks, check_page
from recgauge.report.console import output, render_terminal, shown_path
from recgauge.runs.folder import file_digest
from recgauge.runs.stored import TEST
from recgauge.sweeps.places import conf_folder, work_folder
from recgauge.tracking.finding import find_runs, stored_run
from recgauge.tracking.registry import (
    FOLDER,
    OUTCOME_TAG,
    Registered,
    looks_in,
    promote,
    record_check,
    registered_run,
)
from recgauge.tracking.store import Store
from recgauge.utils.files import check_formats, text_writer
from recgauge.utils.messages import print_error

SHOWN, WORSE, WRONG_USE, UNDECIDED = 0, 1, 2, 3
_WRITERS: dict[str, Callable[[CheckResult], str]] = {
    ".md": lambda result: f"{result.to_markdown()}\n",
    ".xml": CheckResult.to_junit,
    ".json": CheckResult.to_json,
    ".html": check_page,
}
_LOOKS = Path("outputs", "looks.jsonl")
_TRACKED = ("check.md", "check.json")
_SOURCE = """id or folder of a run, models:/NAME@ALIAS, a table of users' values (.csv, .parquet), or, with
--truth, a file of lists"""
_CODES = f"""exit codes: {SHOWN} all rules are shown, {WORSE} something is worse, {UNDECIDED} undecided,
{WRONG_USE} nothing could be judged, or the check not be kept, or the alias not be moved."""


def add_check_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``check``."""
    parser.usage, parser.epilog = "%(prog)s --candidate RUN --baseline RUN [OPTION ...]", _CODES
    add: Any = parser.add_argument
    add("--candidate", metavar="RUN", required=True, help=_SOURCE)
    add("--baseline", metavar="RUN", required=True, help="what it is to replace; likewise")
    rules = "YAML (default: check.yaml here, else one rule: ndcg@10 by 2%%)"
    files: Any = {"metavar": "FILE", "nargs": "+", "default": []}
    add("--rules", metavar="FILE", type=Path, help=rules)
    add("--truth", **files, help="relevant items, where both are files of lists")
    add("--train", **files, help="who had what in training, likewise")
    add("--conventions", metavar="NAME", default="standard", help="whose definitions, of lists")
    add("--relevant-from", metavar="GRADE", type=float, help="lower grades of the truth are not relevant")
    add("--keep", metavar="FINDING", nargs="+", default=[], help="of odd lists, as in recgauge evaluate")
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
        if model is not None:
            _promote(result, model, run_id, uri)
    except (RecgaugeError, OSError) as error:
        print_error(str(error))
        return WRONG_USE
    return SHOWN if result.passed else WORSE if result.outcome == "worse" else UNDECIDED


def _tracked_id(options: Namespace, candidate: Side) -> str | None:
    """Return the id of the candidate's run, None where the tracking store has none."""
    store, run_id = Store(store_uri(options)), candidate.run_id
    has_run = run_id is not None and stored_run(store, run_id) is not None
    return run_id if has_run else None


def _keep(result: CheckResult, run_id: str | None, uri: str) -> None:
    """Keep a check in the candidate's run, else in a file, so that later ones count it; print where."""
    if run_id is None:
        write_look(file := work_folder() / _LOOKS, result.look)
        say(f"looks    {shown_path(file)}")
    else:
        texts = {name: _WRITERS[Path(name).suffix](result) for name in _TRACKED}
        record_check(uri, run_id, result.look, texts)
        say(f"tracked  run {run_id}, tag {OUTCOME_TAG}, files in {FOLDER}/")


def _rules(options: Namespace) -> Rules:
    """Return the rules of `--rules`, of the current folder, or the default ones."""
    own = ("check.yaml", "check.yml", conf_folder() / "check" / "default.yaml")
    rules = Rules.of(options.rules or next(file for file in own if lexists(file)))
    lower, higher = options.lower_is_better, options.higher_is_better
    return replace(
        rules,
        lower_is_better=(*rules.lower_is_better, *lower),
        higher_is_better=(*rules.higher_is_better, *higher),
    )


def _of_runs(options: Namespace) -> list[Side]:
    return [_side(getattr(options, role), role, options) for role in ("candidate", "baseline")]


def _side(source: str, role: str, options: Namespace) -> Side:
    """Read a registered model's run, a table of users' values, or finished runs."""
    uri = store_uri(options)
    if source.startswith("models:/"):
        source = registered_run(uri, Registered.of(source))
    elif Path(source).is_file():
        return read_side(Path(source), role)
    runs, _ = find_runs([source], uri, experiment=options.experiment, files=(TEST,))
    return read_side(runs, f"--{role}")


def _of_lists(options: Namespace, rules: Rules) -> list[Side]:
    """Return two files of lists, measured by the metrics of the rules."""
    from recgauge.conventions import get_convention  # these take long to import
    from recgauge.evaluation.measured import list_settings, measure_recorded
    from recgauge.evaluation.recorded_runs import measures_ratings
    from recgauge.recorded import read_recorded
    from recgauge.report.measured_lists import grade_lines

    metrics, convention = [*map(label, rules.keys)], get_convention(options.conventions)
    settings = list_settings(metrics, convention, keep=options.keep, relevant_from=options.relevant_from)
    recorded = read_recorded(
        [options.candidate, options.baseline],
        options.truth,
        options.train,
        settings=settings,
        ratings=measures_ratings(metrics),
        relevant_from=options.relevant_from,
        option="--candidate/--baseline",
        **reading_of(options),
    )
    if len(recorded.runs) != 2:
        names = listed(run.name for run in recorded.runs)
        raise ConfigError(f"--candidate, --baseline: expected a run in each file, got {names}.")
    measured = measure_recorded(recorded, metrics, convention, settings, relevant_from=options.relevant_from)
    for line in (*(f"warning  {warning}" for warning in recorded.warnings), *grade_lines(measured)):
        say(line)
    digest = " ".join(file_digest(Path(path)) for path in options.truth)
    return [
        replace(read_side(evaluation, name), test_sha256=digest)
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


def _promote(result: CheckResult, model: Registered, run_id: str | None, uri: str) -> None:
    """Move the alias if all rules are shown, and print it, or why it stays."""
    if result.outcome != "shown":
        say(f"promoted nothing: {model} stays, since not all rules are shown")
    elif run_id is None:
        raise ConfigError(f"not promoted, {model} stays: the candidate is no tracked run of {uri}.")
    else:
        say(f"promoted {promote(uri, model, run_id)}")

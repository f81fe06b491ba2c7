"""README.md of a package: what is in it, and a reviewer's questions answered from the records of its runs."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from recgauge.comparison.results import Comparison
from recgauge.comparison.run_groups import headline_keys
from recgauge.errors import listed
from recgauge.report.blocks import escaped, markdown_table
from recgauge.report.comparison_tables import explanation
from recgauge.runs.finished import FinishedRun
from recgauge.runs.record import RunRecord
from recgauge.runs.settings import counted_settings, flat_settings

UNKNOWN = "not known"
MOST_NUMBERS = 8  # of a run that its row shows; the others are in its record
_INTRODUCTION = """\
Made by [recgauge](https://pypi.org/project/recgauge/) {version}, which also checks it:

    recgauge verify PACKAGE.zip          # seconds: every number again from the lists, nothing is trained
    recgauge verify PACKAGE.zip --train  # every run again from its settings

The first compares the digests of all files; loads the data sets (from a mirror, the cache or their
publishers), draws splits and candidates again and compares their digests; computes every metric from the
lists, and the comparison and this page from the values; and names what is not the same to the last digit.
Whether a model gives these lists, the second shows."""
_FILES = (
    ("record.json, config.yaml", "a run: settings, digests, definitions, results, guards, seconds, trials"),
    ("environment.json, guards.json", "versions, machine and commit; what was looked at"),
    ("recommendations.parquet", "the lists"),
    ("ranks.parquet", "instead of lists: the rank of each held-out row's item, in the order of these rows"),
    ("per_user.parquet", "each user's values"),
    (
        "test.parquet, predictions.parquet",
        "held-out rows, where the data set's licence lets anybody pass them on",
    ),
    ("predicted.parquet", "instead of predictions: those of each held-out row, in the order of these rows"),
    ("data_card.json, data_card.md", "what data and split are like"),
    ("comparison.*", "the runs compared: tables for papers"),
    ("SHA256SUMS", "digests of all files; `sha256sum -c SHA256SUMS`"),
)


def package_page(
    jobs: Sequence[FinishedRun],
    compared: Comparison | None,
    notes: Sequence[str],
    *,
    shared: Sequence[bool],
    version: str,
) -> str:
    """Return the page of the runs of a package that a version of recgauge made.

    `shared`: whether the rows of each run's data may be in it.
    """
    records = [job.record for job in jobs]
    datasets = listed(dict.fromkeys(record.names["dataset"] for record in records))
    claims = [] if compared is None else compared.claims
    parts = [
        f"# {len(records)} run{'s' if len(records) > 1 else ''} on {escaped(datasets)}",
        _INTRODUCTION.format(version=version),
        "## Result\n\n" + "\n".join(f"- {escaped(line)}" for line in (*claims, *notes)),
        "## Runs\n\n" + _runs(jobs, records),
        "## Data\n\n" + _data(records, shared),
        "## Splits\n\n" + _splits(records),
        "## Checklist\n\n" + _checklist(records, compared, shared),
        "## Files\n\n" + markdown_table(_FILES, ("file", "what")),
    ]
    return "\n\n".join(parts) + "\n"


def _runs(jobs: Sequence[FinishedRun], records: Sequence[RunRecord]) -> str:
    rows, keys = [], headline_keys(records)[:MOST_NUMBERS]
    for job, record in zip(jobs, records, strict=True):
        search, values = record.search, record.values()
        tuned = "not tuned" if search is None else f"{len(search.trials)} trials, {search.sampler}"
        facts = (
            f"runs/{job.folder.name}",
            record.names["model"],
            _words(record.settings.get("model")),
            tuned,
        )
        rows.append(
            (*facts, str(record.seed), *(f"{values[key]:.4f}" if key in values else "" for key in keys))
        )
    numbers = [key.replace("_at_", "@") for key in keys]
    return _table(rows, ("folder", "model", "settings", "search", "seed", *numbers))


def _data(records: Sequence[RunRecord], shared: Sequence[bool]) -> str:
    rows = []
    for record, is_shared in zip(records, shared, strict=True):
        facts = record.dataset
        where = (
            "held-out rows are in the package" if is_shared else f"not in the package; from {facts.source}"
        )
        counts = f"{facts.n_rows:,} rows, {facts.n_users:,} users, {facts.n_items:,} items"
        rows.append((record.names["dataset"], counts, facts.sha256, facts.provenance, facts.licence, where))
    header = ("data set", "after the filters", "sha256", "provenance", "licence", "rows")
    return _table(rows, header)


def _splits(records: Sequence[RunRecord]) -> str:
    rows = []
    for record in records:
        settings = counted_settings(record.settings)
        split = f"{record.names.get('split', UNKNOWN)}: {_words(settings.get('split'))}; seed={record.seed}"
        filters = ", ".join(name for name, _ in settings["filters"]) or "none"
        for part, facts in record.split.parts.items():
            place = (record.names["dataset"], f"filters: {filters}; {split}")
            rows.append((*place, part, f"{facts.rows:,}", f"{facts.users:,}", facts.sha256))
    return _table(rows, ("data set", "split", "part", "rows", "users", "sha256"))


def _words(settings: Any) -> str:
    if not isinstance(settings, Mapping):
        return "none" if settings is None else str(settings)
    plain = {name: value for name, value in settings.items() if name != "_target_"}
    return ", ".join(f"{name}={value}" for name, value in flat_settings(plain).items())


def _below(name: str, facts: Mapping[str, Any]) -> str:
    """Return what is under a name of the facts of an environment."""
    flat = flat_settings(facts).items()
    return ", ".join(f"{key.partition('.')[2]} {fact}" for key, fact in flat if key.startswith(f"{name}."))


def _table(rows: Iterable[Sequence[str]], header: Sequence[str]) -> str:
    """Return a table with each row once: runs share data and splits."""
    return markdown_table(
        [[escaped(text) for text in row] for row in dict.fromkeys(map(tuple, rows))], header
    )


def _checklist(records: Sequence[RunRecord], compared: Comparison | None, shared: Sequence[bool]) -> str:
    """Answer ACM's questions for badges and those of the field; what no record says is not known."""
    data = "held-out rows are in the package" if all(shared) else "see Data: where from, with digests"
    results = [entry for record in records for entry in record.results]
    definitions = [f"{entry.name}: {re.sub('@[0-9]+', '', entry.definition)}" for entry in results]
    cutoffs = dict.fromkeys(entry.k for entry in results if entry.k is not None)
    answers = {
        "Artifacts available: in an archive, with a DOI?": UNKNOWN,
        "Artifacts evaluated, functional: complete, consistent, can be run?": "`recgauge verify PACKAGE.zip`",
        "Artifacts evaluated, reusable: documented?": "this page, config.yaml of each run, definitions below",
        "Results reproduced: the same numbers from these artifacts?": "`recgauge verify PACKAGE.zip --train`",
        "Results replicated: by others, without them?": UNKNOWN,
        "Are the data available, under which licence?": f"{data}; {_each(records, _licence)}",
        "Is the split stated?": "yes: see Splits, with the digest of each part",
        "Which rows were learned from, which evaluated?": _each(records, _rows),
        "Which items are ranked?": _each(records, _candidates),
        "Are baselines tuned with equal budget?": _budgets(records),
        "Are search space and trials given?": _spaces(records),
        "Were settings selected on validation rows?": _each(records, _selection),
        "How many seeds?": _seeds(records),
        "How are metrics defined?": f"{_texts(definitions)}; cutoffs: {listed(cutoffs) or 'none'}",
        "What of users without relevant items, ties, repeats?": _each(records, lambda r: r.policies),
        "Which statistical test?": _statistics(compared),
        "What did the guards find?": _guards(records),
        "Which version of the code?": _each(records, _code),
        "Which libraries?": _each(records, _libraries),
        "Which hardware?": _each(records, _hardware),
        "How long did training take?": _each(records, _seconds),
        "Whom to ask?": UNKNOWN,
    }
    table = markdown_table(list(answers.items()), ("question", "from the record"))
    return f"{table}\n\nThe first five are ACM's badges (Artifact Review and Badging 1.1)."


def _each(records: Sequence[RunRecord], text: Callable[[RunRecord], str]) -> str:
    return _texts(map(text, records))


def _texts(texts: Iterable[str]) -> str:
    """Return each text once."""
    return escaped("; ".join(text for text in dict.fromkeys(texts) if text) or UNKNOWN)


def _licence(record: RunRecord) -> str:
    return f"{record.names['dataset']}: {record.dataset.licence}"


def _rows(record: RunRecord) -> str:
    return f"fit on {record.fit_on}, evaluated on {record.evaluated_on}"


def _candidates(record: RunRecord) -> str:
    rule = f"candidates={record.names.get('candidates', UNKNOWN)}"
    return f"{rule}: {record.incomparable}" if record.incomparable else rule


def _libraries(record: RunRecord) -> str:
    python = f"Python {record.environment.get('python', UNKNOWN)}"
    return f"{python}, {_below('packages', record.environment) or UNKNOWN}"


def _seconds(record: RunRecord) -> str:
    seconds = record.seconds.get("fit")
    return f"{record.names['model']} {UNKNOWN if seconds is None else f'{seconds:.1f} s'}"


def _budgets(records: Sequence[RunRecord]) -> str:
    budgets = [f"{r.search.budget}, {r.search.sampler}" if r.search else "not tuned" for r in records]
    if set(budgets) == {"not tuned"}:
        return "no run was tuned: all have settings that somebody chose"
    # a model without a search space, such as popularity, lacks no tuning
    nothing = [record.search is None and not record.settings.get("search") for record in records]
    counted = {budget for budget, is_fixed in zip(budgets, nothing, strict=True) if not is_fixed}
    if len(counted) == 1:
        return escaped(
            f"yes: {counted.pop()}" + ("; the others have nothing to tune" if any(nothing) else "")
        )
    names = [record.names["model"] for record in records]
    return "no: " + _texts(f"{name}: {budget}" for name, budget in zip(names, budgets, strict=True))


def _spaces(records: Sequence[RunRecord]) -> str:
    if all(record.search is None for record in records):
        return "there was no search"
    return "yes: search and tune in config.yaml, search.trials in record.json of each run that was tuned"


def _selection(record: RunRecord) -> str:
    if record.search is not None:
        return f"{record.names['model']}: yes, by {record.search.metric} on validation rows"
    chosen = (record.settings.get("guards") or {}).get("selected_on")
    return f"{record.names['model']}: " + (f"on {chosen} rows, as its user says" if chosen else UNKNOWN)


def _seeds(records: Sequence[RunRecord]) -> str:
    seeds = sorted({record.seed for record in records})
    streams = "split, candidates, fit and ties draw from streams of their own made from it"
    return f"{len(seeds)}: {listed(seeds)}; {streams}"


def _statistics(compared: Comparison | None) -> str:
    if compared is None:
        return "none"
    procedure, results = compared.procedure, compared.results
    tests = f"tests: {listed(procedure.tests)}; {procedure.n_resamples:,} resamples, seed {procedure.seed}"
    return escaped(f"{explanation(procedure, results)} {tests}")


def _guards(records: Sequence[RunRecord]) -> str:
    lines = [f"{r.names['model']}: {guard.message}" for r in records for guard in r.guards if guard.fired]
    return escaped("; ".join(dict.fromkeys(lines)) or "nothing to warn of")


def _code(record: RunRecord) -> str:
    facts = record.environment
    commit = facts.get("git_commit")
    place = f"commit {commit}" if commit else "installed"
    changed = ", with changes that are not committed" if facts.get("git_dirty") else ""
    numbers = f"numbers {facts.get('numeric_version', UNKNOWN)}"
    return f"recgauge {facts.get('recgauge', UNKNOWN)}, {numbers}, {place}{changed}"


def _hardware(record: RunRecord) -> str:
    facts = record.environment
    words = [f"{name}: {facts.get(name, UNKNOWN)}" for name in ("platform", "processor", "n_cpus")]
    return f"{', '.join(words)}; kernels: {_below('kernels', facts) or UNKNOWN}; memory, GPU: {UNKNOWN}"

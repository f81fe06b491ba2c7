"""A run as blocks: its numbers, its data and steps, and marks of numbers that mean less."""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from recgauge.data.split import Step
from recgauge.models.recommend import leak_mark
from recgauge.report.blocks import Block, Heading, TableBlock, lines

if TYPE_CHECKING:
    from recgauge.runs.record import MetricValue, RunRecord, SanityFacts

MARK = "\u2020"  # dagger
"""Stands beside numbers that mean less, or something else."""
COUNTS = ("rows", "users", "items")


def run_blocks(record: "RunRecord", notes: Sequence[str] = (), *, brief: bool = False) -> list[Block]:
    """Return a run as blocks: metrics by cutoffs, marks, notes, data and steps; `brief`: the first three."""
    sanity = [] if record.sanity is None else [sanity_table(record.results, record.sanity)]
    cells = {
        entry.key: f"{entry.value:.4f}"
        # short, so that four cutoffs fit 80 columns
        + ("" if entry.stderr is None else f" ± {f'{entry.stderr:.4f}'.removeprefix('0')}")
        for entry in record.results
    }
    return [
        Heading(", ".join(filter(None, [run_title(record), users_words(record)]))),
        by_cutoffs("metric", record.results, cells),
        *([] if brief else [*sanity, *steps_table(record.split.steps)]),
        *lines(mark_lines(record), "marks"),
        *lines([*notes, *([] if brief else run_lines(record))]),
    ]


def run_title(record: "RunRecord") -> str:
    """Return what a run is called: its model and its data."""
    return f"{record.names['model']} on {record.names['dataset']}"


def users_words(record: "RunRecord") -> str:
    """Return whose means the numbers are; empty where a record of an earlier version does not say."""
    coverage = record.coverage
    if coverage is None or coverage.users == coverage.users_evaluated:
        return record.users and f"{record.users} user{'s' if record.users != '1' else ''}"
    of_all = f", {record.dataset.n_users:,} in the data" if few_evaluated(record) else ""
    return f"{record.users} users with {record.evaluated_on} rows{of_all}"


def dropped_words(record: "RunRecord") -> str:
    """Return how many held-out rows no number is of, and why; empty if there are none."""
    coverage = record.coverage
    if coverage is None or not coverage.rows_dropped:
        return ""
    rows = f"{coverage.rows_dropped:,} of {coverage.rows:,} {record.evaluated_on} rows dropped"
    return f"{rows}: {coverage.reasons()}"


def sanity_table(results: "Sequence[MetricValue]", sanity: "SanityFacts") -> TableBlock:
    """Return metrics by cutoffs, each with the value of chance and the best that can be reached."""
    best = {key: _short(value) for key, value in sanity.oracle.items()}
    cells = {key: f"{_short(value)}/{best.get(key, '')}" for key, value in sanity.chance.items()}
    return by_cutoffs("chance/best", results, cells)


def by_cutoffs(title: str, results: "Sequence[MetricValue]", cells: Mapping[str, str]) -> TableBlock:
    """Return metrics by cutoffs, of those results that have a cell by their key."""
    entries = [entry for entry in results if entry.key in cells]
    cutoffs = list(dict.fromkeys(entry.k for entry in entries))
    keys = {(entry.name, entry.k): entry.key for entry in entries}
    rows = tuple(
        (name, *(cells[keys[name, k]] if (name, k) in keys else "" for k in cutoffs))
        for name in dict.fromkeys(entry.name for entry in entries)
    )
    return TableBlock("", (title, *("value" if k is None else f"@{k}" for k in cutoffs)), rows)


def _short(value: float) -> str:
    """Four decimals of small values and three of others, so that four cutoffs fit 80 columns."""
    text = f"{value:.4f}"
    return text.removeprefix("0") if text.startswith("0.") else f"{value:.3f}"


def run_lines(record: "RunRecord") -> list[str]:
    """Return the lines around the table: data, split, what is not in the numbers, seconds."""
    data, counts = record.dataset, record.counts
    parts = ", ".join(f"{name} {part.rows:,} rows" for name, part in record.split.parts.items())
    texts = [
        f"data     {record.names['dataset']}: {data.n_rows:,} rows, {data.n_users:,} users, "
        f"{data.n_items:,} items ({data.provenance})",
        f"split    {record.names['split']}: {parts}",
    ]
    if mark := leak_mark(record.fit_on):
        texts.append(f"marked   {mark}")
    if record.search is not None:
        texts.append(f"tuned    {record.tuned}")
    if record.learned:
        texts.append(f"learned  {learned_line(record)}")
    if dropped := dropped_words(record):
        texts.append(f"coverage {dropped}")
    if "ratings_predicted" in counts:
        texts.append(
            f"ratings  {counts['ratings_predicted']:,} predicted, {counts['ratings_impossible']:,} "
            "impossible (the mean is used instead), "
            f"{counts['ratings_partly_unknown']:,} of an unknown user or item"
        )
    texts.extend(tied_lines([(0, record)], ""))
    texts.extend(f"refused  {name}: {reason}" for name, reason in record.refused.items())
    texts.append("seconds  " + ", ".join(f"{name} {value:.2f}" for name, value in record.seconds.items()))
    return texts


def learned_line(record: "RunRecord") -> str:
    """Return how a model that learns in epochs did on the validation rows, and which epoch was kept."""
    points = record.learned
    seen = [f"{point.epoch}: {point.value:.4f}" for point in points if point.value is not None]
    shown = seen if len(seen) <= 6 else [*seen[:3], "...", *seen[-3:]]
    return (
        f"{len(points)} epochs; {points[0].metric} on validation rows after epoch "
        f"{', '.join(shown)}; the model is that of epoch {record.kept_epoch}"
    )


def mark_lines(record: "RunRecord") -> list[str]:
    """Return the protocol of next items, then marks of numbers that mean less: rows, candidates, guards."""
    texts = next_item_lines(record)
    if record.evaluated_on == "validation":
        texts.append(f"{MARK} numbers of validation rows, for choosing; test rows were not looked at")
    if record.incomparable:
        texts.append(
            f"{MARK} not comparable with full-catalogue numbers: {record.incomparable} "
            f"(candidates={record.names['candidates']})"
        )
    for guard in record.guards:
        if guard.overridden:
            texts.append(f"overridden {guard.name}: {guard.message}")
        elif guard.fired:
            texts.append(f"warning  {guard.name}: {guard.message}")
    if record.ineligible is not None:
        texts.append(f"lists    {record.ineligible.sentence}")
    return texts


def next_item_lines(record: "RunRecord") -> list[str]:
    """Return history, target, seen items, ties and later rows of a split for next items, in a line."""
    split = record.settings.get("split") or {}
    if "history" not in split:
        return []
    shares = {guard.name: f"{guard.value:.1%}" for guard in record.guards}
    history, target = split["history"], split.get("target", f"last {split.get('n')}")
    if record.evaluated_on == "validation" and history == "train_validation":
        history = "train"
    parts = [f"history {history} (of models that take one)", f"target {target}{_targets(record, split)}"]
    if seen := (record.settings.get("candidates") or {}).get("seen"):
        parts.append(f"seen {seen}")
    if "ties_at_cut" in shares:
        parts.append(f"ties {split['ties']} (of {shares['ties_at_cut']} of users)")
    elif str(split.get("ties", "")).startswith("row_order"):
        parts.append("rows in the order of the table, without times")
    if "train_after_test_row" in shares:
        parts.append(f"{shares['train_after_test_row']} of training rows later than a test row")
    return [f"protocol {'; '.join(parts)}"]


def _targets(record: "RunRecord", split: Mapping[str, Any]) -> str:
    """Return which rows are targets, and of how many queries numbers are the mean."""
    text, lowest = "", record.dataset.relevant_from
    if split.get("target") == "successive":
        n_queries = record.counts.get("queries_evaluated", 0)
        text = f" ({n_queries:,} queries, mean over {'users' if split['average'] == 'user' else 'queries'})"
    return text if lowest is None else f"{text}, rated {lowest:g} or more"


def steps_table(steps: "Sequence[Step]", caption: str = "") -> list[TableBlock]:
    """Return all filters, and what the split dropped, with rows, users and items before and after."""
    rows = [
        (_text(step), *(f"{before:,} → {after:,}" for before, after in (step.rows, step.users, step.items)))
        for step in steps
        if step.stage == "filters" or step.dropped_rows or step.note
    ]
    return [TableBlock(caption, ("step", *COUNTS), tuple(rows))] if rows else []


def filter_points(record: "RunRecord") -> list[tuple[str, int, float]]:
    """Return ``(name, step, count)``: rows, users and items after so many filters, from 0 on."""
    filters = [step for step in record.split.steps if step.stage == "filters"]
    counts = [(step.rows[0], step.users[0], step.items[0]) for step in filters[:1]]
    counts += [(step.rows[1], step.users[1], step.items[1]) for step in filters]
    return [
        (f"filters/{kind}", n_filters, float(row[column]))
        for column, kind in enumerate(COUNTS)
        for n_filters, row in enumerate(counts)
    ]


def _text(step: Step) -> str:
    """Say what a step did: what it dropped, and what it made of the values."""
    if step.note and not step.dropped_rows:
        return step.note
    return f"without {step.name}" + (f"; {step.note}" if step.note else "")


def tied_lines(records: "Sequence[tuple[int, RunRecord]]", jobs: str = " [{}]") -> list[str]:
    """Return for whom equal similarities decide which neighbours count, by the job with the most."""
    tied = {
        number: guard
        for number, record in records
        for guard in record.guards
        if guard.name == "ties_of_neighbours" and guard.value
    }
    if not tied:
        return []
    most = max(tied, key=lambda number: tied[number].value)
    named = jobs_words(list(tied)) + f"; most in job {most}" * (len(tied) > 1)
    return [f"ties     {tied[most].message}{jobs.format(named)}"]


def few_evaluated(record: "RunRecord") -> bool:
    """Whether a guard says that the numbers are of few of the users, or rows, that were held out."""
    return any(guard.name == "coverage" and guard.fired for guard in record.guards)


def jobs_words(numbers: Sequence[int]) -> str:
    """Return the numbers of jobs with the word before them; three and more in a row are a range.

    Examples
    --------
    >>> jobs_words([0, 1, 2, 3, 7, 9, 10])
    'jobs 0-3, 7, 9, 10'
    """
    parts: list[str] = []
    for _, row in groupby(enumerate(sorted(numbers)), key=lambda pair: pair[1] - pair[0]):
        first, *rest = [str(number) for _, number in row]
        parts += [f"{first}-{rest[-1]}"] if len(rest) > 1 else [first, *rest]
    return ("job " if len(numbers) == 1 else "jobs ") + ", ".join(parts)


def sweep_mark_lines(
    records: "Sequence[tuple[int, RunRecord]]",
    named: Callable[[Sequence[int]], str] = jobs_words,
) -> list[str]:
    """Return the marks of a sweep's table, each with its jobs, which `named` puts into words.

    A guard's warning that has other numbers in other jobs, such as one per fold, is shown once.
    """
    kinds: dict[str, dict[str, list[int]]] = {}
    for number, record in records:
        for line in mark_lines(record):
            kinds.setdefault(line.partition(":")[0], {}).setdefault(line, []).append(number)
    noted = []
    for kind, jobs_of in kinds.items():
        texts = [f"{line} [{named(numbers)}]" for line, numbers in jobs_of.items()]
        if kind.startswith("warning") and len(texts) > 1:
            rest = sorted(number for numbers in list(jobs_of.values())[1:] for number in numbers)
            texts[1:] = [
                f"{kind}: the same with other numbers; guards.json of each job has them [{named(rest)}]"
            ]
        noted += texts
    return [*noted, *_selection_lines(records, named)]


def _selection_lines(
    records: "Sequence[tuple[int, RunRecord]]", named: Callable[[Sequence[int]], str]
) -> list[str]:
    """Say which jobs differ in a model's settings alone: choosing the best of them is selection on test."""
    groups: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for number, record in records:
        if record.evaluated_on == "validation" or record.search is not None:
            continue
        if record.names["model"] == "recorded":  # another file is another model
            continue
        names = [record.names[name] for name in ("model", "dataset", "split", "candidates")]
        group = (*names, str(record.seed), record.split.test.sha256, _remedy(record))
        settings = str(record.settings.get("model"))
        groups.setdefault(group, {}).setdefault(settings, []).append(number)
    jobs_of: dict[str, list[str]] = {}
    for group, by_settings in groups.items():
        if len(by_settings) > 1:
            line = f"settings of {group[0]} differ and this table is of test rows, so choosing the best of it"
            jobs = named(sorted(job for jobs in by_settings.values() for job in jobs))
            jobs_of.setdefault(f"{line} is selection on test; {group[-1]}", []).append(jobs)
    return [f"warning  selection_on_test: {line} [{'; '.join(jobs)}]" for line, jobs in jobs_of.items()]


def _remedy(record: "RunRecord") -> str:
    if record.split.validation is not None:
        return "choose by the validation rows: evaluate_on=validation, or tune=tpe."
    return "hold out validation rows (split.validation_size=0.1) and choose by those: evaluate_on=validation."

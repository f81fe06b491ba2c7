"""What ``--help`` of a run says: what can be chosen, with the comments of the files in conf/."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import fill

from recgauge.cli.explain import option_files
from recgauge.runs.targets import TARGET
from recgauge.sweeps.places import program

_WIDTH = 80
_LINES = {
    "model": "Models: model=NAME, several with -m model=NAME,NAME",
    "split": "Splits: split=NAME, which rows are held out",
}
"""Groups whose options are shown with a line each."""
_NAMES = {
    "dataset": "what is split; of yours: dataset=table dataset.path=ratings.csv",
    "filters": "rows that are dropped before: filters=[min_rating,n_core]",
    "candidates": "items that may be recommended",
    "metrics": "suites; single metrics, too: metrics=[ndcg@10,recall@20]",
    "conventions": "what the names of metrics mean",
    "tune": "search the model's settings",
    "experiment": "an article's experiment, or one of recgauge's own",
}
"""Groups whose options are named only."""
_SETTINGS = {
    "seed=1": "another draw of everything that is random; -m seed=0,1,2 runs three",
    "cutoffs=[5,10]": "places of the lists that are measured; the largest is their length",
    "model.NAME=VALUE": "a setting of the model; recgauge run model=ease --help lists them",
    "split.NAME=VALUE": "a setting of the split, such as split.test_size=0.1",
    "split.validation_size=0.1": "rows for choosing settings, which tune=tpe needs",
    "tune=tpe tune.trials=20": "settings chosen by validation rows, never by test rows",
    "save_model=true": "store the model for `recgauge recommend`",
    "jobs=2": "runs of a sweep side by side",
    "reuse=true": "do not repeat finished runs",
    "tracking=off": "no MLflow; the output folder has all results",
}
_EXAMPLES = {
    "": "svd on the demo data",
    "-m model=popularity,svd,ease": "three models compared",
    "dataset=ml_100k metrics=[ndcg@10,recall@20]": "real data, two metrics",
}
_OPTIONS = {
    "-m": "run every combination of comma-separated values",
    "--plan": "show the jobs, and what becomes of each; run nothing",
    "--cfg job": "show all settings and their values; run nothing",
    "--config-dir FOLDER": "settings of yours, as model/NAME.yaml",
}


def run_help(words: Sequence[str], own: str | None = None) -> str:
    """Return the help of a run; of words such as ``model=ease``, the settings of these options.

    Parameters
    ----------
    words : sequence of str
        What is typed beside ``--help``.
    own : str, optional
        The user's folder of settings.

    Examples
    --------
    >>> print(run_help(["split=random"]).splitlines()[0])
    split=random: A random share of all rows is held out.
    """
    chosen = [file for word in words for file in _file_of(word, own)]
    if chosen:
        return "\n\n".join(_option_help(group, file) for group, file in chosen)
    return "\n\n".join(_sections(own))


def _file_of(word: str, own: str | None) -> Iterator[tuple[str, Path]]:
    """Yield the group and the file of a word that chooses one option."""
    group, _, name = word.partition("=")
    files = option_files(group, own) if re.fullmatch(r"[\w/]+=\w+", word) else []
    yield from ((group, file) for file in files[::-1] if file.stem == name)


def _option_help(group: str, file: Path) -> str:
    """Return what the file of an option says, its settings under the names that are typed."""
    lines = file.read_text(encoding="utf-8").splitlines()
    about = [line.lstrip("# ") for line in lines if line.startswith("#")]
    settings = [
        f"  {group}.{line}" if re.match(r"\w", line) else f"  {' ' * len(group)} {line}"
        for line in lines
        if line.strip() and not line.startswith(("#", TARGET, "defaults:", "  - "))
    ]
    return "\n".join([fill(f"{group}={file.stem}: {' '.join(about)}", _WIDTH), "", *settings])


def _sections(own: str | None) -> Iterator[str]:
    run = program()
    yield "Train and evaluate recommenders, and track every result."
    yield f"Usage: {run} [GROUP=OPTION] [KEY=VALUE] ..."
    yield _table("Examples", {f"{run} {words}".strip(): text for words, text in _EXAMPLES.items()})
    yield _table("Options", _OPTIONS)
    yield _table("Settings that people change", _SETTINGS)
    for group, title in _LINES.items():
        options = {file.stem: _sentence(file) for file in option_files(group, own)}
        yield _table(title, dict(sorted(options.items())))
    names = [
        fill(
            f"{group} ({text}): {', '.join(file.stem for file in option_files(group, own))}",
            _WIDTH,
            initial_indent="  ",
            subsequent_indent="    ",
        )
        for group, text in _NAMES.items()
    ]
    yield "\n".join(["Other groups", *names])
    yield (
        f"{run} model=ease --help lists the settings of an option.\n"
        f"`{program('ui')}` opens the tracked results in a browser."
    )


def _sentence(file: Path) -> str:
    """Return the first sentence of a file's first comment."""
    comments = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        comments.append(line.lstrip("# "))
    return re.split(r"(?<=[^.])\. |\.$", " ".join(comments))[0]


def _table(title: str, lines: Mapping[str, str]) -> str:
    """Return a title and two columns; a text that is too long goes on below itself."""
    column = min(28, max(map(len, lines))) + 4
    rows = []
    for name, text in lines.items():
        start = f"  {name}".ljust(column)
        if len(start) > column:
            rows.append(start)
            start = " " * column
        rows.append(fill(text, _WIDTH, initial_indent=start, subsequent_indent=" " * column))
    return "\n".join([title, *rows])

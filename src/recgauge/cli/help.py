"""What ``--help`` of a run says: what can be chosen, with the comments of the files in conf/."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import fill, shorten

from recgauge.cli.explain import first_comment, option_files
from recgauge.runs.targets import TARGET
from recgauge.sweeps.places import program

_WIDTH = 80
_EXAMPLES = {
    "": "svd on the demo data",
    "-m model=popularity,svd,ease": "three models compared",
    "dataset=ml_100k 'metrics=[ndcg@10]'": "real data, one metric",
}
_OPTIONS = {
    "-m": "run every combination of comma-separated values",
    "--plan": "show the jobs, and what becomes of each; run nothing",
    "--cfg job": "show all settings and their values; run nothing",
    "--config-dir FOLDER": "settings of yours, as model/NAME.yaml",
}
_SETTINGS = {
    "dataset=table dataset.path=F": "a file of yours; first: recgauge data look F",
    "'metrics=[ndcg@10,recall@20]'": "recgauge conventions standard lists all",
    "seed=1": "another draw of what is random; -m seed=0,1,2",
    "model.NAME=VALUE": "of the model; model=ease --help lists them",
    "split.NAME=VALUE": "of the split; split=random --help lists them",
    "tune=tpe tune.trials=20": "settings by validation rows; docs/tuning.md",
    "tracking=off": "no MLflow; the output folder has all results",
}
_LINES = {
    "model": "Models: model=NAME, several with -m model=NAME,NAME",
    "split": "Splits: split=NAME, which rows are held out",
}
"""Groups whose options are shown with a line each."""
_MORE = {
    "dataset": "`recgauge data list` lists the data sets",
    "conventions": "`recgauge conventions` lists other definitions",
    "experiment": "`recgauge experiments` lists articles' numbers",
    "filters, candidates, tune": "docs/settings.md lists them and every other setting",
}


def run_help(words: Sequence[str], own: str | None = None) -> str:
    """Return the help of a run; of words such as ``model=ease``, their settings, and what tuning tries.

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
    searches = [word.replace("model=", "search=", 1) for word in words if word.startswith("model=")]
    chosen = [_option_help(*file) for word in (*words, *searches) for file in _file_of(word, own)]
    return "\n\n".join(chosen or _sections(own))


def _file_of(word: str, own: str | None) -> Iterator[tuple[str, Path]]:
    """Yield the group and the file of a word that chooses one option."""
    group, _, name = word.partition("=")
    files = option_files(group, own) if re.fullmatch(r"[\w/]+=\w+", word) else []
    yield from ((group, file) for file in files[::-1] if file.stem == name)


def _option_help(group: str, file: Path) -> str:
    """Return what the file of an option says, its settings under the names that are typed."""
    settings = [
        f"  {group}.{line}" if re.match(r"\w", line) else f"  {' ' * len(group)} {line}"
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.strip() and not line.startswith(("#", TARGET, "defaults:", "  - "))
    ]
    about = " ".join(first_comment(file))
    return "\n".join([fill(f"{group}={file.stem}: {about}", _WIDTH), "", *settings])


def _sections(own: str | None) -> Iterator[str]:
    run = program()
    yield f"Usage: {run} [GROUP=OPTION] [KEY=VALUE] ..."
    yield _table("Examples", {f"{run} {words}".strip(): text for words, text in _EXAMPLES.items()})
    yield _table("Options", _OPTIONS)
    yield _table("Settings that people change", _SETTINGS)
    for group, title in _LINES.items():
        # the first sentence of the file's comment
        comments = {file.stem: " ".join(first_comment(file)) for file in option_files(group, own)}
        yield _table(title, {name: re.split(r"(?<=[^.])\. |\.$", text)[0] for name, text in comments.items()})
    yield _table("More", _MORE)


def _table(title: str, lines: Mapping[str, str]) -> str:
    """Return a title and two columns, a line each."""
    column = max(map(len, lines)) + 2
    short = {name: shorten(text, _WIDTH - column - 2, placeholder="…") for name, text in lines.items()}
    rows = (f"  {name:{column}}{text}" for name, text in short.items())
    return "\n".join([title, *rows])

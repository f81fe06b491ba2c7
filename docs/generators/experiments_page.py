"""experiments/README.md: every experiment, its question, and what became of its published numbers."""

from collections import Counter
from pathlib import Path

from recgauge.cli.commands.experiments import experiment_names, question_and_time
from recgauge.studies import read_results
from recgauge.studies.published import MEANINGS, OPEN, REPRODUCED, VERDICTS

_HEAD = """# Experiments: published numbers, run again

{sentence}

Each row of an experiment's results names the number's source, its tolerance with the reason, ours and the
verdict; its page explains what is not reproduced. `recgauge experiments` lists what can be run here, and
`python run.py experiment=NAME` runs one of them ([how experiments work](../docs/experiments.md)).

"""


def counts(folder: Path) -> dict[str, Counter[str]]:
    """Return how often each verdict was given, by experiment; those without published numbers have none."""
    files = {name: folder / name / "results.csv" for name in experiment_names()}
    return {
        name: Counter(row["verdict"] for row in read_results(file) if row.get("verdict"))
        for name, file in files.items()
        if file.is_file()
    }


def sentence(verdicts: dict[str, Counter[str]]) -> str:
    """Return what the first screens say."""
    total = sum(verdicts.values(), Counter())
    return (
        f"{total[REPRODUCED]:,} of {total.total():,} published numbers are reproduced; {total[OPEN]:,} wait, "
        "mostly for models that recgauge does not have."
    )


def experiments_page(folder: Path) -> str:
    """Return the page of all experiments."""
    verdicts = counts(folder)
    header = ["experiment", "question", "numbers", *VERDICTS]
    rows = []
    for name, counted in verdicts.items():
        cells = [f"{counted[verdict]:,}" if counted[verdict] else "" for verdict in VERDICTS]
        number = f"{counted.total():,}" if counted else ""
        rows.append([f"[{name}]({name}/README.md)", question_and_time(name)[0], number, *cells])
    total = sum(verdicts.values(), Counter())
    rows.append(["all", "", f"{total.total():,}", *(f"{total[verdict]:,}" for verdict in VERDICTS)])
    lines = [header, ["---", "---", *["---:"] * (len(header) - 2)], *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    meanings = "\n".join(f"- {verdict}: {meaning}" for verdict, meaning in MEANINGS.items())
    head = _HEAD.format(sentence=sentence(verdicts))
    others = "Experiments without numbers have no publication to meet; their pages answer a question."
    return f"{head}{table}\n\n{others}\n\n{meanings}\n"

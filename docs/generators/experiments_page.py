"""experiments/README.md: every experiment, its question, and what became of its published numbers."""

import re
from collections import Counter
from pathlib import Path

from recgauge.cli.commands.experiments import experiment_names, question_and_time
from recgauge.studies import read_results, results_file
from recgauge.studies.published_table import MEANINGS, OPEN, REPRODUCED, VERDICTS

_HEAD = """# Experiments: published numbers, run again

{sentence}

![Published numbers and ours, by verdict](published_numbers.png)

Each row of an experiment's results names the number's source, its tolerance with the reason, ours and the
verdict; its page explains what is not reproduced. `recgauge experiments` lists what can be run here, and
`recgauge run experiment=NAME` runs one of them ([how experiments work](../docs/experiments.md)).

"""

_RESULT_FILES = (
    "dozens_of_datasets",
    "ease_curve",
    "epinions_tuned",
    "intent_aware_2025",
    "language_model_lists",
    "lod_personalized",
)
"""Experiments on numbers that studies published as files beside their articles."""


def counts(folder: Path) -> dict[str, Counter[str]]:
    """Return how often each verdict was given, by experiment; those without published numbers have none."""
    files = {name: results_file(folder / name) for name in experiment_names()}
    return {
        name: Counter(row["verdict"] for row in read_results(file) if row.get("verdict"))
        for name, file in files.items()
        if file.is_file()
    }


def sentence(verdicts: dict[str, Counter[str]]) -> str:
    """Return what the first screens say."""
    total = sum(verdicts.values(), Counter())
    judged = sum(count for verdict, count in total.items() if verdict != OPEN)
    found = ", ".join(f"{total[verdict]:,} {verdict}" for verdict in VERDICTS[:-1] if total[verdict])
    return f"{judged:,} published numbers are judged: {found}; {total[OPEN]:,} more are open."


def front_page(readme: str, verdicts: dict[str, Counter[str]]) -> str:
    """Return README.md with the sentence of these verdicts."""
    return re.sub(
        r"^[\d,]+ published numbers are judged: .*$", sentence(verdicts), readme, flags=re.MULTILINE
    )


def experiments_page(folder: Path) -> str:
    """Return the page of all experiments: those with published numbers, then those that answer a question."""
    verdicts = counts(folder)
    named = {name: f"[{name}]({name}/README.md)" for name in verdicts}
    questions = {name: question_and_time(name)[0] for name in verdicts}
    counted = {named[name]: (questions[name], found) for name, found in verdicts.items() if found}
    counted["all"] = "", sum(verdicts.values(), Counter())
    rows = [
        ["experiment", "question", "numbers", "reproduced", "others"],
        ["---", "---", "---:", "---:", "---"],
    ]
    for name, (question, found) in counted.items():
        others = [f"{found[verdict]:,} {verdict}" for verdict in VERDICTS[1:] if found[verdict]]
        rows.append([name, question, f"{found.total():,}", f"{found[REPRODUCED]:,}", ", ".join(others)])
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    meanings = "\n".join(f"- {verdict}: {meaning}" for verdict, meaning in MEANINGS.items())
    asked = "\n".join(f"- {named[name]}: {questions[name]}" for name, found in verdicts.items() if not found)
    head = _HEAD.format(sentence=sentence(verdicts))
    files = [name for name in _RESULT_FILES if name in verdicts]
    n_files = sum(verdicts[name].total() for name in files)
    note = (
        f"{n_files:,} of them ({', '.join(files)}) are of result files that studies\n"
        "published beside their articles; how many of these numbers the articles print was not checked."
    )
    return f"{head}{table}\n\n{note}\n\n{meanings}\n\n## Questions without published numbers\n\n{asked}\n"

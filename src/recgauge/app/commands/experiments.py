"""``recgauge experiments``: lists the experiments; ``--run`` runs all whose data can be had."""

from hydra.core.global_hydra import GlobalHydra

from recgauge.app.commands.experiments_known import ExperimentFacts, describe, experiment_names, missing_lines
from recgauge.app.settings import program
from recgauge.app.terminal.console import output

STOPPED = 130  # what shells return for a command that was interrupted


def list_experiments() -> int:
    """Print question, command, data and last results of every experiment; return the exit code."""
    console = output()
    for name in experiment_names():
        facts = describe(name, offline=True)
        console.print(f"\n{name}", style="bold", markup=False)
        for line in _lines(facts):
            console.print(f"  {line}", markup=False, soft_wrap=True)
    return 0


def run_experiments() -> int:
    """Run all experiments whose data can be had, each as ``recgauge run experiment=NAME``.

    Returns
    -------
    int
        0 if all that ran did so without a failure; experiments that are left out since their data are missing
        are named at the end and do not count as failures.
    """
    failed, skipped = [], []
    for name in experiment_names():
        facts = describe(name, offline=False)
        if not facts.is_runnable:
            skipped.append(f"{name}: {'; '.join(missing_lines(list(facts.data.items())))}")
            continue
        output().print(f"\nexperiment={name}", style="bold", markup=False)
        code = _run(name)
        if code == STOPPED:
            return code
        if code:
            failed.append(name)
    console = output()
    console.print(f"\n{len(experiment_names()) - len(failed) - len(skipped)} experiments ran", style="bold")
    for line in skipped:
        console.print(f"skipped  {line}", markup=False)
    for name in failed:
        console.print(f"failed   {name}", markup=False)
    return 1 if failed else 0


def _run(name: str) -> int:
    """Run one experiment in this process, so that libraries are imported once, and return its exit code."""
    from recgauge.app.main import run_command

    GlobalHydra.instance().clear()
    try:
        return run_command([f"experiment={name}"])
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1


def _lines(facts: ExperimentFacts) -> list[str]:
    there = [f"{name} {'present' if reason is None else 'missing'}" for name, reason in facts.data.items()]
    return [
        facts.question,
        f"run      {program()} experiment={facts.name}   {facts.time}",
        f"data     {', '.join(there) or 'none needed'}",
        f"results  {facts.results or 'none yet'}",
    ]

"""What ``recgauge`` says of its commands and conventions, and of words that are none."""

import argparse
import os
import re
import shlex
import subprocess
import sys

import pytest

from recgauge.cli.commands import cli
from recgauge.cli.commands.cli import main


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["comapre"], "comapre: there is no such command. Did you mean compare? Commands: run, "),
        (["-m", "model=svd,ease"], "Write recgauge run -m model=svd,ease."),
        (["model=svd"], "Write recgauge run model=svd."),
        (["-v"], "-v: a command comes first. Did you mean --version? Commands: run, "),
        (["data", "lok"], "lok: there is no such command. Did you mean look? Commands: list, "),
        (["evaluate", "--run", "a.csv", "--test", "b.csv"], "there is no option --test; needed: --truth."),
        (["compare", "--metrisc", "ndcg"], "there is no option --metrisc; nearest: --metrics."),
        (["evaluate", "--cutoffs", "5"], "a metric has its own: --metrics ndcg@5,ndcg@10."),
    ],
)
def test_words_that_are_no_command(words, message, capsys):
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_no_command_shows_the_help(capsys):
    assert main([]) == 0
    printed = capsys.readouterr().out
    assert all(f"\n  {name} " in printed for name in cli.COMMANDS)


@pytest.mark.parametrize("name", sorted(cli.COMMANDS.keys() - {"run"}))
def test_each_command_has_help_with_examples_that_it_takes(name, capsys):
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    examples = re.findall(rf"^  recgauge {name}(.*)$", capsys.readouterr().out, re.MULTILINE)
    assert len(examples) >= 2
    parser = argparse.ArgumentParser()
    getattr(cli.command_module(name), f"add_{name}_options")(parser)
    for words in examples:
        _, rest = parser.parse_known_args(shlex.split(words))
        assert not [word for word in rest if word.startswith("-")]


@pytest.mark.parametrize(
    ("line", "completion"),
    [
        ("recgauge comp", "compare"),
        ("recgauge run -m model=svd,p3", "model=svd,p3alpha"),
        ("recgauge run model=ease model.l2", "model.l2="),
        ("recgauge run tune.tr", "tune.trials="),
    ],
)
def test_a_shell_completes_commands_options_and_settings(line, completion, tmp_path):
    answer = tmp_path / "answer"
    asked = {"COMP_LINE": line, "COMP_POINT": str(len(line)), "COMP_TYPE": "9", "_ARGCOMPLETE": "1"}
    asked |= {"_ARGCOMPLETE_STDOUT_FILENAME": str(answer), "_ARGCOMPLETE_IFS": "\n"}
    subprocess.run([sys.executable, "-m", "recgauge"], env=os.environ | asked, check=True)
    assert answer.read_text().split() == [completion]

"""What ``recgauge`` says of its commands and conventions, and of words that are none."""

import pytest

from recgauge.cli.commands import cli
from recgauge.cli.commands.cli import main


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["comapre"], "comapre: there is no such command. Did you mean compare? Commands: run, "),
        (["Run", "model=svd"], "Run: there is no such command. Did you mean run?"),
        (["-m", "model=svd,ease"], "Write recgauge run -m model=svd,ease."),
        (["model=svd"], "Write recgauge run model=svd."),
        (["--uri", "x"], "--uri: a command comes first. Commands: run, "),
        ([], "name a command: run, "),
    ],
)
def test_words_that_are_no_command(words, message, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_each_command_has_help(capsys):
    for name in cli.COMMANDS.keys() - {"run"}:
        with pytest.raises(SystemExit) as ended:
            cli.main([name, "--help"])
        assert ended.value.code == 0
        assert f"usage: recgauge {name}" in capsys.readouterr().out


def test_a_name_shows_definitions_and_the_versions_that_prove_them(capsys):
    assert main(["conventions", "omnirec"]) == 0
    printed = capsys.readouterr().out
    assert "no_list=skip" in printed
    assert "ideal=k_ones" in printed
    assert "Proven with OmniRec 1.0.0." in printed

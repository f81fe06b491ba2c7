"""What ``recgauge`` says of its commands and conventions, and of words that are none."""

import errno
import zipfile

import pytest

from recgauge.cli.commands import cli
from recgauge.cli.commands.cli import main
from recgauge.conventions import conventions


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


def test_a_disk_that_takes_nothing_more_is_not_the_packages_fault(tmp_path, monkeypatch, command):
    with zipfile.ZipFile(tmp_path / "runs.zip", "w") as archive:
        archive.writestr("package.json", "{}")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(zipfile.ZipFile, "extractall", full)
    code, _, err = command("verify", tmp_path / "runs.zip")
    assert code == 1
    assert "No space left on device" in err
    assert "TMPDIR" in err
    assert "Get the package again" not in err


def test_help_shows_each_command_once_in_three_groups(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["--help"])
    assert ended.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    groups = [place for place, line in enumerate(lines) if line in cli.GROUPS]
    assert len(groups) == 3
    shown = [line.split()[0] for line in lines[groups[0] :] if line.startswith("  ")]
    assert shown == list(cli.COMMANDS)
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("name", sorted(cli.COMMANDS.keys() - {"run"}))
def test_each_command_has_help(name, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main([name, "--help"])
    assert ended.value.code == 0
    assert f"usage: recgauge {name}" in capsys.readouterr().out


def test_names_are_listed(capsys):
    assert main(["conventions"]) == 0
    printed = capsys.readouterr().out
    shown = [line.split()[0] for line in printed.splitlines()[1:]]
    assert shown[: len(conventions())] == list(conventions())


def test_a_name_shows_definitions_and_the_versions_that_prove_them(capsys):
    assert main(["conventions", "omnirec"]) == 0
    printed = capsys.readouterr().out
    assert "no_list=skip" in printed
    assert "ideal=k_ones" in printed
    assert "Proven with OmniRec 1.0.0." in printed


def test_a_typing_error_gets_a_hint(capsys):
    assert main(["conventions", "warprek"]) == 1
    assert "Did you mean warprec?" in capsys.readouterr().err

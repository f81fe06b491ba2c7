"""``recgauge conventions`` without a run: names, definitions, typing errors."""

import pytest

from recgauge.cli.commands.cli import main
from recgauge.conventions import conventions


def test_names_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conventions"]) == 0
    printed = capsys.readouterr().out
    assert [line.split()[0] for line in printed.splitlines()[1 : 1 + len(conventions())]] == list(
        conventions()
    )


def test_a_name_shows_definitions_and_the_versions_that_prove_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["conventions", "omnirec"]) == 0
    printed = capsys.readouterr().out
    assert "no_list=skip" in printed
    assert "ideal=k_ones" in printed
    assert "Proven with OmniRec 1.0.0." in printed


def test_a_typing_error_gets_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conventions", "warprek"]) == 1
    assert "Did you mean warprec?" in capsys.readouterr().err

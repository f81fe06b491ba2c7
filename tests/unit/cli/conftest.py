import pytest

from recgauge.cli.commands.cli import main


@pytest.fixture
def command(capsys):
    """Run a command; returns its exit code, output and error."""

    def run(*words):
        code = main([*map(str, words)])
        return code, *capsys.readouterr()

    return run

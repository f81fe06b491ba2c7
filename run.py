"""Train and evaluate recommenders: ``python run.py model=svd metrics=ranking``; ``--help`` shows more."""

import sys

try:
    from recgauge.cli.main import command_line
except ModuleNotFoundError as error:
    sys.exit(f"{error}. Run `make install`, then activate the environment: source .venv/bin/activate")

if __name__ == "__main__":
    sys.exit(command_line())

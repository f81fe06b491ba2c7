"""``python -m recgauge`` is the ``recgauge`` command."""

import sys

from recgauge.cli.commands.cli import main

if __name__ == "__main__":
    sys.exit(main())

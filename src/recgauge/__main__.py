"""``python -m recgauge`` is the ``recgauge`` command."""

import sys

if not sys.flags.safe_path:
    del sys.path[0]  # the current folder, whose modules would replace those that are imported from here on

from recgauge.cli.commands.cli import main

if __name__ == "__main__":
    sys.exit(main())

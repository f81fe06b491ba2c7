"""Writes src/recgauge/metrics/_index.py: where each metric is, and the suites of conf/metrics."""

import re
import sys
from collections.abc import Mapping
from inspect import isabstract
from pathlib import Path
from textwrap import fill

import recgauge.metrics
from recgauge.metrics import public_classes

HEAD = '''"""Where each metric class is, and what each suite has. Written by `make docs`; do not edit."""
# fmt: off
# ruff: noqa: E501, I001

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
'''
INDEX = Path(recgauge.metrics.__file__).with_name("_index.py")
_LINE = re.compile(r"(\w+): (\w+)(?:\s+#.*)?")


def metric_index(suites: Path) -> str:
    """Return the text of the index.

    Parameters
    ----------
    suites : Path
        The folder conf/metrics. Only files whose every line names a metric by its own name are suites that
        `recgauge.evaluate` knows, too; the others hold definitions of their own.
    """
    classes = sorted(
        (leaf for leaf in public_classes() if leaf.__module__ != "recgauge.metrics.metric"),
        key=lambda leaf: leaf.__name__,
    )
    named = {leaf.name: leaf.__name__ for leaf in classes if not isabstract(leaf)}
    imports = "".join(
        f"    from {leaf.__module__} import {leaf.__name__} as {leaf.__name__}\n"
        for leaf in sorted(classes, key=lambda leaf: (leaf.__module__, leaf.__name__))
    )
    return (
        f"{HEAD}{imports}\n"
        + _table("CLASSES: Mapping[str, str]", {leaf.__name__: leaf.__module__ for leaf in classes})
        + '"""Class to module."""\n\n'
        + _table("NAMES: Mapping[str, str]", dict(sorted(named.items())))
        + '"""Name of a metric to its class."""\n\n'
        + _table("SUITES: Mapping[str, tuple[str, ...]]", _suites(suites))
        + '"""Suites that hold names only, as under conf/metrics."""\n'
    )


def _suites(folder: Path) -> dict[str, str | tuple[str, ...]]:
    found: dict[str, str | tuple[str, ...]] = {}
    for path in sorted(folder.glob("*.yaml")):
        text = path.read_text(encoding="utf-8").splitlines()
        pairs = [_LINE.fullmatch(line) for line in text if line and not line.startswith("#")]
        names = [pair[1] for pair in pairs if pair and pair[1] == pair[2]]
        if len(names) == len(pairs):
            found[path.stem] = tuple(names)
    return found


def _table(declared: str, entries: Mapping[str, str | tuple[str, ...]]) -> str:
    lines = (f"    {_shown(key)}: {_shown(value)},\n" for key, value in entries.items())
    return f"{declared} = {{\n{''.join(lines)}}}\n"


def _shown(value: str | tuple[str, ...]) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    names = fill(
        ", ".join(f'"{name}"' for name in value), 100, initial_indent=" " * 8, subsequent_indent=" " * 8
    )
    return f"(\n{names},\n    )"


def main(suites: str = "conf/metrics") -> None:
    """Write the index of the package.

    Parameters
    ----------
    suites : str
        The folder of the suites, from the repository's root.
    """
    INDEX.write_text(metric_index(Path(suites)), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

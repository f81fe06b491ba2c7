"""Counts the cases behind docs/reliability.md. As a script it brings the page's table up to date."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "reliability.md"
COMMAND = "python tests/fault_counts.py"
AREAS = {
    "a run killed at a rename, a flush to disk or an SQL statement": ["e2e/test_crashes.py"],
    "runs and sweeps that are stopped, or lose their store": [
        "e2e/test_interruptions.py",
        "e2e/test_sweep_faults.py",
    ],
    "a full or write-protected disk": ["e2e/test_full_disk.py"],
    "servers, databases, networks and disks of a store that go away": [
        "server/test_*.py",
        "unit/tracking/test_servers.py",
        "unit/tracking/test_deliver.py",
    ],
    "stored runs that are damaged, or not the job's": ["e2e/test_damaged_runs.py"],
    "downloads that fail, stall or lie; caches that are damaged": [
        "unit/datasets/test_download.py",
        "unit/datasets/test_prepared.py",
        "e2e/test_killed_loads.py",
    ],
    "hostile and broken data files": [
        "unit/datasets/test_hostile_*.py",
        "unit/datasets/test_table_refuses.py",
        "unit/recorded/test_broken_lists.py",
    ],
    "hostile settings, targets that run code, passwords": [
        "*/test_hostile_settings.py",
        "**/test_targets*.py",
        "**/test_probes*.py",
        "**/test_passwords*.py",
        "**/test_secrets*.py",
    ],
    "wrong words on the command line": ["e2e/test_bad_input.py"],
    "libraries in environments of their own that fail, die or answer nonsense": ["unit/isolated/test_*.py"],
    "containers, unknown users, no home folder, other processors": [
        "e2e/test_anywhere.py",
        "e2e/test_every_machine.py",
        "unit/cli/test_places.py",
    ],
}


def table() -> str:
    """Return the table of areas, their test files and the number of cases that pytest finds in them."""
    files = {area: _files(patterns) for area, patterns in AREAS.items()}
    cases = _cases(sorted({path for paths in files.values() for path in paths}))
    lines = ["| area | cases | where |", "| --- | ---: | --- |"]
    for area, paths in files.items():
        names = ", ".join(f"`{path.relative_to(TESTS).as_posix()}`" for path in paths)
        lines.append(f"| {area} | {sum(cases[path] for path in paths)} | {names} |")
    return "\n".join([*lines, f"| together | {sum(cases.values())} | |"])


def page_with(text: str, counted: str) -> str:
    """Return the page with another table between its marks."""
    return re.sub(r"(<!-- cases -->\n).*?(\n<!-- end -->)", rf"\g<1>{counted}\g<2>", text, flags=re.DOTALL)


def _files(patterns: list[str]) -> list[Path]:
    return sorted({path for pattern in patterns for path in TESTS.glob(pattern)})


def _cases(files: list[Path]) -> Counter[Path]:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "-n", "0"]
    names = [str(path.relative_to(TESTS.parent)) for path in files]
    done = subprocess.run(
        [*command, *names], cwd=TESTS.parent, capture_output=True, text=True, check=True, timeout=300
    )
    found = [line.partition("::")[0] for line in done.stdout.splitlines() if "::" in line]
    return Counter(TESTS.parent / name for name in found)


if __name__ == "__main__":
    PAGE.write_text(page_with(PAGE.read_text(encoding="utf-8"), table()), encoding="utf-8")

"""Installs a library into a new environment: the interpreter is checked, the versions afterwards, too."""

import json
import re
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from recgauge.errors import ConfigError, MissingDataError, printable
from recgauge.isolated import Library, Version, normalised
from recgauge.utils.files import user_path
from recgauge.utils.progress import Progress

_INSTALLERS = {"pip", "setuptools", "wheel"}
"""What Python itself may put into an environment; pinned only where a package asks for it."""
_LAST = 12  # lines of an installer's output that a message has
_LOOK = """
import importlib, importlib.metadata as m, json, platform, sys
importlib.import_module(sys.argv[1])
found = {d.metadata["Name"]: d.version for d in m.distributions()}
print(json.dumps({"python": platform.python_version(), "packages": found}))
"""


def interpreter_in(folder: Path) -> Path:
    """Return the Python of an environment."""
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def checked_interpreter(library: Library, python: str | None) -> str:
    """Return the interpreter, by default the one that runs, if the library can be installed with it."""
    path = sys.executable if python is None else str(user_path(python))
    found, shown = _version_of(path), printable(path)
    if found is None:
        raise ConfigError(f"env: --python: {shown} is no Python that runs; name one, such as python3.11.")
    version, first, last = found, *library.pythons
    if not first <= version <= last:
        raise ConfigError(
            f"env: {library.called} needs Python {_dotted(first)} to {_dotted(last)} ({library.why}); "
            f"{shown} is {_dotted(version)}. {_better(library)}"
        )
    return path


def _version_of(python: str) -> Version | None:
    """Return the version of an interpreter, None if it is none."""
    code = "import sys; print(*sys.version_info[:2])"
    try:
        done = subprocess.run(
            [python, "-I", "-c", code], capture_output=True, text=True, timeout=60, check=True
        )
        major, minor = map(int, done.stdout.split())
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return major, minor


def _better(library: Library) -> str:
    """Return the command with an interpreter that is there, or what to look for."""
    (major, first), (_, last) = library.pythons
    for minor in range(last, first - 1, -1):
        path = shutil.which(f"python{major}.{minor}")
        if path and _version_of(path) == (major, minor):
            return f"This one can be used: recgauge env make {library.name} --python {path}"
    wanted = f"{major}.{last}"
    return f"Install Python {wanted}, then: recgauge env make {library.name} --python python{wanted}"


def _dotted(version: Version) -> str:
    return ".".join(map(str, version))


def fill(library: Library, folder: Path, interpreter: str, progress: Progress) -> dict[str, Any]:
    """Install a library into a folder and return the versions of Python and of all packages."""
    pins = folder / "requirements.txt"
    pins.write_text(library.requirements(), encoding="utf-8")
    _install(library, [interpreter, "-I", "-m", "venv", str(folder)], progress)
    asked = [f"{name}=={next(iter(library.pins()[name]))}" for name in library.install]
    pip = [str(interpreter_in(folder)), "-I", "-m", "pip", "install", "--no-input", "--progress-bar", "off"]
    _install(library, [*pip, "--disable-pip-version-check", "-c", str(pins), *asked], progress)
    look = [str(interpreter_in(folder)), "-I", "-c", _LOOK, library.name]
    try:
        found = json.loads(_install(library, look, progress)[-1])
    except (ValueError, IndexError) as error:
        raise MissingDataError(f"env: {library.called} was installed but tells no versions.") from error
    known, every = library.pins(), {normalised(name): one for name, one in found["packages"].items()}
    packages = {name: one for name, one in sorted(every.items()) if name in known or name not in _INSTALLERS}
    _check_pinned(library, packages)
    return {"python": found["python"], "packages": packages}


def _check_pinned(library: Library, packages: Mapping[str, str]) -> None:
    pins = library.pins()
    # "2.13.0+cpu" is a build of 2.13.0, and "1.1-2" an old way to write "1.1.post2"
    plain = {name: re.sub(r"-(\d+)$", r".post\1", one.split("+")[0]) for name, one in packages.items()}
    wrong = [f"{name} {packages[name]}" for name, one in plain.items() if one not in pins.get(name, ())]
    if wrong:
        raise MissingDataError(
            f"env: the environment of {library.called} got packages in versions that are not pinned: "
            f"{', '.join(wrong)}. Nothing was kept. Look at your pip configuration (pip config list)."
        )


def _install(library: Library, command: Sequence[str], progress: Progress) -> list[str]:
    """Run one step of an installation; return its output, or tell its last lines."""
    lines: list[str] = []
    total = len(library.pins()) if "pip" in command else None
    with (
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        ) as process,
        progress.step(f"install {library.title}", total, "packages") as advance,
    ):
        try:
            for line in process.stdout or ():
                lines.append(line.rstrip())
                if line.startswith("Collecting"):
                    advance(1)
        except BaseException:  # Ctrl-C
            process.terminate()
            raise
    if process.returncode:
        last = "\n    ".join(deque((printable(line) for line in lines), _LAST)) or "(no output)"
        raise MissingDataError(
            f"env: {library.called} could not be installed (exit code {process.returncode}); nothing was "
            f"kept. The last lines:\n    {last}"
        )
    return lines

"""Environments appear whole or not at all; with a tiny package from a local file instead of a library."""

import os
import platform
import sys
import threading
import zipfile
from dataclasses import dataclass
from importlib import import_module

import pytest

from recgauge import isolated as environments
from recgauge.cli.commands import cli
from recgauge.errors import ConfigError, MissingDataError
from recgauge.isolated import (
    LIBRARIES,
    PINS,
    Library,
    find_environment,
    library_of,
    make_environment,
    remove_environment,
)
from recgauge.utils.progress import NoProgress

HERE = sys.version_info[:2]


@dataclass(frozen=True, slots=True)
class Tiny(Library):
    pinned: str = "tinyrec==1.0\n"

    def requirements(self):
        return self.pinned


def tiny(pinned="tinyrec==1.0\n", pythons=(HERE, HERE)):
    return Tiny("tinyrec", "TinyRec", ("tinyrec",), pythons, "0.1 GB", pinned)


def write_wheel(folder, name, version):
    """Write a package of one module as a wheel."""
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}.py", "")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture(scope="module")
def offline(tmp_path_factory):
    """Let pip find only one package in a folder; without an index."""
    folder = tmp_path_factory.mktemp("wheels")
    write_wheel(folder, "tinyrec", "1.0")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_NO_INDEX", "1")
        patch.setenv("PIP_FIND_LINKS", str(folder))
        patch.setenv("PIP_CONFIG_FILE", os.devnull)
        yield folder


@pytest.fixture
def libraries(monkeypatch, tmp_path):
    """Let ``tinyrec`` be the only library, in a cache of its own; returns what sets another one."""
    monkeypatch.setenv("RECGAUGE_CACHE", str(tmp_path))

    def use(library):
        for module in ("recgauge.isolated", "recgauge.cli.commands.env"):
            monkeypatch.setattr(import_module(module), "LIBRARIES", {"tinyrec": library})

    use(tiny())
    return use


def pretend_fill(library, folder, *_):
    """Do as `fill` does, without venv and pip, which take seconds."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(sys.executable)
    (folder / "pyvenv.cfg").write_text(f"version = {platform.python_version()}\n")
    info = folder / "lib" / "python3.11" / "site-packages" / "tinyrec-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tinyrec\nVersion: 1.0\n")
    (folder / PINS).write_text(library.requirements())


@pytest.fixture
def environment(libraries, monkeypatch):
    """Make an environment and return what `make_environment` says of it."""
    with monkeypatch.context() as patch:
        patch.setattr(environments, "fill", pretend_fill)
        environment, new = make_environment("tinyrec", NoProgress())
    assert new
    return environment


def nothing_is_left():
    left = environments.environments_folder().iterdir()
    return all(path.suffix == ".lock" for path in left)


def test_an_environment_has_what_is_pinned_and_says_so(libraries, environment):
    assert find_environment("tinyrec") == environment
    assert environment.packages == {"tinyrec": "1.0"}
    assert environment.versions() == {"tinyrec": "1.0", "python": platform.python_version()}
    assert environment.interpreter.exists()
    assert environment.identity().startswith("tinyrec 1.0, python 3.")


def test_what_is_there_is_not_made_again_unless_asked(libraries, environment, monkeypatch):

    def fill(*_):
        raise AssertionError

    monkeypatch.setattr(environments, "fill", fill)
    assert make_environment("tinyrec", NoProgress()) == (environment, False)
    with pytest.raises(AssertionError):
        make_environment("tinyrec", NoProgress(), again=True)
    assert nothing_is_left()


def test_one_of_other_pins_or_without_its_python_is_not_used(libraries, environment, monkeypatch):
    libraries(tiny("tinyrec==1.0\nextra==2.0\n"))
    with pytest.raises(ConfigError, match=r"or one of other versions.*recgauge env make tinyrec$"):
        find_environment("tinyrec")
    libraries(tiny())
    assert find_environment("tinyrec") == environment
    environment.interpreter.unlink()
    with pytest.raises(ConfigError, match="there is none in"):
        find_environment("tinyrec")


@pytest.mark.slow
def test_venv_and_pip_make_an_environment_or_leave_nothing(libraries, offline, capfd):
    environment, new = make_environment("tinyrec", NoProgress())
    assert new
    assert environment.packages == {"tinyrec": "1.0"}
    remove_environment("tinyrec", NoProgress())
    libraries(tiny("tinyrec==3.0\n"))
    with pytest.raises(MissingDataError, match=r"could not be installed \(exit code 1; see above\); nothing"):
        make_environment("tinyrec", NoProgress())
    assert "3.0" in capfd.readouterr().err
    assert nothing_is_left()


def test_ctrl_c_leaves_nothing_and_says_so(libraries, monkeypatch, tmp_path, capsys):
    def fill(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(environments, "fill", fill)
    assert cli.main(["env", "make", "tinyrec"]) == 130
    assert capsys.readouterr().err.endswith("error: stopped.\n")
    assert nothing_is_left()


def test_two_at_once_make_one(libraries, monkeypatch, tmp_path):
    began, go_on, made = threading.Event(), threading.Event(), []

    def fill(library, folder, *_):
        began.set()
        go_on.wait(30)
        return pretend_fill(library, folder)

    monkeypatch.setattr(environments, "fill", fill)
    both = [
        threading.Thread(target=lambda: made.append(make_environment("tinyrec", NoProgress())[1]))
        for _ in range(2)
    ]
    both[0].start()
    began.wait(30)
    both[1].start()
    go_on.set()
    for one in both:
        one.join(60)
    assert sorted(made) == [False, True]


def test_what_is_no_python_is_refused(libraries):
    with pytest.raises(ConfigError, match="/bin/ls is no Python that runs"):
        make_environment("tinyrec", NoProgress(), python="/bin/ls")


def test_a_version_that_the_library_cannot_use_is_refused_before_anything_is_installed(libraries, tmp_path):
    libraries(tiny(pythons=((3, 5), (3, 6))))
    expected = r"TinyRec 1.0 needs Python 3\.5 to 3\.6;.*env make tinyrec --python python3.6"
    with pytest.raises(ConfigError, match=expected):
        make_environment("tinyrec", NoProgress())
    assert not environments.environments_folder().exists()


def test_an_environment_is_removed_whatever_state_it_is_in(libraries, tmp_path):
    with pytest.raises(ConfigError, match="there is no environment of tinyrec"):
        remove_environment("tinyrec", NoProgress())
    folder = environments.environments_folder() / "tinyrec"
    folder.mkdir(parents=True)
    (folder / "half").write_text("")
    assert remove_environment("tinyrec", NoProgress()) == folder
    assert nothing_is_left()


def test_the_command_lists_and_refuses(libraries, environment, capsys):
    assert cli.main(["env", "list"]) == 0
    assert "tinyrec 1.0, python 3." in capsys.readouterr().out
    assert cli.main(["env", "make", "tinyrek"]) == 1
    assert (
        "there is no library 'tinyrek'. Did you mean tinyrec? There are tinyrec." in capsys.readouterr().err
    )
    assert cli.main(["env", "make", "tinyrec"]) == 0
    assert "it is there already; --again makes it anew" in capsys.readouterr().out


@pytest.mark.parametrize("library", LIBRARIES.values(), ids=list(LIBRARIES))
def test_every_package_of_a_library_is_pinned_and_nothing_names_an_index(library):
    lines = library.requirements().splitlines()
    assert all("==" in line and "://" not in line and not line.startswith("-") for line in lines)
    assert all(library.pins(name) for name in library.install)
    assert library_of(library.name) is library

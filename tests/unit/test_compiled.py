"""Machine code is kept where that is safe, loaded only if it is whole, and missed by nobody."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from recgauge.utils import compiled as _compiled

LISTS = """
from types import SimpleNamespace
import numpy as np
from recgauge.engine import top_k
rng = np.random.default_rng(1)
user, item = rng.standard_normal((50, 8), np.float32), rng.standard_normal((300, 8), np.float32)
users = np.arange(50, dtype=np.int32)
expected = np.argsort(-(user.astype(float) @ item.T.astype(float)).astype(np.float32), axis=1, kind="stable")
for source in (SimpleNamespace(user=user, item=item), lambda block: (user.astype(float) @ item.T)[block]):
    assert (top_k(source, users, 10)[0] == expected[:, :10]).all()
print("right")
"""


def run(code, cache, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"NUMBA_CACHE_DIR": str(cache)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def kernels(cache):
    return sorted(Path(cache).rglob("*.kernel"))


def whole(path):
    return _compiled._read(path) is not None


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A module whose function `twice` is compiled, and the file of its machine code."""
    monkeypatch.setattr(_compiled.config, "CACHE_DIR", str(tmp_path / "cache"))
    module = make_module(tmp_path)
    assert load(module)(21) == 42
    (path,) = kernels(tmp_path / "cache")
    return module, path


@pytest.fixture(scope="module")
def lists(tmp_path_factory):
    cache = tmp_path_factory.mktemp("lists")
    assert run(LISTS, cache) == "right\n"
    return cache


def flip(place):
    def damage(path):
        content = bytearray(path.read_bytes())
        content[int(place * (len(content) - 1))] ^= 0x55
        path.write_bytes(content)

    return damage


def cut(share):
    return lambda path: path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])


def zero_the_second_half(path):
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2].ljust(len(content), b"\0"))


def put_a_folder(path):
    path.unlink()
    path.mkdir()
    (path / "file").touch()


def forbid(path):
    path.chmod(0)


DAMAGES = {
    "cut to half": cut(0.5),
    "cut by a byte": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "empty": cut(0),
    "first byte": flip(0),
    "a byte behind the digest": flip(0.01),
    "middle byte": flip(0.5),
    "last byte": flip(1),
    "zeros": zero_the_second_half,
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"\0"),
    "garbage": lambda path: path.write_bytes(os.urandom(5000)),
    "text": lambda path: path.write_text("no machine code"),
    "a folder": put_a_folder,
    "forbidden": forbid,
}

WORST = ("cut to half", "middle byte", "zeros", "a folder")


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_compiled_anew_and_mended(kept, damage):
    module, path = kept
    damage(path)
    assert load(module)(21) == 42
    assert whole(path) or path.is_dir()


@pytest.mark.slow
@pytest.mark.parametrize("damage", [DAMAGES[name] for name in WORST], ids=WORST)
def test_the_engine_survives_damage(lists, tmp_path, damage):
    cache = tmp_path / "cache"
    shutil.copytree(lists, cache)
    for path in kernels(cache):
        damage(path)
    assert run(LISTS, cache) == "right\n"


@pytest.mark.slow
def test_the_file_of_another_kernel_is_refused(lists, tmp_path):
    cache = tmp_path / "cache"
    shutil.copytree(lists, cache)
    first, *others = kernels(cache)
    for other in others:
        other.write_bytes(first.read_bytes())
    assert run(LISTS, cache) == "right\n"
    assert all(map(whole, kernels(cache)))


def test_what_is_whole_is_not_compiled_again(kept):
    module, path = kept
    before = path.stat().st_mtime_ns
    again = load(module)
    assert again(21) == 42
    assert sum(again.stats.cache_hits.values()) == 1
    assert path.stat().st_mtime_ns == before


def test_processes_that_compile_at_once_leave_one_whole_file(tmp_path):
    header = "from recgauge.utils.compiled import compiled\n@compiled()\n"
    text = header + "def twice(number):\n    return 2 * number\n"
    (tmp_path / "doubling.py").write_text(text)
    code, cache = "import doubling; print(doubling.twice(21))", tmp_path / "cache"
    with ThreadPoolExecutor(3) as pool:
        printed = list(pool.map(lambda _: run(code, cache, PYTHONPATH=str(tmp_path)), range(3)))
    assert printed == ["42\n"] * 3
    (folder,) = cache.iterdir()
    (path,) = folder.iterdir()
    assert whole(path)


@pytest.mark.parametrize("mode", [0o777, 0o775])
def test_code_from_a_folder_that_others_can_write_is_not_loaded(kept, tmp_path, mode):
    _, path = kept
    path.parent.chmod(mode)
    assert not whole(path)
    path.parent.chmod(0o755)
    assert whole(path)
    (tmp_path / "link").symlink_to(path.parent)
    assert not whole(tmp_path / "link" / path.name)


def test_code_from_a_folder_of_another_user_is_not_loaded(kept, monkeypatch):
    module, path = kept
    monkeypatch.setattr("recgauge.utils.files.user_number", lambda: 12345)
    assert whole(path) == (path.stat().st_uid == 0)  # root could change anything anyway
    if os.geteuid() == 0:
        os.chown(path.parent, 54321, -1)
        assert not whole(path)
        assert load(module)(21) == 42


def test_folders_that_cannot_be_written_are_passed_over(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    module = make_module(tmp_path)
    (module.parent / "__pycache__").write_text("not a folder")
    monkeypatch.setattr(_compiled.config, "CACHE_DIR", str(blocked))
    monkeypatch.setattr(_compiled, "user_cache", lambda: blocked)
    monkeypatch.setattr(_compiled, "user_temporary", lambda: tmp_path / "own")
    assert load(module)(21) == 42
    assert _compiled.is_kept(module, "twice")
    assert len(kernels(tmp_path / "own")) == 1
    monkeypatch.setattr(_compiled, "user_temporary", lambda: None)
    assert not _compiled.is_kept(module, "twice")
    assert load(module)(21) == 42


def test_other_sources_mean_other_kernels(kept):
    module, path = kept
    (module.parent / "_helper.py").write_text("a = 2")
    _compiled.sources_digest.cache_clear()
    assert not _compiled.is_kept(module, "twice")
    assert load(module)(21) == 42
    assert len(list(path.parent.parent.iterdir())) == 2


def test_a_numba_that_keeps_code_in_another_way_is_told_and_compiles(tmp_path, monkeypatch):
    monkeypatch.setattr(_compiled, "CompileResult", object)
    with pytest.warns(RuntimeWarning, match="compiled in every process"):
        assert load(make_module(tmp_path))(21) == 42


def make_module(folder):
    module = folder / "package" / "_module.py"
    module.parent.mkdir()
    module.write_text("def twice(number):\n    return 2 * number\n")
    return module


def load(module):
    """Compile the function `twice` of a file, as importing the file would."""
    names = {"__name__": "module"}
    exec(compile(module.read_text(), str(module), "exec"), names)
    return _compiled.compiled()(names["twice"])

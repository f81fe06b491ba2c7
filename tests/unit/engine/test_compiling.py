"""Nothing is compiled before it is needed, and machine code is kept where that is possible."""

import subprocess
import sys

import pytest

from recgauge.engine import _jit, is_compiled, warm_up


def test_importing_the_engine_imports_no_numba():
    code = "import sys, recgauge.engine; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("kind", ["factors", "scores", "dense_weights", "sparse_weights"])
def test_kernels_are_kept_after_their_first_use(kind):
    assert warm_up(kind) > 0.0
    assert is_compiled(kind)
    assert warm_up(kind) < 1.0


def test_folders_that_cannot_be_written_are_passed_over(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setattr(_jit.config, "CACHE_DIR", str(blocked))
    monkeypatch.setattr(_jit, "_HERE", blocked)
    monkeypatch.setattr(_jit.Path, "home", lambda: tmp_path)
    assert _jit.cache_folder() == tmp_path / ".cache" / "recgauge" / f"kernels-{_jit.sources_digest()}"
    monkeypatch.setattr(_jit.Path, "home", lambda: blocked)
    assert _jit.cache_folder() is None


def test_kernels_run_without_any_cache_folder(monkeypatch):
    monkeypatch.setattr(_jit, "cache_folder", lambda: None)
    twice = _jit.entry(lambda x: 2 * x)
    assert twice(21) == 42


def test_other_sources_mean_other_kernels(tmp_path, monkeypatch):
    (tmp_path / "_kernel.py").write_text("a = 1")
    monkeypatch.setattr(_jit, "_HERE", tmp_path)
    before = _jit.sources_digest()
    (tmp_path / "_kernel.py").write_text("a = 2")
    assert _jit.sources_digest() != before

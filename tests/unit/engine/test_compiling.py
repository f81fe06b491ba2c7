"""Nothing is compiled before it is needed, and machine code is kept where that is possible."""

import subprocess
import sys

import pytest

from recgauge.engine import is_compiled, warm_up


def test_importing_the_engine_imports_no_numba():
    code = "import sys, recgauge.engine; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("kind", ["factors", "scores", "dense_weights", "sparse_weights"])
def test_kernels_are_kept_after_their_first_use(kind):
    assert warm_up(kind) > 0.0
    assert is_compiled(kind)
    assert warm_up(kind) < 1.0

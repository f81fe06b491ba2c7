"""Nothing is compiled before it is needed."""

import subprocess
import sys


def test_importing_the_engine_imports_no_numba():
    code = "import sys, recgauge.engine; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

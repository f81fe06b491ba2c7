"""Lists are the same to the last bit on processors without AVX-512, whose kernels are other ones."""

import os
import platform
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

CODE = """
import sys
import numpy as np
from types import SimpleNamespace
from recgauge.engine import _lists
from recgauge.engine import top_k
assert sys.argv[1] == "this" or not _lists.HAS_WIDE_VECTORS
rng = np.random.default_rng(1)
user, item = rng.standard_normal((150, 19), np.float32), rng.standard_normal((700, 19), np.float32)
item *= rng.uniform(0.1, 2.0, (700, 1)).astype(np.float32)
users = np.arange(150, dtype=np.int32)
lists = top_k(SimpleNamespace(user=user, item=item), users, 40)
np.savez(sys.argv[2], *lists, *top_k(lambda block: (user @ item.T)[block], users, 40))
"""


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="other processors have no AVX-512 anyway")
def test_lists_without_wide_vectors(tmp_path):
    found = []
    for processor, name in (("this", ""), ("older", "haswell")):
        path = tmp_path / f"{processor}.npz"
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / processor)}
        if name:
            environment |= {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": ""}
        subprocess.run([sys.executable, "-c", CODE, processor, str(path)], env=environment, check=True)
        found.append(np.load(path))
    for name in found[0].files:
        assert_array_equal(found[0][name], found[1][name])

import numpy as np
import pytest

from recgauge.data.interactions import Interactions


@pytest.fixture
def train():
    """Ratings of distinct pairs; the last user and the last item have none."""
    rng = np.random.default_rng(5)
    user, item = np.nonzero(rng.random((29, 19)) < 0.4)
    rows = Interactions(user, item, rng.integers(1, 6, len(user)), None, np.arange(30), np.arange(20))
    return rows.take(rng.permutation(len(rows)))

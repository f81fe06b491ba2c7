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


@pytest.fixture(scope="session")
def part(demo):
    """A part of the demo set: 300 users, 400 items."""
    rows = demo.interactions
    few = rows.take((rows.user < 300) & (rows.item < 400))
    return Interactions(few.user, few.item, few.value, None, np.arange(300), np.arange(400))

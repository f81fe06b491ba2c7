"""A data set around any rows."""

from dataclasses import replace

import pytest

from recgauge.datasets.demo import Demo


@pytest.fixture(scope="session")
def dataset_of():
    whole = Demo().load()

    def build(rows, **facts):
        return replace(whole, interactions=rows, item_titles=None, item_features=None, **facts)

    return build

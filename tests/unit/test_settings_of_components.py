"""Settings are checked by their annotations, also in a file whose annotations are texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pytest

from recgauge.errors import ConfigError
from recgauge.metrics import UserMetric
from recgauge.utils.checks import Positive  # noqa: TC001 - the annotation is read when Mine is made


@dataclass(frozen=True)
class Mine(UserMetric):
    name = "mine"
    label = "Mine"
    weight: Positive = 1.0
    side: Literal["left", "right"] = "left"
    limit: Positive | None = None
    size: int = 1

    def per_user(self, judged, k):
        raise NotImplementedError


@pytest.mark.parametrize("wrong", [{"weight": 0}, {"side": "top"}, {"limit": -1}, {"size": "abc"}])
def test_a_wrong_setting_is_refused_by_its_name(wrong):
    with pytest.raises(ConfigError, match=f"Mine: {next(iter(wrong))} must be"):
        Mine(**wrong)

"""Guards: what could make a run's numbers mean less than they seem to, found out and said on every run."""

from recgauge.guards.result import GuardResult, GuardSettings, enforce

__all__ = ["GuardResult", "GuardSettings", "enforce"]

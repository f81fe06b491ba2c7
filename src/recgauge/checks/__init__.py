"""May this model replace that one: of each rule, is it shown to hold, shown not to hold, or undecided.

Start with `check`; `decide` is the statistics, `Rules` what can be asked.
"""

from typing import TYPE_CHECKING

from recgauge.utils.lazy import lazy_names

if TYPE_CHECKING:
    from recgauge.checks.checking import CheckResult as CheckResult
    from recgauge.checks.checking import Side as Side
    from recgauge.checks.checking import check as check
    from recgauge.checks.judge import Decision as Decision
    from recgauge.checks.judge import Estimate as Estimate
    from recgauge.checks.judge import Verdict as Verdict
    from recgauge.checks.judge import decide as decide
    from recgauge.checks.looks import Look as Look
    from recgauge.checks.looks import read_looks as read_looks
    from recgauge.checks.looks import write_look as write_look
    from recgauge.checks.rules import Bound as Bound
    from recgauge.checks.rules import CostRule as CostRule
    from recgauge.checks.rules import MetricRule as MetricRule
    from recgauge.checks.rules import Rules as Rules
else:
    __getattr__, __dir__ = lazy_names(__name__)

"""A check: in blocks, as JUnit XML for a CI server, JSON, a page."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from recgauge._version import __version__
from recgauge.data.coverage import of_few
from recgauge.errors import printable
from recgauge.report.blocks import Block, Cell, Section, TableBlock, lines
from recgauge.report.comparison_tables import megabytes, number, seconds
from recgauge.report.html import render_page

if TYPE_CHECKING:
    from recgauge.checks.checking import CheckResult
    from recgauge.checks.verdicts import Verdict

_LOOKS = {"shown": "good", "worse": "bad", "undecided": "partly"}


def headline(result: "CheckResult") -> str:
    """Return the result in a sentence."""
    pair = f"replace {result.baseline}"
    words = {
        "shown": f"Passed: {result.candidate} may {pair}",
        "worse": f"Failed: {result.candidate} may not {pair}",
        "undecided": f"Undecided: whether {result.candidate} may {pair} is open",
    }
    counts = {outcome: sum(verdict.outcome == outcome for verdict in result.verdicts) for outcome in words}
    verdicts = ", ".join(f"{n} {outcome}" for outcome, n in counts.items() if n)
    passes = ", which passes here (undecided: pass)" if result.passed and counts["undecided"] else ""
    return f"{words[result.outcome]}; verdicts: {verdicts}{passes}."


def check_blocks(result: "CheckResult") -> list[Block]:
    """Return the verdicts as a table, with their level and notes."""
    return [
        *lines(result.warnings, "marks"),
        *lines([headline(result)], "claims"),
        verdict_table(result),
        *lines((level(result), *looks(result))),
        *lines(result.notes, "notes"),
    ]


def verdict_table(result: "CheckResult") -> TableBlock:
    """Return a row for each rule and group, without columns that are empty."""
    verdicts = result.verdicts
    columns: dict[str, list[str | Cell]] = {
        "rule": [verdict.rule for verdict in verdicts],
        "group": [verdict.segment for verdict in verdicts],
        "verdict": [Cell(verdict.outcome, look=_LOOKS[verdict.outcome]) for verdict in verdicts],
        "must be": [f"{'>' if each.above else '<'} {_value(each, each.bound)}" for each in verdicts],
        "found": [_estimate(verdict) for verdict in verdicts],
        "users": [f"{verdict.n_users:,}" if verdict.n_users else "" for verdict in verdicts],
        "users to decide": [f"{each.users_needed:,}" if each.users_needed else "" for each in verdicts],
    }
    shown = {name: cells for name, cells in columns.items() if any(cells)}
    names = f"{result.candidate} against {result.baseline}"
    note = "found: the difference from the baseline, or the value, with its one-sided bounds."
    rows = tuple(zip(*shown.values(), strict=True))
    return TableBlock(names, tuple(shown), rows, ("group", "verdict"), note, names=1 + ("group" in shown))


def level(result: "CheckResult") -> str:
    """Return the level with the claims and tests that it holds for."""
    n = sum(verdict.tested for verdict in result.verdicts)
    if not n:
        return "Numbers without values of users are compared, not tested."
    return (
        f"Level {_percent(result.rules.alpha)}: the chance that any rule is wrongly shown, and that any is "
        f"wrongly worse; one-sided t-tests over users, Hochberg's correction over {n} tests."
    )


def looks(result: "CheckResult") -> list[str]:
    """Return how many candidates were judged on the test rows, and the chance of a wrong pass."""
    if result.candidates_before is None:
        return []
    n, alpha = result.candidates_before + 1, result.rules.alpha
    chance = _percent(min(1.0, n * alpha))
    return [f"Candidate {n} on these test rows: the chance that any passes wrongly may be up to {chance}."]


def check_junit(result: "CheckResult") -> str:
    """Return a test suite with a case for each rule and group; undecided fails unless rules let it pass."""
    passing = {"shown", "undecided"} if result.rules.undecided == "pass" else {"shown"}
    table = verdict_table(result)
    suite = ET.Element("testsuite", name=f"recgauge check: {printable(table.caption)}", errors="0")
    for verdict, row in zip(result.verdicts, table.cells(), strict=True):
        name = printable(f"{verdict.rule} {verdict.segment}".strip())
        case = ET.SubElement(suite, "testcase", classname="recgauge.check", name=name)
        cells = zip(table.header, row, strict=True)
        text = printable(", ".join(f"{column}: {cell.text}" for column, cell in cells if cell.text))
        if verdict.outcome in passing:
            ET.SubElement(case, "system-out").text = text
        else:
            ET.SubElement(case, "failure", type=verdict.outcome, message=text)
    suite.set("tests", str(len(table.rows)))
    suite.set("failures", str(len(suite.findall("*/failure"))))
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def check_json(result: "CheckResult") -> str:
    """Return everything, not rounded."""
    content = {
        "recgauge": __version__,
        "outcome": result.outcome,
        "passed": result.passed,
        "level": result.rules.alpha,
        **asdict(result),
        "notes": [*result.warnings, headline(result), *looks(result), *result.notes],
    }
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def check_page(result: "CheckResult") -> str:
    """Return a page that needs no other file."""
    lead = "Whether the candidate is shown to keep every rule, shown to break it, or neither."
    section = Section("May it replace the baseline?", lead, tuple(check_blocks(result)))
    return render_page("recgauge check", f"{result.candidate} against {result.baseline}", [section])


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _estimate(verdict: "Verdict") -> str:
    value = _value(verdict, verdict.estimate)
    if verdict.low is None or verdict.high is None:
        return value
    ends = f"[{_value(verdict, verdict.low)}, {_value(verdict, verdict.high)}]"
    return f"{value} {ends}{of_few(verdict.n_users)}"


def _value(verdict: "Verdict", value: float) -> str:
    """Return a number in the unit of its rule: seconds, megabytes, or as a metric's."""
    if verdict.rule.startswith("cost."):
        return f"{seconds(value)} s" if verdict.metric.endswith("seconds") else f"{megabytes(value)} MB"
    return number(value, sign=verdict.is_difference) if abs(value) < 100 else f"{value:,.1f}"

"""Are runs measured alike: one protocol, one definition of each metric, one truth; if not, the difference."""

from collections.abc import Iterable, Mapping, Sequence

from recgauge.errors import ConfigError, listed
from recgauge.metrics.names import label
from recgauge.runs.finished import RunValues
from recgauge.runs.protocol import Protocol, differences, judging, protocol

_REMEDY = "To compare all the same, give their per-user values as data frames or CSV."


def check_protocols(
    runs: Mapping[str, Sequence[RunValues]], metrics: Sequence[str], subject: str = "compare"
) -> None:
    """Refuse runs that differ in more than the model, as far as records, evaluations and files say it.

    The message begins with `subject`.
    """
    repeats = [(name, repeat) for name, of_run in runs.items() for repeat in of_run]
    protocols = {}
    for name, of_run in runs.items():
        records = [repeat.record for repeat in of_run if repeat.record is not None]
        if len(records) == len(of_run):
            protocols[name] = protocol(records, metrics)
    require_equal_protocols(list(protocols.values()), list(protocols), subject, remedy=_REMEDY)
    if len(protocols) == len(runs):
        return
    # of runs of recgauge the settings say which rows are relevant
    left_out = ["threshold"] if protocols else []
    for key in metrics:
        texts = []
        for name, repeat in repeats:
            if key in repeat.definitions:
                text, _, policies = repeat.definitions[key].rpartition("; ")
                texts.append((f"{text}; {judging(policies, *left_out)}", name))
        problem = f"{subject}: the runs measure {label(key)} differently:"
        require_one(texts, problem, "Evaluate them under one convention.")
    digests = {
        name: ", ".join(sorted({repeat.truth[:12] for repeat in of_run if repeat.truth}))
        for name, of_run in runs.items()
    }
    require_one(
        [(text, name) for name, text in digests.items()],
        f"{subject}: the runs are judged by different relevant items (users, items or grades); their digests "
        "are",
        f"Evaluate them on one truth. {_REMEDY}",
    )


def require_equal_protocols(
    protocols: Sequence[Protocol],
    names: Sequence[str],
    subject: str,
    *,
    remedy: str = f"Name runs that agree, or choose them with --where. {_REMEDY}",
) -> None:
    """Refuse runs that differ in more than the model."""
    if lines := difference_lines(protocols, names):
        all_lines = "\n  ".join(lines)
        raise ConfigError(
            f"{subject}: these runs differ in more than the model, so their numbers cannot be compared:\n  "
            f"{all_lines}\n{remedy}"
        )


def difference_lines(protocols: Sequence[Protocol], names: Sequence[str]) -> list[str]:
    """Return each setting in which runs differ, with its values and the runs that have them."""
    return [
        f"{setting}: {_with_names(_by_text(zip(values, names, strict=True)))}"
        for setting, values in differences(protocols).items()
    ]


def require_one(texts: Iterable[tuple[str, str]], problem: str, remedy: str) -> None:
    """Refuse runs of which a text is not the same, pairs of text and run; an empty text is not known."""
    runs = _by_text((text, name) for text, name in texts if text)
    if len(runs) > 1:
        raise ConfigError(f"{problem} {_with_names(runs)}. {remedy}")


def _by_text(texts: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the runs of each text."""
    runs: dict[str, list[str]] = {}
    for text, name in texts:
        runs.setdefault(text, []).append(name)
    return runs


def _with_names(runs: Mapping[str, Sequence[str]]) -> str:
    """Return each text with the runs that have it."""
    return "; ".join(f"{text} ({listed(dict.fromkeys(names), most=3)})" for text, names in runs.items())

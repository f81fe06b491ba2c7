"""Names of metrics as keys and as people write them, and whether more or less of one is better."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Self

from recgauge.errors import ConfigError, did_you_mean, listed
from recgauge.metrics import HEADLINE, metric_class, metric_classes

_FORMS = """
user per pooled train macro micro samples weighted binary graded exp burges method0 minmax normalized plain
raw full rounded achievable rendle features relevant 2
"""
"""Last words of names that say how a metric is averaged or gained, and never that it is turned round."""
_MORE_IS_BETTER = """
accuracy aclt ap aplt ar appeared_item average_precision average_recall balanced_accuracy coverage
distributional_coverage f1_score f_score hit hit_ratio hr intra_list_diversity item_coverage lauc
list_diversity map_divide_by_k mean_average_precision mean_inter_list_diversity mean_inv_user_freq
mean_reciprocal_rank mrr_ms_marco ncrr pap recall_with_cutoff reciprocal_rank roc_auc
rr shannon_entropy surprisal
"""
_LESS_IS_BETTER = """
arp average_popularity avg_rec_popularity gini_index log_loss mean_absolute_error mean_squared_error
popularity_share root_mean_squared_error
"""
"""Names of conventions and other programs, beside those of recgauge's own metrics."""


def as_key(metric: str) -> str:
    """Return the key of a metric as recgauge writes it: ``ndcg@10`` is ``ndcg_at_10``.

    Examples
    --------
    >>> as_key(" ndcg@10")
    'ndcg_at_10'
    """
    return metric.strip().replace("@", "_at_")


def label(metric: str) -> str:
    """Return a metric's key with its cutoff as people write it.

    Examples
    --------
    >>> label("ndcg_at_10")
    'ndcg@10'
    """
    return metric.replace("_at_", "@")


def without_label(metric: str) -> str:
    """Return a metric as people type it, where it is written as recgauge prints it.

    Examples
    --------
    >>> without_label("nDCG@10"), without_label("HitRate"), without_label("my_Own@5")
    ('ndcg@10', 'hit_rate', 'my_Own@5')
    """
    name, sign, k = metric.strip().partition("@")
    known = {} if name.islower() else {leaf.label: leaf.name for leaf in metric_classes()}
    return f"{known.get(name, name)}{sign}{k}"


def split_label(text: str) -> tuple[str, int | None]:
    """Return the name and the cutoff of a metric as people write it, None where it has no cutoff.

    Examples
    --------
    >>> split_label("ndcg@10"), split_label("rmse")
    (('ndcg', 10), ('rmse', None))
    """
    match = re.fullmatch(r"(.+)@(\d+)", text)
    return (text, None) if match is None else (match[1], int(match[2]))


def without_cutoffs(printed: Iterable[str]) -> tuple[list[str], list[int]]:
    """Return metrics without their cutoffs, each once, and all cutoffs, rising.

    Examples
    --------
    >>> without_cutoffs(["ndcg@10", "ndcg@5", "rmse"])
    (['ndcg', 'rmse'], [5, 10])
    """
    parts = [split_label(without_label(text)) for text in printed]
    return list(dict.fromkeys(name for name, _ in parts)), sorted({k for _, k in parts if k is not None})


def split_key(key: str) -> tuple[str, int | None]:
    """Return the name and the cutoff of a result, None where it has no cutoff.

    Examples
    --------
    >>> split_key("ndcg_at_10"), split_key("rmse")
    (('ndcg', 10), ('rmse', None))
    """
    name, _, k = key.rpartition("_at_")
    return (name, int(k)) if name and k.isdecimal() else (key, None)


def headline_cutoff(ks: Iterable[int | None]) -> int | None:
    """Return the cutoff to read first: 10, else the largest; None where there is no cutoff.

    Examples
    --------
    >>> headline_cutoff([5, 10, 20]), headline_cutoff([1, 5, None]), headline_cutoff([None])
    (10, 5, None)
    """
    cutoffs = {k for k in ks if k is not None}
    return 10 if 10 in cutoffs else max(cutoffs, default=None)


def importance(key: str) -> int:
    """Return where a metric stands among those that people look at first."""
    name = split_key(key)[0]
    return HEADLINE.index(name) if name in HEADLINE else len(HEADLINE)


def headline_key(keys: Iterable[str]) -> str:
    """Return the metric that people look at first, at the cutoff to read first.

    Examples
    --------
    >>> headline_key(["precision_at_5", "ndcg_at_5", "ndcg_at_10", "precision_at_10"])
    'ndcg_at_10'
    """
    keys = list(keys)
    cutoff = headline_cutoff(split_key(key)[1] for key in keys)
    return min(keys, key=lambda key: (split_key(key)[1] != cutoff, importance(key)))


def metric_label(key: str) -> str:
    """Return a metric's key as people write it.

    Examples
    --------
    >>> metric_label("ndcg_at_10"), metric_label("my_own_at_5"), metric_label("loss")
    ('nDCG@10', 'my_own@5', 'loss')
    """
    name, k = split_key(key)
    metric = metric_class(name)
    written = name if metric is None else metric.label
    return written if k is None else f"{written}@{k}"


def usual_direction(key: str) -> bool | None:
    """Return whether more of a metric is better, None if its name does not say it.

    Known are recgauge's names and those of conventions, in capitals and small letters, with a cutoff or
    without, of a mean over users or over all rows.

    Examples
    --------
    >>> usual_direction("ndcg_at_10"), usual_direction("RMSE"), usual_direction("rmse_user")
    (True, False, False)
    >>> usual_direction("arp_at_5"), usual_direction("my_loss")
    (False, None)
    """
    text = as_key(key).lower().replace("-", "_").replace(" ", "_")
    words = [word for word in re.sub(r"_at_\d+(?=_|$)", "", text).split("_") if word]
    while words:
        if (better := _directions().get("_".join(words))) is not None or words[-1] not in _FORMS.split():
            return better
        words.pop()
    return None


@cache
def _directions() -> Mapping[str, bool]:
    """Return whether more is better, by name."""
    leaves = metric_classes()
    own = {name: leaf.higher_is_better for leaf in leaves for name in (leaf.name, leaf.label.lower())}
    more, less = _MORE_IS_BETTER.split(), _LESS_IS_BETTER.split()
    return dict.fromkeys(more, True) | dict.fromkeys(less, False) | own


@dataclass(frozen=True, slots=True)
class Directions:
    """What a user says of metrics: of which less is better, and of which more.

    Parameters
    ----------
    lower, higher : tuple of str
        Names with a cutoff, or without one for all cutoffs.
    indifferent : tuple of str
        Metrics of which nobody need know it, such as those that are compared with a number.

    Raises
    ------
    ConfigError
        If a metric is in both.

    Examples
    --------
    >>> directions = Directions.of(lower_is_better=["loss"])
    >>> directions.higher_is_better(["loss_at_5", "ndcg"])
    {'loss_at_5': False, 'ndcg': True}
    """

    lower: tuple[str, ...] = ()
    higher: tuple[str, ...] = ()
    indifferent: tuple[str, ...] = ()

    @classmethod
    def of(cls, lower_is_better: Collection[str] = (), higher_is_better: Collection[str] = ()) -> Self:
        """Return what is said of some names, each a name or several."""
        return cls(*map(_keys, (lower_is_better, higher_is_better)))

    def __post_init__(self) -> None:
        if both := [name for name in self.lower if name in self.higher]:
            raise ConfigError(
                f"lower_is_better, higher_is_better: {label(both[0])} is in both. Name it in one of them."
            )

    def higher_is_better(
        self, keys: Iterable[str], recorded: Mapping[str, bool] | None = None, *, remedy: str = ""
    ) -> dict[str, bool]:
        """Return by metric whether more is better: as the user says, else a record, else its name.

        Parameters
        ----------
        keys : iterable of str
        recorded : mapping of str to bool, optional
            What runs say of their own metrics.
        remedy : str
            How to say it, for the message, where it is no option.

        Raises
        ------
        ConfigError
            If of some metric nobody says it.
        """
        directions, unknown = {}, []
        for key in keys:
            better = self._chosen(key)
            better = (recorded or {}).get(key) if better is None else better
            better = usual_direction(key) if better is None else better
            if better is None and key not in self.indifferent:
                unknown.append(label(key))
            directions[key] = better is not False
        if unknown:
            first = unknown[0]
            options = (
                f"--lower-is-better {first} or --higher-is-better {first}, in Python "
                f"lower_is_better=[{first!r}] or higher_is_better=[{first!r}], in the rules of a check "
                f"lower_is_better: [{first}]; or name other metrics"
            )
            raise ConfigError(
                f"{listed(unknown)}: is more of it better, or less? recgauge does not know such a metric. "
                f"Say it: {remedy or options}."
            )
        return directions

    def check_names(self, keys: Collection[str]) -> None:
        """Refuse a name that none of the metrics has."""
        present = {name for key in keys for name in (key, split_key(key)[0])}
        for setting, names in (("lower_is_better", self.lower), ("higher_is_better", self.higher)):
            if unknown := [name for name in names if name not in present]:
                there, name = list(map(label, keys)), label(unknown[0])
                hint = did_you_mean(name, there)
                raise ConfigError(f"{setting}: there is no {name}. {hint}There are {listed(there)}.")

    def _chosen(self, key: str) -> bool | None:
        for name in (key, split_key(key)[0]):
            if name in self.lower or name in self.higher:
                return name in self.higher
        return None


def direction_of(metric: str, higher_is_better: bool | None) -> bool:
    """Return whether more of a metric is better: as the caller says, else as its name does.

    Values without a name, ``value``, are better the higher they are.

    Examples
    --------
    >>> direction_of("rmse", None), direction_of("loss", False), direction_of("value", None)
    (False, False, True)
    """
    if higher_is_better is not None or metric == "value":
        return higher_is_better is not False
    key = as_key(metric)
    return Directions().higher_is_better([key], remedy="higher_is_better=True or False")[key]


def _keys(names: Collection[str]) -> tuple[str, ...]:
    texts: Sequence[str] = [names] if isinstance(names, str) else list(names)
    if wrong := [name for name in texts if not isinstance(name, str)]:
        raise ConfigError(f"lower_is_better, higher_is_better: expected names of metrics, got {wrong[0]!r}.")
    return tuple(dict.fromkeys(map(as_key, texts)))

"""Settings without effect are refused: each names in its metadata the setting that it needs."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

from recgauge.errors import ConfigError
from recgauge.runs.settings import RunSettings


def check_effects(
    settings: RunSettings,
    words: Sequence[str],
    *,
    measures_lists: bool,
    swept: Collection[str] = (),
) -> None:
    """Refuse a setting that differs from its default while the setting that it needs is missing.

    Parameters
    ----------
    settings : RunSettings
    words : sequence of str
        What was typed; components, such as candidates, count only if they are named here.
    measures_lists : bool
        Whether a metric of ranked lists is computed.
    swept : collection of str
        Keys that differ between the jobs of a sweep: another job may have the needed setting.

    Raises
    ------
    ConfigError
        With the words that give the setting an effect.

    Examples
    --------
    >>> settings = RunSettings()
    >>> check_effects(settings, ["candidates=all"], measures_lists=False)  # as it is anyway
    >>> settings.learning.patience = 3
    >>> check_effects(settings, [], measures_lists=True)
    Traceback (most recent call last):
        ...
    recgauge.errors.ConfigError: learning.patience would change nothing in this run without...
    """
    met = {
        "learning.watch=true": settings.learning.watch,
        "tune=tpe": settings.tune is not None,
        "metrics=[ranking]": measures_lists,
    }
    usual = {setting.metadata.get("usual") for setting in fields(settings)}
    typed_words = [word.lstrip("+~") for word in words if word not in usual]
    keys = [word.partition("=")[0].replace("/", ".") for word in typed_words]
    for path, value, setting in _settings(settings):
        need = setting.metadata.get("needs")
        if not need or met[need] or (root := need.partition("=")[0]) in swept:
            continue
        typed = [key for key in keys if key.startswith(f"{path}.") or key == path != root]
        if typed or (value != _default(setting) and not isinstance(value, Mapping)):
            name = typed[0] if typed else path
            raise ConfigError(
                f"{name} would change nothing in this run without {need}. Add {need}, or leave {name} out."
            )


def _settings(node: Any, prefix: str = "") -> Iterator[tuple[str, Any, Field[Any]]]:
    for setting in fields(node):
        value = getattr(node, setting.name)
        if is_dataclass(value):
            yield from _settings(value, f"{prefix}{setting.name}.")
        else:
            yield f"{prefix}{setting.name}", value, setting


def _default(setting: Field[Any]) -> Any:
    return setting.default if setting.default_factory is MISSING else setting.default_factory()

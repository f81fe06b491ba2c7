"""Settings of a run that a shell completes, by argcomplete."""

from recgauge.cli.explain import group_options
from recgauge.sweeps.places import conf_folder


def settings(prefix: str, **_: object) -> list[str]:
    """Return what may follow in a run: groups, and the options of the group that is typed."""
    group, equals, _name = prefix.partition("=")
    if equals:
        return [f"{group}={option}" for option in group_options(group)]
    return [f"{folder.name}=" for folder in conf_folder().iterdir() if folder.is_dir()]

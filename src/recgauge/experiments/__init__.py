"""The experiments' own studies: ``recgauge.experiments.NAME.study`` is ``experiments/NAME/study.py``.

A wheel has the folder here, a checkout has it beside ``src``. No other folder is looked into, least of all
the current one: the study of somebody else is imported only from a package that the command line names.
"""

from pathlib import Path

FOLDER = Path(__file__).resolve().parent
"""A folder for each experiment: page, published numbers, results, figures, and its study if it has one."""
if not (FOLDER.parent / "conf").is_dir():  # a checkout
    FOLDER = FOLDER.parents[2] / "experiments"
    __path__.append(str(FOLDER))

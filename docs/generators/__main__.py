"""Writes what is generated in docs/ and experiments/: ``python docs/generators``, or ``make docs``.

Pages and figures of the experiments are made from their committed results.csv; no experiment is run.
"""

from pathlib import Path

from articles_page import articles_page
from experiments_page import counts, experiments_page, front_page
from metrics_page import metrics_page
from numbers_figure import FIGURE, plot_numbers
from pictures import pictures
from recgauge.cli.commands.experiments import experiment_names, study_of
from recgauge.report.figures.style import save_png
from recgauge.studies import publish, read_results
from settings_page import settings_page

DOCS = Path(__file__).parents[1]
CONF, EXPERIMENTS = DOCS.parent / "conf", DOCS.parent / "experiments"
README = DOCS.parent / "README.md"

for name, picture in pictures().items():
    (DOCS / "images" / f"{name}.svg").write_text(picture, encoding="utf-8")
(DOCS / "metrics.md").write_text(metrics_page(), encoding="utf-8")
(DOCS / "articles.md").write_text(articles_page(), encoding="utf-8")
(DOCS / "settings.md").write_text(settings_page(CONF), encoding="utf-8")
for name in experiment_names():
    if (study := study_of(name)) is not None:
        publish(study, read_results(EXPERIMENTS / name / "results.csv"), EXPERIMENTS / name)
(EXPERIMENTS / "README.md").write_text(experiments_page(EXPERIMENTS), encoding="utf-8")
save_png(plot_numbers(EXPERIMENTS), EXPERIMENTS / FIGURE)
README.write_text(front_page(README.read_text(encoding="utf-8"), counts(EXPERIMENTS)), encoding="utf-8")

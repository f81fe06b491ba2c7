"""Results for people: blocks of tables and statements, and how terminal, Markdown, LaTeX and HTML show them.

Formatting and rounding live here and nowhere else. `blocks` is the model, also as Markdown, `*_tables` make
blocks of records, comparisons, segments and stability, `console`, `latex` and `html` render them, `page` puts
them together as the page of ``recgauge report``.
"""

from recgauge.report.blocks import markdown_line, markdown_table, render_markdown
from recgauge.utils.current_folder import import_matplotlib

import_matplotlib()
__all__ = ["markdown_line", "markdown_table", "render_markdown"]

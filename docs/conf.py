"""Sphinx's settings for the site: ``make docs`` builds it into build/site, without the network.

The source folder is the checkout, so that links between docs/, experiments/ and the files beside them hold on
the site as they do elsewhere; `include_patterns` names the pages.
"""

import re
from importlib.metadata import version as installed_version
from pathlib import Path

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

project = "recgauge"
author = copyright = "The recgauge authors"
version = release = installed_version("recgauge")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
root_doc = "docs/index"
include_patterns = [
    "*.md",
    "docs/**.md",
    "docs/reference/*.rst",
    "experiments/README.md",
    "experiments/*/README.md",
    "benchmarks/README.md",
    "benchmarks/results.md",
]
exclude_patterns = [".*", "build", "dist", "outputs", "mlruns", "mlartifacts", "src", "tests", "untracked"]
suppress_warnings = ["ref.footnote"]  # a section "References" may name what no sentence points at

myst_enable_extensions = ["dollarmath", "html_image"]
myst_heading_anchors = 4  # as GitHub makes them
highlight_language = "none"

autodoc_typehints = "none"  # the docstrings say them, with shapes and units
autodoc_member_order = "alphabetical"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_custom_sections = ["In plain Python"]

templates_path = ["_templates"]
html_theme = "furo"
html_title = "recgauge"
html_additional_pages = {"index": "to_first_page.html"}  # the first page is docs/index.html
html_static_path = ["_static"]
html_favicon = "_static/favicon.svg"
html_css_files = ["site.css"]
html_search_scorer = str(Path(__file__).with_name("search.js"))
html_copy_source = False
html_show_sphinx = False
html_math_renderer = "mathml"  # browsers draw it; no script
html_theme_options = {"navigation_with_keys": True}


def own_footnotes(app, what, name, obj, options, lines):
    """Give the references of each docstring names of their own: a page holds many docstrings."""
    mark = re.sub(r"\W", "-", name)
    number = r"(^\.\. )\[(\d+)\]|\[(\d+)\](?=_\W)"  # where it is given, or pointed at: not [1] in code
    lines[:] = [re.sub(number, rf"\1[#{mark}-\2\3]", line + " ") for line in lines]


def mathml(node, *, as_block):
    """Return a formula as MathML; brackets grow without being told."""
    known = re.sub(r"\\[bB]igg?[lr]?(?![a-z])", "", node.astext().replace(r"\dots", r"\ldots"))
    bar = '<mo stretchy="false"{}>|</mo>'
    return tex2mathml(known, as_block=as_block).replace(bar.format(""), bar.format(' lspace="0" rspace="0"'))


def draw_inline(translator, node):
    """Write a formula within a line."""
    translator.body.append(mathml(node, as_block=False))
    raise nodes.SkipNode


def draw_block(translator, node):
    """Write a formula of its own, which scrolls where the page is narrow."""
    translator.body.append(f'<div class="formula">{mathml(node, as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app):
    """Add what the site needs beyond Sphinx's own."""
    app.connect("autodoc-process-docstring", own_footnotes, priority=400)  # before napoleon
    app.add_html_math_renderer("mathml", (draw_inline, None), (draw_block, None))

"""Sphinx configuration; ``make docs`` builds with it. Nothing here needs the network."""

import sys
from importlib.metadata import version as installed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # for benchmarks.py

project = "perceptron-rs"
author = "perceptron-rs developers"
copyright = author  # noqa: A001
release = version = installed("perceptron-rs")

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "benchmarks"]
templates_path = ["_templates"]
exclude_patterns = ["_build"]
default_role = "py:obj"
highlight_language = "python"

# Types are said in the docstrings.
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_validation_checks = {"GL01", "GL03", "GL07", "GL08", "PR01", "PR02", "PR03", "RT03", "SS03"}
# The class itself has its examples and parameters in one docstring; __init__ has none.
numpydoc_validation_exclude = {r"\.__init__$"}

# An inventory of another project's names would have to be fetched.
nitpick_ignore_regex = [
    (r"py:.*", r"(sklearn|scipy|joblib|numpy)\..*"),
    (r"py:.*", r"float\.hex"),
]

html_theme = "pydata_sphinx_theme"
html_title = f"perceptron-rs {release}"
html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}

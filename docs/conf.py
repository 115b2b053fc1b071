"""Sphinx configuration; ``make docs`` builds with it. Nothing here needs the network."""

import json
import re
import sys
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

from cycler import cycler
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from perceptron_rs.plots.drawing import COLOURS

sys.path.insert(0, str(Path(__file__).parent))
from benchmarks import lines

project = "perceptrons"
author = "perceptrons developers"
copyright = author  # noqa: A001
release = version = installed("perceptrons")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "lectures",
    "mathml",
    "matplotlib.sphinxext.plot_directive",
    "sphinx_gallery.gen_gallery",
    "numpydoc",
]
templates_path = ["_templates"]
# The derivations are shown below rows of the table of lectures.
exclude_patterns = ["_build", "course/derivations.rst"]
default_role = "py:obj"
rst_prolog = ".. currentmodule:: perceptron_rs\n"
highlight_language = "python"

# Not needed to read docstrings, and large.
autodoc_mock_imports = ["pyspark"]
# Types are said in the docstrings.
autodoc_typehints = "none"
numpydoc_show_class_members = False
# Not PR03, the order of parameters: that of a constructor is that of groups that learners share.
numpydoc_validation_checks = {"GL01", "GL03", "GL07", "GL08", "PR01", "PR02", "RT03", "SS03"}
# The class itself has its examples and parameters in one docstring; __init__ has none. Results are made by
# functions: they have attributes, no parameters. Tuples have ``count`` and ``index`` of Python.
numpydoc_validation_exclude = {
    r"\.__init__$",
    r"\.(MarginResult|MarginInterval|JointMargin|MistakeBounds|InseparableError|UndecidedError)(\.|$)",
    r"\.(Lecture|LeaveOneOut|Batch)(\.|$)",
}

# Pictures of the guide are drawn by the code above them, which also runs as a test; those of the gallery by
# examples/.
plot_include_source = True
plot_html_show_source_link = False
plot_html_show_formats = False
plot_formats = [("png", 90)]
plot_rcparams = {
    "figure.figsize": (5, 4),
    "figure.constrained_layout.use": True,
    "legend.fontsize": "small",
    "axes.prop_cycle": cycler(color=COLOURS),
}
plot_apply_rcparams = True
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "within_subsection_order": "FileNameSortKey",
    "thumbnail_size": (800, 480),
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "write_computation_times": False,
    "plot_gallery": "True",
    "abort_on_example_error": True,
    "doc_module": ("perceptron_rs",),
    "backreferences_dir": "generated",
}

# An inventory of another project's names would have to be fetched.
nitpick_ignore_regex = [
    (r"py:.*", r"(sklearn|scipy|joblib|numpy)\..*"),
    (r"py:.*", r"float\.hex"),
]

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_sidebars = {"lab": []}
html_title = f"perceptrons {release}"
html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}


class Benchmarks(SphinxDirective):
    """``.. benchmarks:: FILE``, the file relative to the page."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        _, name = self.env.relfn2path(self.arguments[0], self.env.docname)
        self.env.note_dependency(name)
        results = json.loads(Path(name).read_text(encoding="utf-8"))
        return self.parse_text_to_nodes("\n".join(lines(results)))


def escape_shapes(*arguments: Any) -> None:
    """Keep the underscore that ends a name in a shape from being read as the mark of a link."""
    text = arguments[-1]
    text[:] = [re.sub(r"_(?=[,)])", r"\_", line) if " of shape (" in line else line for line in text]


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the directive known to Sphinx, and read docstrings before numpydoc does."""
    app.connect("autodoc-process-docstring", escape_shapes, priority=100)
    app.add_directive("benchmarks", Benchmarks)
    return {"parallel_read_safe": True}

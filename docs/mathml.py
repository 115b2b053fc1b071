"""Formulas as MathML, which browsers draw themselves: nothing is fetched, and no script runs.

What browsers lack is a font with brackets and roots of any size. The pages bring one, STIX Two Math, with the
characters of formulas alone.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from docutils import nodes
from fontTools import subset
from fontTools.ttLib import TTFont
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def inline(writer: Any, node: nodes.math) -> None:
    """Write a formula of a sentence."""
    writer.body.append(convert(node.astext(), display="inline"))
    raise nodes.SkipNode


def display(writer: Any, node: nodes.math_block) -> None:
    """Write a formula of its own; one that is wider than the page scrolls."""
    # MathML breaks lines and aligns columns in an environment alone; align* needs no dollar signs.
    latex = node.astext()
    if r"\\" in latex and r"\begin" not in latex:
        latex = rf"\begin{{align*}}{latex}\end{{align*}}"
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    writer.body.append(convert(latex, display="block") + "</div>")
    raise nodes.SkipNode


#: Latin, Greek, arrows, operators, brackets; and the bold and italic letters of formulas.
CHARACTERS = [(0x20, 0x7E), (0xA0, 0xFF), (0x300, 0x3FF), (0x2010, 0x2061), (0x2100, 0x23FF)]
CHARACTERS += [(0x2A00, 0x2AFF), (0x1D400, 0x1D467), (0x1D6A8, 0x1D71B)]


def font(app: Sphinx, failed: Exception | None) -> None:
    """Write the font into the pages."""
    if failed is not None or app.builder.format != "html":
        return
    whole = TTFont(str(files("ziamath.fonts") / "STIXTwoMath-Regular.ttf"))
    options = subset.Options(layout_features=["ssty"], name_IDs=["*"], notdef_outline=True)
    part = subset.Subsetter(options)
    part.populate(unicodes=[code for low, high in CHARACTERS for code in range(low, high + 1)])
    part.subset(whole)
    whole.flavor = "woff"
    whole.save(Path(app.outdir) / "_static" / "STIXTwoMath.woff")


def setup(app: Sphinx) -> dict[str, bool]:
    """Make it a renderer that ``html_math_renderer`` can name."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    app.connect("build-finished", font)
    return {"parallel_read_safe": True}

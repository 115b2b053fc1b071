"""The theorem and the largest margin, to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike
from perceptron_rs.margins.result import MarginResult
from perceptron_rs.plots import drawing
from perceptron_rs.targets.labels import label_array
from perceptron_rs.teaching.proof import Proof

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ProofDisplay(drawing.Display):
    r"""The length of the weights between the two curves of Novikoff's proof.

    Parameters
    ----------
    proof : Proof
        What `~perceptron_rs.proof` returned.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    lines_ : dict of str to artist
        "most", :math:`\sqrt{k} R`; "norm", :math:`\|w_k\|`; "progress", :math:`w_k \cdot u`; "least",
        :math:`k \gamma`.
    """

    def __init__(self, proof: Proof) -> None:
        self.proof = proof

    @classmethod
    def from_proof(cls, proof: Proof, *, ax: Axes | None = None) -> Self:
        """Draw a proof.

        Parameters
        ----------
        proof : Proof
            What `~perceptron_rs.proof` returned.
        ax : matplotlib axes, default=None
            Axes to draw on; None makes new ones.

        Returns
        -------
        ProofDisplay
        """
        drawing.check_kind("proof", proof, Proof, "proof")
        return cls(proof).plot(ax)

    def _draw(self, ax: Axes) -> None:
        proof = self.proof
        k = np.arange(1, len(proof.progress) + 1)
        curves = {
            "most": (np.sqrt(proof.most), r"$\sqrt{k}\,R$", {"color": drawing.INK, "linestyle": "--"}),
            "norm": (np.sqrt(proof.squares), r"$\|w_k\|$", {"color": drawing.COLOURS[1], "marker": "."}),
            "progress": (proof.progress, r"$w_k \cdot u$", {"color": drawing.COLOURS[0], "marker": "."}),
            "least": (proof.least, r"$k\,\gamma$", {"color": drawing.INK, "linestyle": ":"}),
        }
        self.lines_ = {
            name: ax.plot(k, values, label=label, **style)[0]
            for name, (values, label, style) in curves.items()
        }
        ax.set(xlabel="updates k", title=rf"at most $(R/\gamma)^2$ = {proof.bound:.4g} updates")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set_ylim(bottom=0)
        ax.legend()


class MarginDisplay(drawing.Display):
    """The largest margin with its certificate: the hyperplane, both hulls, and the rows that prove it.

    Parameters
    ----------
    result : MarginResult
        What `~perceptron_rs.max_margin` found with ``bias="free"``.
    X : ndarray of shape (n_samples, 2)
        The examples.
    y : ndarray of shape (n_samples,)
        Labels of the examples.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    lines_ : list of artists
        The hyperplane and the two at the distance ``lower``, if the classes are separable.
    hulls_ : list of artists
    support_ : artist
        White centres of the rows of the certificate; their areas are the weights.
    """

    def __init__(self, result: MarginResult, X: NDArray[np.float64], y: NDArray[np.generic]) -> None:
        self.result, self.X, self.y = result, X, y

    @classmethod
    def from_result(
        cls, result: MarginResult, X: MatrixLike, y: ArrayLike, *, ax: Axes | None = None
    ) -> Self:
        """Draw a result of `~perceptron_rs.max_margin`.

        Parameters
        ----------
        result : MarginResult
            What `~perceptron_rs.max_margin` found.
        X : array-like of shape (n_samples, 2)
            The examples.
        y : array-like of shape (n_samples,)
            Labels of the examples.
        ax : matplotlib axes, default=None
            Axes to draw on; None makes new ones.

        Returns
        -------
        MarginDisplay

        Raises
        ------
        ValueError
            If X has not two columns.
        """
        drawing.check_kind("result", result, MarginResult, "max_margin")
        values = drawing.two_columns(X)
        drawing.check_rows("result", result.support, values)
        return cls(result, values, label_array(None, y, len(values))).plot(ax)

    def _draw(self, ax: Axes) -> None:
        from scipy.spatial import ConvexHull, QhullError

        result = self.result
        w, b = np.asarray(result.coef), float(result.intercept)
        self.lines_ = []
        if result.lower > 0 and w.any():
            band = result.lower * float(np.sqrt(w @ w))
            for side in (0, -1, 1):
                style = {
                    "color": drawing.INK,
                    "linestyle": "--" if side else "-",
                    "linewidth": 0.8 if side else 1.5,
                }
                self.lines_.append(drawing.line(ax, w, b + side * band, **style))
        self.hulls_ = []
        for k, label in enumerate(np.unique(self.y)):
            own = self.X[self.y == label]
            try:
                corners = own[ConvexHull(own).vertices]
            except (QhullError, ValueError):  # fewer than three corners
                corners = own
            self.hulls_ += ax.fill(*corners.T, color=drawing.COLOURS[k % len(drawing.COLOURS)], alpha=0.15)
        drawing.points(ax, self.X, self.y, np.unique(self.y))
        share = np.asarray(result.dual_weights, dtype=np.float64)
        self.support_ = ax.scatter(
            *self.X[result.support].T,
            s=12 * share / share.max(initial=0.0) if share.any() else 4,
            color="white",
            zorder=4,
        )
        drawing.frame(ax, self.X)
        ax.set_title(f"margin {result.lower:.6g}" if result.lower > 0 else "not separable")

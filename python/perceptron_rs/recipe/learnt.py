"""The recipe of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from perceptron_rs.state.learnt import learnt_of

if TYPE_CHECKING:
    from perceptron_rs.recipe.recipe import Recipe


def learnt_recipe(model: object) -> Recipe | None:
    """Return how data became the columns of a model; None if nobody has said so."""
    return cast("Recipe | None", learnt_of(model).recipe)  # lower rooms know what examples ask of it

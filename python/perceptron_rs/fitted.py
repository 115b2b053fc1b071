"""Whether an estimator is fitted. scikit-learn, which takes long to import, raises the error if it is not."""

from __future__ import annotations

from typing import Any

__all__ = ["check_is_fitted"]


def check_is_fitted(estimator: Any, attribute: str | None = None) -> None:
    """Check as scikit-learn does, which first makes the tags: a sixth of the time to predict a row."""
    if attribute not in vars(estimator):
        from sklearn.utils.validation import check_is_fitted as check

        check(estimator, attribute)

"""Lines of svmlight text as rows, with labels or without; it imports no more than parsing needs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from perceptron_rs._core import read_svmlight_part
from perceptron_rs.common.rows.sparse import CsrArrays
from perceptron_rs.io.svmlight.label_lists import CutLists, as_matrix

__all__ = ["SvmlightText"]

_CONTENT = re.compile(rb"^[ \t]*([^\s#][^\s]*)", re.MULTILINE)
_COLUMN = re.compile(r"(, line \d+, column )(\d+)")
_LABEL = b"0 "


class SvmlightText:
    """Parses whole lines, some at a time.

    Parameters
    ----------
    name : str
        What errors call the file.
    base : bool or None
        Whether columns count from 0. None: they do if these lines have a column 0.
    n_features : int or None, default=None
        Least number of columns.
    is_labelled : bool or None, default=True
        Whether each line begins with a label. None: the first line that has anything tells it.
    refuse_query_ids : bool, default=False
        Whether ``qid:...`` is an error.
    multilabel : bool, default=False
        Whether lines begin with a list of labels.
    labels : sequence or None, default=None
        All labels of the lists; None: they are left out.
    """

    def __init__(
        self,
        name: str,
        base: bool | None,
        *,
        n_features: int | None = None,
        is_labelled: bool | None = True,
        refuse_query_ids: bool = False,
        multilabel: bool = False,
        labels: Sequence[Any] | None = None,
    ) -> None:
        self._multilabel, self._labels = multilabel, labels
        self._name, self._least, self._is_labelled = name, n_features or 0, is_labelled
        self._options: dict[str, Any] = {"zero_based": base, "refuse_query_ids": refuse_query_ids}

    def part(self, first: int, text: bytes) -> tuple[CsrArrays, NDArray[Any] | None, bool]:
        """Return the rows, their labels if they have any, and whether columns count from 0.

        ``first`` is the number of the first line. Lists of labels are a matrix.
        """
        if self._multilabel:
            return self._with_lists(first, text)
        if self._is_labelled is None and (content := _CONTENT.search(text)):
            self._is_labelled = b":" not in content[1]
        unlabelled = self._is_labelled is False
        try:
            values, columns, starts, y, width, is_zero_based = read_svmlight_part(
                _with_labels(text) if unlabelled else text,
                path=self._name,
                lines_before=first - 1,
                **self._options,
            )
        except ValueError as error:
            if unlabelled:  # the label was not there
                raise ValueError(_COLUMN.sub(_without_label, str(error))) from error
            raise
        rows = CsrArrays.of(values, columns, starts, max(width, self._least))
        return rows, None if unlabelled else y, is_zero_based

    def _with_lists(self, first: int, text: bytes) -> tuple[CsrArrays, NDArray[Any] | None, bool]:
        cut = CutLists(text, self._name, first - 1)
        try:
            values, columns, starts, _, width, is_zero_based = read_svmlight_part(
                cut.text, path=self._name, lines_before=first - 1, **self._options
            )
        except ValueError as error:
            raise cut.placed(error) from None
        y = None if self._labels is None else as_matrix(cut.lists, self._labels, self._name)
        return CsrArrays.of(values, columns, starts, max(width, self._least)), y, is_zero_based


def _with_labels(text: bytes) -> bytes:
    """Put a label before each line but comments: an empty line is an example without entries."""
    lines = text.removesuffix(b"\n")
    if b"#" in lines:
        return re.sub(rb"(?m)^(?![ \t]*#)", _LABEL, lines) + b"\n"
    return _LABEL + lines.replace(b"\n", b"\n" + _LABEL) + b"\n"


def _without_label(place: re.Match[str]) -> str:
    return f"{place[1]}{int(place[2]) - len(_LABEL)}"

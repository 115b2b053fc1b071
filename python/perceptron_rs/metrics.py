"""Precision, recall and F1 of classes, and of the chunks of tagged sentences such as B-NP I-NP O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import check_list
from perceptron_rs.arrays.scalars import check_among
from perceptron_rs.choices import Scheme
from perceptron_rs.targets.chunk_tags import SCHEMES, Parts, foreign_tag, tag_parts
from perceptron_rs.targets.distinct import places

ChunkSpan: TypeAlias = tuple[int, int, str]

#: Where a chunk may begin or end by its tag alone, in the schemes BIO, BIOES and BILOU.
_BEGINS, _ENDS = "BSU", "ESLU"


class Scores(TypedDict):
    """Precision, recall and F1, and how many there are."""

    precision: float
    recall: float
    f1: float
    support: int


class KindScores(Scores):
    """The scores of the chunks of one kind, and how many were predicted."""

    kind: str
    found: int


class ChunkScores(Scores):
    """The scores of all chunks, how many were predicted, and the same of each kind."""

    found: int
    kinds: list[KindScores]


def precision_recall(right: int, answered: int, there: int) -> Scores:
    """Return precision, recall and F1, 0 where there is nothing to divide by, and how many there are."""
    return {
        "precision": right / answered if answered else 0.0,
        "recall": right / there if there else 0.0,
        "f1": 2 * right / (answered + there) if answered + there else 0.0,
        "support": there,
    }


def class_scores(y: NDArray[Any], predicted: NDArray[Any], classes: NDArray[np.generic]) -> list[Scores]:
    """Return the scores of each class, which are sorted, and hold all labels; or of a matrix's columns."""
    if y.ndim == 2:
        counts = [np.count_nonzero(held, axis=0) for held in (y & predicted, predicted, y)]
    else:
        true, answers = (places(labels, classes) for labels in (y, predicted))
        counts = [np.bincount(k, minlength=len(classes)) for k in (true[true == answers], answers, true)]
    return [precision_recall(*numbers) for numbers in np.transpose(counts).tolist()]


def chunk_scores(
    y_true: Iterable[Sequence[str]],
    y_pred: Iterable[Sequence[str]],
    *,
    scheme: Scheme | None = None,
) -> ChunkScores:
    """Return precision, recall and F1 of the chunks of tagged sentences, as the command ``tag-evaluate``.

    A tag is O, or a position in a chunk and its kind: B-NP, B_NP, NP-B, NP_B, or B alone, of the kind _.

    Parameters
    ----------
    y_true : iterable of sequences of str
        The tags of each sentence.
    y_pred : iterable of sequences of str
        The predicted tags of each sentence.
    scheme : {"iob2", "iobes", "bilou"} or None, default=None
        Count only chunks that are tagged as this scheme says. None: as the evaluation of the CoNLL shared
        tasks (conlleval) does, which also takes an I without a B for the beginning of a chunk.

    Returns
    -------
    dict
        ``"precision"``, ``"recall"``, ``"f1"``, how many chunks there are (``"support"``) and were predicted
        (``"found"``), and in ``"kinds"`` a list of the same of each kind.

    Raises
    ------
    ValueError
        If the tags are no positions in chunks, or the scheme is unknown or has no such tag. Also if there
        are other numbers of sentences or of tags.
    TypeError
        If they are no strings, or not one list for each sentence.

    Examples
    --------
    >>> from perceptron_rs.metrics import chunk_scores
    >>> found = chunk_scores([["B-NP", "I-NP", "O", "B-NP"]], [["B-NP", "I-NP", "O", "O"]])
    >>> found["precision"], found["recall"], found["support"]
    (1.0, 0.5, 2)
    """
    truth, answers = _sentences("y_true", y_true), _sentences("y_pred", y_pred)
    if len(truth) != len(answers):
        raise ValueError(f"y_true has {len(truth)} sentences, and y_pred {len(answers)}; give the same ones")
    parts = tag_parts(tag for tags in (*truth, *answers) for tag in tags)
    if parts is None:
        raise ValueError(
            "the tags of y_true and y_pred must be positions in chunks, such as B-NP, I-NP and O"
        )
    if scheme is not None:
        check_among("scheme", scheme, *SCHEMES, None)
        if (other := foreign_tag(parts, scheme)) is not None:
            raise ValueError(f"scheme {scheme!r} has no such tag as {other!r}; name another one")
    return scores_of_chunks(truth, answers, parts, scheme)


def _sentences(name: str, values: Any) -> list[list[str]]:
    """Return the tags of each sentence; TypeError for anything else."""
    check_list(name, values, "the tags of each sentence")
    sentences = []
    for i, tags in enumerate(values):
        if isinstance(tags, str) or not isinstance(tags, Iterable):
            raise TypeError(
                f"{name} must hold a list of tags for each sentence, got {tags!r:.80} as sentence {i}; if "
                f"these are the tags of one sentence, write [{name}]"
            )
        sentences.append(list(tags))
        odd = next((tag for tag in sentences[-1] if not isinstance(tag, str)), "")
        if not isinstance(odd, str):
            raise TypeError(
                f"tags must be strings such as B-NP, got {odd!r:.80} in sentence {i} of {name}; write tags "
                f"for numbers, for instance by [[names[tag] for tag in tags] for tags in {name}]"
            )
    return sentences


def scores_of_chunks(
    truth: Iterable[Sequence[str]],
    predicted: Iterable[Sequence[str]],
    parts: Parts,
    scheme: Scheme | None = None,
) -> ChunkScores:
    """Return what `chunk_scores` does, of tags whose parts are known."""
    counts: tuple[Counter[str], Counter[str], Counter[str]] = Counter(), Counter(), Counter()
    for number, (a, b) in enumerate(zip(truth, predicted, strict=True)):
        if len(a) != len(b):
            raise ValueError(f"sentence {number} has {len(a)} tags in y_true, and {len(b)} in y_pred")
        there, answers = (chunks([parts[tag] for tag in tags], scheme) for tags in (a, b))
        for count, some in zip(counts, (there & answers, answers, there), strict=True):
            count.update(kind for *_, kind in some)
    _, answered, _ = counts
    kinds: list[KindScores] = [
        {"kind": kind, **precision_recall(*(count[kind] for count in counts)), "found": answered[kind]}
        for kind in sorted(set().union(*counts))
    ]
    return {
        **precision_recall(*(count.total() for count in counts)),
        "found": answered.total(),
        "kinds": kinds,
    }


def are_chunked(parts: Parts | None) -> bool:
    """Whether tags are surely of chunks: a tag S or U alone may be of words."""
    return parts is not None and any(position in "BI" for position, _ in parts.values())


def chunks(tags: Sequence[tuple[str, str]], scheme: Scheme | None = None) -> set[ChunkSpan]:
    """Return the chunks of one sentence: first token, token behind the last, kind."""
    return _as_conlleval(tags) if scheme is None else _strict(tags, *SCHEMES[scheme])


def _as_conlleval(tags: Sequence[tuple[str, str]]) -> set[ChunkSpan]:
    """Return the chunks that conlleval finds: an I begins one after none, or after another kind."""
    chunks = set()
    begin, kind, before = 0, "", "O"
    for i, (position, name) in enumerate([*tags, ("O", "")]):
        inside = before != "O" and position not in _BEGINS + "O" and before not in _ENDS and name == kind
        if not inside:
            if before != "O":
                chunks.add((begin, i, kind))
            begin, kind = i, name
        before = position
    return chunks


def _strict(tags: Sequence[tuple[str, str]], last: str, single: str) -> set[ChunkSpan]:
    """Return the chunks of strict tags: a B, all I of its kind, and ``last`` if the scheme has it."""
    chunks = set()
    for begin, (position, kind) in enumerate(tags):
        end = begin + 1
        if position == single:
            chunks.add((begin, end, kind))
        if position != "B":
            continue
        while end < len(tags) and tags[end] == ("I", kind):
            end += 1
        if not last:
            chunks.add((begin, end, kind))
        elif end < len(tags) and tags[end] == (last, kind):
            chunks.add((begin, end + 1, kind))
    return chunks

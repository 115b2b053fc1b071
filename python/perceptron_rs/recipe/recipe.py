"""How data became the columns of a model: kept with the model, to make columns of later data alike."""

from __future__ import annotations

from dataclasses import Field, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from perceptron_rs.arrays.likes import MatrixLike
from perceptron_rs.arrays.named import State
from perceptron_rs.features.idf import Idf
from perceptron_rs.features.text import HashedText, KeptWords
from perceptron_rs.recipe.blocks import ColumnBlock, as_json, block_columns
from perceptron_rs.recipe.scale import Scale

if TYPE_CHECKING:
    from perceptron_rs.io.hashed.hasher import ExampleHasher

#: What the names of tensors of n-grams begin with.
WORDS = "words_"
#: Parts that are left out where they say nothing.
LATER = ("text_columns", "calibration", "blocks", "decimal")


@dataclass(frozen=True)
class Recipe:
    """Description of how data became columns: of files, or by transformers of scikit-learn.

    Parameters
    ----------
    format : str
        The format of the data.
    hash_bits : int or None
        The columns are hashed to 2 ** hash_bits.
    columns : tuple of str or None
        The columns of a table that were hashed, or the name of the tensor of examples.
    texts : tuple of str or None
        Those of them that hold strings.
    scale : Scale, Idf or None
        How the columns were scaled.
    holdout : float or None
        The share of the examples that was not learnt from.
    calibration : float or None
        The share, of all, on which the scores were calibrated: a part of the one that was held out.
    missing : tuple of str
        Cells of a table that stand for a missing value.
    decimal : str or None
        What came before a fraction in a table whose numbers were written as people do.
    target : str or None
        The column of a table, or the tensor, that held the labels; None: the last column.
    delimiter : str or None
        What separated the columns; None: what its format says.
    header : bool or None
        Whether the first line held names; None: it had to.
    drop : tuple of str
        Columns that were no features, of a table whose columns have no names to keep; keys of JSON lines.
    sample_weight : str or None
        The key of the weights of examples, which is no feature of JSON lines.
    """

    format: str
    hash_bits: int | None = None
    columns: tuple[str, ...] | None = None
    texts: tuple[str, ...] | None = None
    scale: Scale | Idf | None = None
    holdout: float | None = None
    missing: tuple[str, ...] = ()
    target: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    drop: tuple[str, ...] = ()
    sample_weight: str | None = None
    calibration: float | None = None
    #: How text was hashed.
    text: HashedText | None = None
    #: Columns of a table, or keys of JSON lines, that held texts.
    text_columns: tuple[str, ...] = ()
    decimal: str | None = None
    #: What transformers of scikit-learn made, side by side: then nothing else is said.
    blocks: tuple[ColumnBlock, ...] = ()
    #: N-grams of the columns that have weights.
    words: KeptWords | None = field(default=None, compare=False)

    def columns_of(self, X: object) -> MatrixLike:
        """Return the columns of texts or dictionaries that are hashed; X itself, if it is none of these."""
        from perceptron_rs.recipe.raw import raw_columns

        return block_columns(self.blocks, X) if self.blocks else raw_columns(self, X)

    @property
    def makes_columns(self) -> bool:
        """Whether it makes columns of texts, names or categories, and not of numbers alone."""
        return self.text is not None or self.hash_bits is not None or bool(self.blocks)

    def hasher(self) -> ExampleHasher:
        """Return what hashes raw examples."""
        from perceptron_rs.io.hashed.hasher import ExampleHasher

        assert self.hash_bits is not None
        is_text = self.text is not None and not self.text_columns
        return ExampleHasher(
            n_columns=1 << self.hash_bits,
            n_texts=int(is_text) + len(self.text_columns),
            text=self.text,
            scale=self.scale if self.text_columns or isinstance(self.scale, Idf) else None,
        )

    def scaled(self, X: object) -> MatrixLike:
        """Return the columns of numbers as the scaler leaves them; beside texts it is applied with them."""
        return self.scale.applied(X) if isinstance(self.scale, Scale) and not self.text_columns else X

    def in_words(self) -> str:
        """Return how columns were made, for people."""
        texts, strings = self.text_columns, self.texts or ()
        numbers = [name for name in self.columns or () if self.hash_bits and name not in {*texts, *strings}]
        if self.blocks:
            return "; ".join(block.in_words() for block in self.blocks)
        lists = (("texts", texts), ("categories", strings), ("numbers", numbers))
        parts = [f"{what} {', '.join(map(repr, names))}" for what, names in lists if names]
        if self.text is not None:
            usual = HashedText()
            changed = [
                (name, value) for name, value in vars(self.text).items() if value != getattr(usual, name)
            ]
            parts += [f"{name} {value}" for name, value in changed]
        parts += [] if self.hash_bits is None else [f"hashed to 2^{self.hash_bits} columns"]
        parts += [] if self.scale is None else [f"scaled by {self.scale.kind}"]
        return "; ".join([self.format, *parts])

    def numbers(self) -> State:
        """Return the arrays that columns depend on."""
        arrays: State = {} if self.scale is None else dict(self.scale.tensors())
        for i, block in enumerate(self.blocks):
            arrays |= {f"block{i}_{name}": array for name, array in block.tensors().items()}
        return arrays

    def tensors(self) -> State:
        """Return the arrays of it."""
        words = {} if self.words is None else self.words._asdict()
        return self.numbers() | {f"{WORDS}{name}": array for name, array in words.items()}

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON, but for what `tensors` holds."""
        description = {part.name: as_json(getattr(self, part.name)) for part in described()}
        for name in LATER:
            if not description[name]:
                del description[name]  # as files had it before there were any
        return description


def described() -> list[Field[Any]]:
    """Return the parts that JSON has."""
    return [part for part in fields(Recipe) if part.name != "words"]

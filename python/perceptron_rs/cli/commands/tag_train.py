"""``perceptrons tag-train``: from a file of tagged sentences to a model file."""

from __future__ import annotations

import shlex
import warnings
from argparse import Namespace
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from perceptron_rs.cli.status import PROGRAM, UsageError
from perceptron_rs.cli.tagging import TaggedFiles, load_tagger
from perceptron_rs.cli.training import common as training
from perceptron_rs.features import AttributeEncoder
from perceptron_rs.features.categories import alike, say_alike
from perceptron_rs.io.text.lines import is_read_once


def run(arguments: Namespace) -> int:
    """Read, fit, write, and say how it went."""
    arguments.learner = "sequence"
    return training.run_training(arguments, SentenceTraining)


class SentenceTraining(training.Training):
    """Training on tagged sentences."""

    of_model = (
        *("tag_column", "columns", "template", "window"),
        *("min_count", "hash_columns", "transition_features"),
    )

    def __init__(self, arguments: Namespace, before: Any, blocks: dict[str, Any] | None) -> None:
        super().__init__(arguments, before, blocks)
        options = vars(arguments)
        if "window" in options and options.get("template") == "columns":
            raise UsageError("--window has no effect without --template words")
        if (tag := options.get("tag_column")) in options.get("columns", ()):
            raise UsageError(f"--tag-column {tag} is one of --columns; leave it out there")
        template = None if before is None else before.template_
        self.data = TaggedFiles(arguments, template, learns=True)
        if blocks is not None and is_read_once(arguments.data):
            raise UsageError(
                f"{self.data.name} can be read only once, but --stream takes several passes; name a file"
            )
        if blocks is not None and "validation_fraction" in options:
            raise UsageError("--held-out cannot be combined with --stream")

    @staticmethod
    def load(arguments: Namespace) -> Any:
        """Return the model that goes on."""
        return load_tagger(Path(arguments.continued), learns=True)

    def open(self, model: Any) -> Callable[[], object]:
        """Read the sentences, unless they are read in blocks."""
        if self.blocks is not None:
            return partial(model.fit_stream, self.data.source(), **self.blocks)
        sentences = list(self.data.sentences())
        if self.before is None:
            encoder = AttributeEncoder(model.min_count, model.hash_columns)
            X, y, lengths = self.data.encoded(sentences, encoder.fit_transform)
        else:
            encoder = model.encoder_
            X, y, lengths = self.data.encoded(sentences, encoder.transform)
        return partial(model.fit_encoded, encoder, X, y, lengths=lengths)

    def keep(self, model: Any) -> None:
        """Put the template on the model."""
        model.template_ = self.data.template
        if self.data.counts is None:
            deque(self.data.sentences(), maxlen=0)  # all came out of a cache, or the only pass was cut
        if self.before is None and len(model.classes_) < 2:
            warnings.warn(
                f"{self.data.name}: the only tag is {str(model.classes_[0])!r}; if it is in another column, "
                "name that by --tag-column",
                UserWarning,
                stacklevel=1,
            )

    def report(self, model: Any, end: str) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the report of the training, as JSON and in words."""
        n, n_tokens = self.data.counts or (0, 0)
        tokens = model.token_errors_per_epoch_.tolist()
        sentences = model.sequence_errors_per_epoch_.tolist()
        result = {
            "n_sentences": n,
            "n_tokens": n_tokens,
            "tags": model.classes_.tolist(),
            "template": dict(model.template_),
            "sentence_errors_per_epoch": sentences,
            "token_errors_per_epoch": tokens,
        }
        columns = ", ".join(map(str, model.template_.get("positions", ())))
        rows = {
            "data": f"{n} sentences, {n_tokens} tokens, {len(model.classes_)} tags",
        }
        if self.data.is_conll_u:
            rows["CoNLL-U"] = (
                f"tags of column {self.data.tag} (UPOS), words of column {columns}; --tag-column and "
                "--columns name others"
            )
        rows |= {
            "columns": f"{model.n_features_in_} attributes",
            "epochs": end,
            "mistakes": f"{sum(tokens[-1:])} tokens of {sum(sentences[-1:])} sentences in the last epoch",
        }
        if same := alike(model.classes_.tolist()):
            result["labels_alike"], rows["alike"] = list(map(list, same)), say_alike(same)
        if hasattr(model, "validation_scores_"):
            result["validation_scores"] = model.validation_scores_[:, 0].tolist()
            rows["held out"] = f"accuracy {model.validation_scores_.max():.4f}"
        return result, rows

    def next_steps(self, out: Path) -> list[str]:
        """Return what to type next, a command a line."""
        model = shlex.quote(str(out))
        return [f"{PROGRAM} tag {model} NEW", f"{PROGRAM} tag-evaluate {model} TAGGED"]

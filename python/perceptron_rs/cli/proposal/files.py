"""What to type instead, where a file cannot be learnt from as it is: by a look at its beginning.

It is one line for a shell. The command `convert` comes first, if another file must be made of it.
"""

from __future__ import annotations

import csv
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TextIO

from perceptron_rs.cli.proposal.columns import chosen
from perceptron_rs.cli.proposal.form import MOST, Form, unused
from perceptron_rs.cli.proposal.kinds import form_of
from perceptron_rs.cli.status import PROGRAM
from perceptron_rs.io.text.paths import PACKED, SUFFIXES

#: What becomes of a line without a label, which somebody must write.
_BY_HAND = "in {}, write a label in place of each LABEL; then type: {}"


def proposal(
    word: str, typed: Sequence[str], target: str | None = None, *, is_known: bool = False
) -> str | None:
    """Return what to type for the one word of DATA that cannot be read; None if nobody knows.

    ``typed`` are the words of the command, whose options are kept: of those that say how to read it, that is
    --target alone. ``is_known``: a model knows how to read it, so that only another file is proposed.
    """
    with suppress(Exception), _large_cells():  # what a file holds that nobody can read, raises anything
        chosen.set(target)
        form = form_of(Path(word))
        return form and _line(word, list(typed), form, is_known=is_known)
    return None


def convert(word: str, target: str | None, out: TextIO) -> bool:
    """Write what a command learns from instead of a file; return whether there is such a thing."""
    Path(word).stat()  # which says what is wrong with a name
    with _large_cells():
        chosen.set(target)
        form = form_of(Path(word))
        if form is None or form.write is None:
            return False
        form.write(out)
    return True


@contextmanager
def _large_cells() -> Iterator[None]:
    limit = csv.field_size_limit(MOST)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def _line(word: str, typed: list[str], form: Form, *, is_known: bool) -> str | None:
    options, file, steps = list(form.options), word, []
    if form.ending:
        path = Path(word)
        file = unused(f"{Path(path.stem if path.suffix in PACKED else path.name).stem}{form.ending}")
        target = chosen.get()
        of_target = [] if target is None else ["--target", target]
        program = ["python", "-c", form.program] if form.program else [PROGRAM, "convert"]
        steps = [f"{shlex.join([*program, word, *of_target])} > {shlex.quote(file)}"]
    forms = {SUFFIXES.get(Path(file).suffix), *options}
    if forms & {"csv", "tsv", "parquet"} and find_spec("pyarrow") is None:
        steps.insert(0, "pip install pyarrow")
    if is_known:
        options = options if "--labels" in options else []
        is_drawn = "two classes" in form.note and typed[0] != "predict"  # other files have other ones
        if is_drawn or form.is_by_hand or not (steps or options):
            return None
    elif form.is_short:
        return None
    elif typed[0] != "train":  # separable and margin: of one label, without a scale
        if form.command != "train" or "--multilabel" in options:
            return None
        options = options[: options.index("--scale")] if "--scale" in options else options
    new = [file if one == word else one for one in typed] + options
    if form.command != "train":
        new = [form.command, file]
    if new == typed or (not steps and options[:1] == ["--scale"]):  # a scale alone helps nobody to read
        return None
    line = f"{PROGRAM} {shlex.join(new)}"
    if form.is_by_hand:
        return f"{' && '.join(steps)}   # {_BY_HAND.format(file, line)}"
    return " && ".join([*steps, line]) + f"   # {form.note}" * bool(form.note)

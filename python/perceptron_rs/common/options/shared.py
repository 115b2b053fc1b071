"""Options of learners that several families have. Only argparse may be imported here."""

from __future__ import annotations

import argparse

from perceptron_rs.common.options import kinds
from perceptron_rs.common.options.kinds import SWITCH, Option, add
from perceptron_rs.common.options.ranges import LARGEST, Range, Text, Words

__all__ = [
    "ADDED_FEATURE",
    "CLASS_WEIGHT",
    "JOINT",
    "NOISE",
    "PARTITIONS",
    "PREDICTION",
    "STOPPING",
    "UPDATES",
    "add_audit",
    "add_audit_key",
    "add_stream",
    "epochs",
    "intercept",
    "kernels",
]


def epochs(most: int, tol: str, patience: int) -> tuple[Option, ...]:
    """Return the options of all that learns in epochs; the arguments are the defaults."""
    return (
        Option("max_iter", f"maximum number of epochs ({most})", kinds.POSITIVE, name="epochs"),
        Option("tol", f"stop when the loss improves by less than X, or none ({tol})", kinds.TOLERANCE),
        Option(
            "n_iter_no_change",
            f"epochs without improvement before stopping ({patience})",
            kinds.POSITIVE,
        ),
        Option("shuffle", "shuffle the examples in each epoch (the default)", SWITCH),
        Option("random_state", "seed of the random generator (0)", kinds.SEED, name="seed"),
    )


def add_audit(command: argparse._ActionsContainer) -> None:
    """Add whether a model keeps digests of its examples, and with which key."""
    group = command.add_argument_group("audit")
    add(group, "--no-audit", "keep no digests of the examples in the model file")
    add_audit_key(group)


def add_audit_key(group: argparse._ActionsContainer) -> None:
    """Add the key of digests."""
    text = "key of the digests, without which nobody can test a guess: 32 bytes, or 64 hexadecimal digits"
    add(group, "--audit-key FILE", text)


CLASS_WEIGHT = Option(
    "class_weight",
    "weight of the examples of a class; repeat for more classes; or: balanced",
    Text({"action": "append", "metavar": "LABEL=X"}),
)

#: Of all that learn by mistakes.
UPDATES = (
    Option("eta0", "learning rate (1)", kinds.RATE),
    Option("tie", "how to treat an activation of exactly 0 (mistake)", Words(("mistake", "positive"))),
    CLASS_WEIGHT,
)

#: Of all that hold examples out.
STOPPING = (
    Option(
        "early_stopping",
        "hold examples out: stop when their score stops improving, and keep the best epoch",
        SWITCH,
    ),
    Option(
        "validation_fraction",
        "share of the examples in the validation set (0.1)",
        kinds.FRACTION,
        needs={"early_stopping": (True,)},
    ),
)
JOINT = (
    Option(
        "multi_class", "one class against the rest, or all classes jointly (ovr)", Words(("ovr", "joint"))
    ),
    Option(
        "joint_update",
        "which classes a joint update demotes (max)",
        Words(("max", "uniform", "proportional")),
        needs={"multi_class": ("joint",)},
    ),
)

NOISE = (
    Option(
        "margin_threshold",
        "margin that an example must exceed to count as correct (0)",
        kinds.AMOUNT,
    ),
    Option(
        "max_mistakes_per_example",
        "tolerate noise: maximum number of updates that one example may cause",
        Range(1, LARGEST, whole=True, none=True),
    ),
)

ADDED_FEATURE = Option(
    "added_feature", "tolerate noise: value of an extra feature per example (0)", kinds.AMOUNT
)

PARTITIONS = (
    Option(
        "n_partitions",
        "number of parts of the data to learn from side by side (1)",
        kinds.POSITIVE,
    ),
    Option(
        "mixing",
        "how to mix what was learnt from the parts (uniform)",
        Words(("uniform", "mistakes")),
        needs={"n_partitions": ()},
    ),
)

PREDICTION = ("vote", "average", "last", "random")


def intercept(default: bool) -> Option:
    """Return the option that switches the intercept on and off."""
    said = "the default" if default else "by default there is none"
    return Option("fit_intercept", f"fit an intercept ({said})", SWITCH, name="intercept")


def kernels(default: str, *choices: str, constant: Range = kinds.FINITE) -> tuple[Option, ...]:
    """Return the options of a kernel and its parameters; ``constant`` is what coef0 may be."""
    powers = tuple(name for name in ("poly", "sigmoid") if name in choices)
    return (
        Option("kernel", f"kernel function ({default})", Words(choices)),
        Option(
            "gamma",
            "kernel coefficient: a number, scale or auto (scale)",
            Range(0, closed="neither", words=("scale", "auto")),
            needs={"kernel": (*((None,) if default == "rbf" else ()), "rbf", *powers)},
        ),
        Option(
            "degree",
            "degree of the polynomial kernel (3)",
            kinds.POSITIVE,
            needs={"kernel": ("poly",)},
        ),
        Option("coef0", "constant term of the kernel (0)", constant, needs={"kernel": powers}),
    )


def add_stream(command: argparse.ArgumentParser, *, one_pass: bool = False) -> None:
    """Add the options of a run over data that need not fit into memory; ``one_pass``: of a pipe, too."""
    group = command.add_argument_group("data larger than memory")
    if one_pass:
        text = "all labels, which else a pass finds out; with --epochs 1 and --features, a pipe will do"
        add(group, "--classes LABEL,...", text, kinds.names)
    text = "read DATA in blocks, once for each epoch, in its own order, or with --shuffle and --cache in "
    add(group, "--stream", f"{text}shuffled blocks")
    text = "number of examples in a block (as many as take about 8 MB; with --shuffle, 16384)"
    add(group, "--block-size N", text, kinds.POSITIVE)
    add(group, "--cache FILE", "keep the examples in the binary file FILE, for later epochs and runs")
    add(group, "--checkpoint FILE", "write to FILE, again and again, how far the run is")
    add(group, "--checkpoint-every SECONDS", "time between two of them (60)", kinds.AMOUNT)
    add(group, "--resume", "go on from --checkpoint, if the file is there")

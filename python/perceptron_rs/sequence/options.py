"""The commands on sequences and their options. Only argparse may be imported here."""

from __future__ import annotations

import argparse

from perceptron_rs.common.options import kinds
from perceptron_rs.common.options.kinds import SWITCH, Command, Option, add
from perceptron_rs.common.options.ranges import LARGEST, Range, Words
from perceptron_rs.common.options.shared import PARTITIONS, add_audit, add_stream

__all__ = ["ATTRIBUTES", "COMMANDS", "LEARNING"]


#: Of the parameters of `SequencePerceptron`; those that are not given keep its defaults.
ATTRIBUTES = (
    Option("min_count", "ignore features of fewer than N tokens (1)", Range(1, whole=True)),
    Option(
        "hash_columns",
        "hash features to N columns instead of keeping a vocabulary",
        Range(1, LARGEST, whole=True, none=True),
    ),
    Option("transition_features", "also learn weights of features for pairs of tags", SWITCH),
)
LEARNING = (
    Option("max_iter", "maximum number of epochs (10)", kinds.POSITIVE, name="epochs"),
    Option(
        "averaged",
        "predict with averaged weights (the default), or with the last ones",
        SWITCH,
        name="average",
    ),
    Option("shuffle", "shuffle the sentences in each epoch (the default)", SWITCH),
    Option("random_state", "seed of the random generator (0)", kinds.SEED, name="seed"),
    Option("eta0", "learning rate (1)", kinds.RATE),
    Option("beam_width", "beam width: keep the N best tags of each token (all)", kinds.POSITIVE, name="beam"),
    Option(
        "update",
        "with --beam: which part of a wrong sentence to update on (full)",
        Words(("full", "early", "max_violation")),
        needs={"beam_width": ()},
    ),
    Option(
        "validation_fraction",
        "hold out this share of the sentences, and keep the epoch that tags them best",
        kinds.FRACTION,
        name="held_out",
    ),
    Option(
        "n_iter_no_change",
        "epochs without improvement on --held-out before stopping (2)",
        kinds.POSITIVE,
        needs={"validation_fraction": ()},
    ),
    *PARTITIONS,
)


def _tag_train(command: argparse.ArgumentParser) -> None:
    """Add what tag-train takes."""
    kinds.add_data(command, "tagged sentences")
    kinds.add_training(command, "its tags, features and parameters")
    add_stream(command)
    group = command.add_argument_group("attributes")
    kinds.add_tag_column(group, "column that holds the tag, from 1 (the last)")
    text = "columns that hold the word and further features (all before the tag)"
    add(group, "--columns N,...", text, kinds.numbers)
    text = "words: features of the word in the first of the columns and of its neighbours; columns: each "
    add(group, "--template", f"{text}column is one feature (words)", ("words", "columns"))
    add(group, "--window N", "neighbours on each side that --template words uses (2)", kinds.WINDOW)
    for option in ATTRIBUTES:
        option.add_to(group)
    group = command.add_argument_group("learning")
    for option in LEARNING:
        option.add_to(group)
    kinds.add_threads(group)
    kinds.add_engine(group)
    add_audit(command)


def _tag(command: argparse.ArgumentParser) -> None:
    """Add what tag takes."""
    kinds.add_model(command, "a model file of tag-train")
    kinds.add_data(command, "sentences without tags", piped=True)
    text = "column of DATA to write the tag to, from 1 (as in the training; a new one if there is none such)"
    kinds.add_tag_column(command, text)
    add(command, "--tags-only", "print the tags without the columns")
    kinds.add_threads(command)


def _tag_evaluate(command: argparse.ArgumentParser) -> None:
    """Add what tag-evaluate takes."""
    kinds.add_model(command, "a model file of tag-train")
    kinds.add_data(command, "tagged sentences")
    kinds.add_tag_column(command, "column that holds the true tag, from 1 (as in the training)")
    kinds.add_threads(command)


COMMANDS = (
    Command("tag-train", "train a tagger on tagged sentences", "sequences", _tag_train),
    Command("tag", "tag the tokens of DATA", "sequences", _tag, "print one JSON object for each sentence"),
    Command("tag-evaluate", "evaluate a tagger on the tags of DATA", "sequences", _tag_evaluate),
)

"""The commands on sequences and their options. Only argparse may be imported here."""

from __future__ import annotations

import argparse

from perceptron_rs.choices import Scheme, words
from perceptron_rs.io.options import add_max_ratio
from perceptron_rs.parameters import kinds
from perceptron_rs.parameters.groups import add_options, options
from perceptron_rs.parameters.kinds import Command, add, add_audit
from perceptron_rs.sequence.parameters import SequencePerceptronParameters
from perceptron_rs.stream.options import StreamOptions

#: The parameters that say what becomes of the features of a token.
_OF_FEATURES = ("min_count", "hash_columns", "transition_features")

_COLUMNS = "columns of DATA that the model reads (as in the training; of one, a file of one column is that)"


def _tag_train(command: argparse.ArgumentParser) -> None:
    """Add what tag-train takes."""
    kinds.add_data(command, "tagged sentences")
    kinds.add_training(command, "its tags, features and parameters")
    add_options(command.add_argument_group("data larger than memory"), StreamOptions, "classes")
    group = command.add_argument_group("attributes")
    kinds.add_tag_column(group, "column that holds the tag, from 1 (the last; of CoNLL-U 4, UPOS)")
    text = "columns that hold the word and further features (all before the tag; of CoNLL-U 2, words)"
    _add_columns(group, text)
    text = "words: features of the word in the first of the columns and of its neighbours; columns: each "
    add(
        group,
        "--template",
        f"{text}column is one feature (words)",
        ("words", "columns"),
        default=argparse.SUPPRESS,
    )
    text = "neighbours on each side that --template words uses (2)"
    add(group, "--window N", text, kinds.WINDOW, default=argparse.SUPPRESS)
    learning = command.add_argument_group("learning")
    for option in options(SequencePerceptronParameters):
        option.add_to(group if option.parameter in _OF_FEATURES else learning)
    kinds.add_threads(learning)
    kinds.add_engine(learning)
    add_audit(command)
    _end(command)


def _end(command: argparse.ArgumentParser, json: str = kinds.JSON) -> None:
    add_max_ratio(command)
    kinds.add_output(command, json)


def _add_columns(place: kinds.OptionPlace, text: str) -> None:
    add(place, "--columns N,...", text, kinds.numbers, default=argparse.SUPPRESS)


def _add_constraints(place: kinds.OptionPlace) -> None:
    text = "answer only with chunks as this scheme has them; none: with any tags (as the model does)"
    add(place, "--constraints", text, (*words(Scheme), "none"), default=argparse.SUPPRESS)


def _tag(command: argparse.ArgumentParser) -> None:
    """Add what tag takes."""
    kinds.add_model(command, "a model file of tag-train")
    kinds.add_data(command, "sentences without tags", piped=True)
    text = "column of DATA to write the tag to, from 1 (as in the training; a new one if there is none such)"
    kinds.add_tag_column(command, text)
    _add_columns(command, _COLUMNS)
    add(command, "--tags-only", "print the tags without the columns")
    _add_constraints(command)
    shown = command.add_mutually_exclusive_group()
    text = "print after each tag by how much the best tags score more than the best with another tag there"
    add(shown, "--scores", text)
    text = "print the N best taggings of each sentence, each behind a line with its rank and its score"
    add(shown, "--best N", text, kinds.POSITIVE)
    kinds.add_threads(command)
    _end(command, "print one JSON object for each sentence")


def _tag_evaluate(command: argparse.ArgumentParser) -> None:
    """Add what tag-evaluate takes."""
    kinds.add_model(command, "a model file of tag-train")
    kinds.add_data(command, "tagged sentences")
    kinds.add_tag_column(command, "column that holds the true tag, from 1 (as in the training)")
    _add_columns(command, _COLUMNS)
    _add_constraints(command)
    text = "count only chunks that are tagged as this scheme says (as conlleval does, which is lenient)"
    add(command, "--scheme", text, ("iob2", "iobes", "bilou"))
    kinds.add_threads(command)
    _end(command)


COMMANDS = (
    Command("tag-train", "train a tagger on tagged sentences", "sequences", _tag_train),
    Command("tag", "tag the tokens of DATA", "sequences", _tag),
    Command("tag-evaluate", "evaluate a tagger on the tags of DATA", "sequences", _tag_evaluate),
)

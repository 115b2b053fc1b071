"""What commands say of streams: the arguments of ``fit_stream``, with their defaults."""

from dataclasses import fields
from inspect import signature

from perceptron_rs import Perceptron
from perceptron_rs.parameters.groups import options as options_of
from perceptron_rs.stream import fit
from perceptron_rs.stream.options import StreamOptions


def test_options_are_the_arguments_of_fit_stream_and_have_their_defaults():
    """`--shuffle` is an option of the learner, which says the order of blocks, too."""
    arguments = signature(Perceptron.fit_stream).parameters
    expected = {name: arguments[name].default for name in arguments.keys() - {"self", "source", "shuffle"}}
    assert {field.name: field.default for field in fields(StreamOptions)} == expected | {"stream": False}


def test_help_says_what_is_done_without_an_option():
    """The size of blocks as it is found then; of files, that there are none, goes without saying."""
    said = {option.parameter: option.help for option in options_of(StreamOptions)}
    ends = {
        "block_size": f" (as many as take about {fit._BYTES >> 20} MB; with --shuffle, {fit._USUAL})",
        "checkpoint_every": f" ({signature(Perceptron.fit_stream).parameters['checkpoint_every'].default:g})",
    }
    assert {name for name, text in said.items() if text.endswith(")")} == ends.keys()
    assert all(said[name].endswith(end) for name, end in ends.items())

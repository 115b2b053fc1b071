"""Examples of users' own sources are read in each pass, unless a test asks for those that are kept, too."""

import pytest

from perceptron_rs.io.source import SMALL


@pytest.fixture(autouse=True)
def _of_many(monkeypatch):
    monkeypatch.setattr("perceptron_rs.stream.blocks.SMALL", -1)


@pytest.fixture(params=[True, False], ids=["few", "many"])
def are_few(request, _of_many, monkeypatch):
    """Whether a source has so few examples that they are kept in memory."""
    monkeypatch.setattr("perceptron_rs.stream.blocks.SMALL", SMALL if request.param else -1)
    return request.param

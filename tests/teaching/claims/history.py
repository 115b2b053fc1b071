"""What the lectures say of history, by the works themselves and not by our page about it."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from tests.teaching.claims.problems import Answer

#: Who published what the page tells of, when, and under which DOI, report or pages.
WORKS = [
    ("Fisher", 1936, "10.1111/j.1469-1809.1936.tb02137.x"),
    ("McCulloch", 1943, "10.1007/BF02478259"),
    ("Fix", 1951, "10.2307/1403797"),
    ("Rosenblatt", 1957, "Report 85-460-1"),
    ("Rosenblatt", 1958, "10.1037/h0042519"),
    ("New Yorker", 1958, "page 44"),
    ("Block", 1962, "10.1103/RevModPhys.34.123"),
    ("Novikoff", 1962, "Theory of Automata 12"),
    ("Aizerman", 1964, "Automation and Remote Control 25"),
    ("Minsky", 1969, "MIT Press"),
    ("Werbos", 1974, "Harvard University"),
    ("Rumelhart", 1986, "10.1038/323533a0"),
    ("Gallant", 1990, "10.1109/72.80230"),
    ("Freund", 1998, "10.1145/279943.279985"),
    ("Collins", 2002, "10.3115/1118693.1118694"),
    ("Crammer", 2003, "Journal of Machine Learning Research 3"),
    ("Chase", 2016, "10.7717/peerj.2354"),
]
#: Of what no work of the list is about: a death, and the census that Chase and others evaluate.
EVENTS = [("Rosenblatt", 1971), ("census", 2014)]
#: The New Yorker's own summary of its talk.
RIVAL = (
    "successfully simulated on the I.B.M. 704. [...] It can tell the difference betw. a cat and a dog, "
    "although it wouldn't be able to tell whether the dog was to the left or right of the cat. Right now it "
    "is of no practical use [...] send one into outer space to take in impressions for us."
)
#: The grid of the Elephant Listening Project in Congo, as its newsletter of October 2019 and the Wildlife
#: Conservation Society have it: square kilometres, and recorders.
GRID = (1250, 50)


def history() -> str:
    """Return the page about history, in one line."""
    page = Path(__file__).parents[3] / "docs" / "course" / "history.rst"
    return " ".join(page.read_text(encoding="utf-8").split())


def published(name: str) -> int:
    """Return the year of somebody's first work of the list."""
    return min(year for author, year, _ in WORKS if author == name)


def it_is_the_oldest_algorithm() -> Answer:
    """Of binary classification: beside a discriminant, and the nearest neighbours."""
    return all(published("Rosenblatt") <= published(other) for other in ("Fisher", "Fix"))


def rosenblatt_in_1957() -> Answer:
    return published("Rosenblatt") == 1957 and "Rosenblatt's perceptron, 1957" in history()


def the_new_yorker_of_1958() -> Answer:
    """On 6 December, a Saturday, as each of its issues then; the page says what the summary says."""
    said = "cat", "dog", "left", "right", "of no practical use", "outer space", "take in impressions for us"
    story = history().split("The New Yorker, 1958")[1].split("A proof, and a doubt")[0]
    assert all(words in text for words in said for text in (RIVAL, story))
    assert "IBM 704" in history()
    assert "6 December 1958" in story
    return date(1958, 12, 6).strftime("%A") == "Saturday" and published("New Yorker") == 1958


def elephants_and_poachers() -> Answer:
    area, recorders = GRID
    each = area // recorders
    words = f"{recorders} recorders", f"one for each {each} square kilometres", "elephants and poachers"
    return all(phrase in history() for phrase in words)

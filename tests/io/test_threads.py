"""Work on threads gives what work in turn gives."""

import os
import threading

import pytest

from perceptron_rs.io.text.threads import in_order


@pytest.fixture(params=[1, 2])
def processors(request, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(request.param)), raising=False)
    return request.param


def test_results_come_in_the_order_of_the_items(processors):
    later = [threading.Event() for _ in range(20)]

    def work(number):
        if processors > 1 and number % 2 == 0:
            assert later[number + 1].wait(600)  # the next item is done before this one
        later[number].set()
        return number

    assert list(in_order(work, range(20))) == list(range(20))


def test_few_items_are_taken_before_their_results_are(processors):
    taken = []
    results = in_order(lambda item: item, (taken.append(item) or item for item in range(100)))
    assert next(results) == 0
    assert len(taken) == processors + 1
    results.close()
    assert len(taken) == processors + 1


@pytest.mark.parametrize("wrong", ["item", "work"])
def test_an_error_comes_behind_the_results_before_it(processors, wrong):
    def items():
        yield from range(5)
        if wrong == "item":
            raise OSError("five")
        yield 5

    def work(item):
        if item == 5:
            raise OSError("five")
        return item

    results = in_order(work, items())
    assert [next(results) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(OSError, match="five"):
        next(results)
    assert not [thread for thread in threading.enumerate() if "parser" in thread.name]

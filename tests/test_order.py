"""The visiting order: a function of (seed, epoch, partition) and of nothing else."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_rs.engines import below
from perceptron_rs.reference.order import below as specified
from perceptron_rs.reference.order import splitmix64

MASK = 2**64 - 1
# Published by S. Vigna with splitmix64.c: the first numbers from seed 1234567.
PUBLISHED = [
    6457827717110365317,
    3203168211198807973,
    9817491932198370423,
    4593380528125082431,
    16408922859458223821,
]


def numbers(state):
    """SplitMix64 in Python's integers."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
        yield z ^ z >> 31


def shuffled(n, seed, epoch, partition):
    key = next(numbers(seed))
    key = next(numbers((key + epoch) & MASK))
    key = next(numbers((key + partition) & MASK))
    order, random = list(range(n)), numbers(key)
    for i in range(n - 1, 0, -1):
        j = next(random) * (i + 1) >> 64
        order[i], order[j] = order[j], order[i]
    return order


def test_published_numbers():
    assert list(itertools.islice(numbers(1234567), 5)) == PUBLISHED
    assert splitmix64(1234567, 5).tolist() == PUBLISHED


@given(seed=st.integers(0, MASK), count=st.integers(0, 40))
def test_all_numbers_at_once(seed, count):
    assert splitmix64(seed, count).tolist() == list(itertools.islice(numbers(seed), count))


@given(bound=st.integers(1, 2**64), seed=st.integers(0, MASK), part=st.integers(0, MASK))
def test_one_number_is_the_first_of_an_epoch(bound, seed, part):
    key = {"seed": seed, "epoch": MASK - part, "partition": part}
    state = next(numbers((next(numbers((next(numbers(seed)) + MASK - part) & MASK)) + part) & MASK))
    assert below(bound, **key) == specified(bound, **key) == next(numbers(state)) * bound >> 64


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 7, 8, 9, 100, 1023, 1024, 1025, 70000])
def test_equals_fisher_yates(engine, n):
    for seed, epoch, partition in [(0, 0, 0), (MASK, 3, 0), (42, MASK, 1), (2**31 - 2, 999, MASK)]:
        order = engine.permutation(n, seed=seed, epoch=epoch, partition=partition)
        assert order.dtype == np.uint32
        assert order.tolist() == shuffled(n, seed, epoch, partition)
        assert np.array_equal(np.sort(order), np.arange(n))


@given(
    n=st.integers(0, 50),
    seed=st.integers(0, MASK),
    epoch=st.integers(0, MASK),
    partition=st.integers(0, MASK),
)
def test_any_key(engine, n, seed, epoch, partition):
    order = engine.permutation(n, seed=seed, epoch=epoch, partition=partition)
    assert order.tolist() == shuffled(n, seed, epoch, partition)


def test_depends_on_seed_epoch_and_partition(engine):
    keys = list(itertools.product(range(5), repeat=3))
    orders = {
        tuple(engine.permutation(30, seed=seed, epoch=epoch, partition=partition).tolist())
        for seed, epoch, partition in keys
    }
    assert len(orders) == len(keys)


def test_all_orders_are_about_equally_likely(engine):
    counts = dict.fromkeys(itertools.permutations(range(4)), 0)
    draws = 4800
    for epoch in range(draws):
        counts[tuple(engine.permutation(4, seed=0, epoch=epoch, partition=0).tolist())] += 1
    expected = draws / len(counts)
    # Chi-squared with 23 degrees of freedom: above 50 with a probability of 0.001.
    assert sum((count - expected) ** 2 / expected for count in counts.values()) < 50


@pytest.mark.parametrize(("name", "value"), [("seed", -1), ("seed", 2**64), ("epoch", -1), ("partition", -1)])
def test_keys_out_of_range(engine, name, value):
    key = {"seed": 0, "epoch": 0, "partition": 0} | {name: value}
    with pytest.raises((ValueError, OverflowError)):
        engine.permutation(3, **key)

"""Examples and settings that claims share."""

from __future__ import annotations

import numpy as np

from perceptron_rs.datasets import lecture

SIX, FOUR, XOR = lecture("six_points"), lecture("four_points"), lecture("xor")
GIVEN = {"shuffle": False, "tol": None}
PLAIN = GIVEN | {"fit_intercept": False}
LINE = np.array([2.0, 3.0]), 6.0
Answer = bool | tuple[bool, bool]

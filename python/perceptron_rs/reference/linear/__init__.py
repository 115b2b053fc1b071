"""Linear learners. Start with ``perceptron.py``, which has the loop; then ``averaged.py``."""

from .averaged import average
from .one_pass import one_pass
from .penalty import settled
from .right import updates_until_right
from .run import start_linear
from .voted import replay, votes

__all__ = ["average", "one_pass", "replay", "settled", "start_linear", "updates_until_right", "votes"]

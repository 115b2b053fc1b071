"""Linear learners. Start with ``perceptron.py``, which has the loop; then ``averaged.py``."""

from .averaged import average
from .draft import Draft
from .model import Model, Rule
from .penalty import settled
from .right import updates_until_right
from .voted import replay, votes

"""Examples and the loop over them; the only folder that knows how examples are stored."""

from .csr import Csr, csr_rows
from .dense import Dense, dense_rows
from .joint import learn_jointly
from .learn import Rows, learn
from .noise import Noise
from .pending import Pending
from .scores import check_canonical, scores
from .visit import Cursor, Mistake, Visit, is_mistake

__all__ = [
    "Csr",
    "Cursor",
    "Dense",
    "Mistake",
    "Noise",
    "Pending",
    "Rows",
    "Visit",
    "check_canonical",
    "csr_rows",
    "dense_rows",
    "is_mistake",
    "learn",
    "learn_jointly",
    "scores",
]

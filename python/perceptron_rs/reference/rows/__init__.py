"""Examples as they are stored; the only folder that knows how."""

from .csr import Csr, Rows, csr_rows
from .dense import Dense, Row, check_canonical, dense_rows
from .scores import activations, scores

"""The perceptron family: scikit-learn's API, a Rust core, one bit pattern everywhere.

Names are imported when they are first used: importing scikit-learn takes seconds, and neither
``import perceptron_rs`` nor ``perceptrons --help`` needs it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from perceptron_rs._core import ARITHMETIC_VERSION
    from perceptron_rs.common.progress import EpochRecord
    from perceptron_rs.kernel.budgeted import BudgetedKernelPerceptron
    from perceptron_rs.kernel.perceptron import KernelPerceptron
    from perceptron_rs.learners import load
    from perceptron_rs.linear.averaged import AveragedPerceptron
    from perceptron_rs.linear.perceptron import Perceptron
    from perceptron_rs.linear.pocket import PocketPerceptron
    from perceptron_rs.linear.voted import VotedPerceptron
    from perceptron_rs.margins.classifier import MaxMarginClassifier
    from perceptron_rs.margins.joint import JointMargin, joint_margin
    from perceptron_rs.margins.kernel import kernel_matrix
    from perceptron_rs.margins.maximum import is_separable, max_margin
    from perceptron_rs.margins.measure import margin
    from perceptron_rs.margins.mistakes import mistake_bounds
    from perceptron_rs.margins.result import (
        InseparableError,
        MarginInterval,
        MarginResult,
        MistakeBounds,
        UndecidedError,
    )
    from perceptron_rs.margins.verification import VerificationError, hull_weights, verify
    from perceptron_rs.models.comparison import digest
    from perceptron_rs.multilayer.perceptron import MultilayerPerceptron
    from perceptron_rs.rerun import Reproduction, reproduce
    from perceptron_rs.sequence.perceptron import SequencePerceptron
    from perceptron_rs.sequence.progress import SequenceEpoch
    from perceptron_rs.sequence.structured import StructuredPerceptron
    from perceptron_rs.teaching.leave_one_out import LeaveOneOut, leave_one_out
    from perceptron_rs.teaching.loss import hinge_loss, perceptron_loss
    from perceptron_rs.teaching.proof import Proof, proof
    from perceptron_rs.teaching.trace import Step, Trace, trace
    from perceptron_rs.teaching.updates import updates_until_right

    __version__: str

__all__ = [
    "ARITHMETIC_VERSION",
    "AveragedPerceptron",
    "BudgetedKernelPerceptron",
    "EpochRecord",
    "InseparableError",
    "JointMargin",
    "KernelPerceptron",
    "LeaveOneOut",
    "MarginInterval",
    "MarginResult",
    "MaxMarginClassifier",
    "MistakeBounds",
    "MultilayerPerceptron",
    "Perceptron",
    "PocketPerceptron",
    "Proof",
    "Reproduction",
    "SequenceEpoch",
    "SequencePerceptron",
    "Step",
    "StructuredPerceptron",
    "Trace",
    "UndecidedError",
    "VerificationError",
    "VotedPerceptron",
    "__version__",
    "digest",
    "hinge_loss",
    "hull_weights",
    "is_separable",
    "joint_margin",
    "kernel_matrix",
    "leave_one_out",
    "load",
    "margin",
    "max_margin",
    "mistake_bounds",
    "perceptron_loss",
    "proof",
    "reproduce",
    "trace",
    "updates_until_right",
    "verify",
]

#: Where each public name lives.
_HOME = {
    "ARITHMETIC_VERSION": "_core",
    "__version__": "_core",
    "AveragedPerceptron": "linear.averaged",
    "BudgetedKernelPerceptron": "kernel.budgeted",
    "EpochRecord": "common.progress",
    "KernelPerceptron": "kernel.perceptron",
    "LeaveOneOut": "teaching.leave_one_out",
    "MultilayerPerceptron": "multilayer.perceptron",
    "InseparableError": "margins.result",
    "UndecidedError": "margins.result",
    "MarginInterval": "margins.result",
    "MarginResult": "margins.result",
    "MaxMarginClassifier": "margins.classifier",
    "MistakeBounds": "margins.result",
    "Perceptron": "linear.perceptron",
    "Reproduction": "rerun",
    "PocketPerceptron": "linear.pocket",
    "SequenceEpoch": "sequence.progress",
    "SequencePerceptron": "sequence.perceptron",
    "StructuredPerceptron": "sequence.structured",
    "Proof": "teaching.proof",
    "Step": "teaching.trace",
    "Trace": "teaching.trace",
    "VerificationError": "margins.verification",
    "VotedPerceptron": "linear.voted",
    "digest": "models.comparison",
    "hinge_loss": "teaching.loss",
    "hull_weights": "margins.verification",
    "is_separable": "margins.maximum",
    "JointMargin": "margins.joint",
    "joint_margin": "margins.joint",
    "kernel_matrix": "margins.kernel",
    "leave_one_out": "teaching.leave_one_out",
    "load": "learners",
    "margin": "margins.measure",
    "max_margin": "margins.maximum",
    "mistake_bounds": "margins.mistakes",
    "perceptron_loss": "teaching.loss",
    "proof": "teaching.proof",
    "reproduce": "rerun",
    "trace": "teaching.trace",
    "updates_until_right": "teaching.updates",
    "verify": "margins.verification",
}
_MODULES = {
    "dask",
    "datasets",
    "demo",
    "engines",
    "features",
    "io",
    "models",
    "plots",
    "reference",
    "spark",
    "testing",
}

if not TYPE_CHECKING:  # a type checker would take it as leave to read any name

    def __getattr__(name):
        """Import a public name when it is first asked for."""
        if name in _HOME:
            value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
        elif name in _MODULES:
            value = import_module(f"{__name__}.{name}")
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value

    def __dir__():
        """List the public names, imported or not."""
        return sorted({*globals(), *__all__, *_MODULES})

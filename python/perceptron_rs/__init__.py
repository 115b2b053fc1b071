"""The perceptron family: scikit-learn's API, a Rust core, one bit pattern everywhere.

Names are imported when they are first used: importing scikit-learn takes seconds, and neither
``import perceptron_rs`` nor ``perceptrons --help`` needs it.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from perceptron_rs._core import ARITHMETIC_VERSION as ARITHMETIC_VERSION
    from perceptron_rs.common.prediction.predictor import Predictor as Predictor
    from perceptron_rs.common.training.progress import EpochRecord as EpochRecord
    from perceptron_rs.kernel.budgeted import BudgetedKernelPerceptron as BudgetedKernelPerceptron
    from perceptron_rs.kernel.perceptron import KernelPerceptron as KernelPerceptron
    from perceptron_rs.learners import load as load
    from perceptron_rs.learners import load_predictor as load_predictor
    from perceptron_rs.linear.averaged import AveragedPerceptron as AveragedPerceptron
    from perceptron_rs.linear.perceptron import Perceptron as Perceptron
    from perceptron_rs.linear.pocket import PocketPerceptron as PocketPerceptron
    from perceptron_rs.linear.voted import VotedPerceptron as VotedPerceptron
    from perceptron_rs.margins.classifier import MaxMarginClassifier as MaxMarginClassifier
    from perceptron_rs.margins.joint import JointMargin as JointMargin
    from perceptron_rs.margins.joint import joint_margin as joint_margin
    from perceptron_rs.margins.kernel import kernel_matrix as kernel_matrix
    from perceptron_rs.margins.maximum import is_separable as is_separable
    from perceptron_rs.margins.maximum import max_margin as max_margin
    from perceptron_rs.margins.measure import margin as margin
    from perceptron_rs.margins.mistakes import mistake_bounds as mistake_bounds
    from perceptron_rs.margins.result import InseparableError as InseparableError
    from perceptron_rs.margins.result import MarginInterval as MarginInterval
    from perceptron_rs.margins.result import MarginResult as MarginResult
    from perceptron_rs.margins.result import MistakeBounds as MistakeBounds
    from perceptron_rs.margins.result import UndecidedError as UndecidedError
    from perceptron_rs.margins.verification import VerificationError as VerificationError
    from perceptron_rs.margins.verification import hull_weights as hull_weights
    from perceptron_rs.margins.verification import verify as verify
    from perceptron_rs.models.comparison import digest as digest
    from perceptron_rs.multilayer.perceptron import MultilayerPerceptron as MultilayerPerceptron
    from perceptron_rs.rerun import Reproduction as Reproduction
    from perceptron_rs.rerun import reproduce as reproduce
    from perceptron_rs.sequence.perceptron import SequencePerceptron as SequencePerceptron
    from perceptron_rs.sequence.progress import SequenceEpoch as SequenceEpoch
    from perceptron_rs.sequence.structured import StructuredPerceptron as StructuredPerceptron
    from perceptron_rs.teaching.leave_one_out import LeaveOneOut as LeaveOneOut
    from perceptron_rs.teaching.leave_one_out import leave_one_out as leave_one_out
    from perceptron_rs.teaching.loss import hinge_loss as hinge_loss
    from perceptron_rs.teaching.loss import perceptron_loss as perceptron_loss
    from perceptron_rs.teaching.proof import Proof as Proof
    from perceptron_rs.teaching.proof import proof as proof
    from perceptron_rs.teaching.trace import Step as Step
    from perceptron_rs.teaching.trace import Trace as Trace
    from perceptron_rs.teaching.trace import trace as trace
    from perceptron_rs.teaching.updates import updates_until_right as updates_until_right

    __version__: str
else:
    from perceptron_rs.lazy import attach
    from perceptron_rs.registry import CLASSES

    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            **CLASSES,
            "_core": ["ARITHMETIC_VERSION", "__version__"],
            "common.training.progress": ["EpochRecord"],
            "common.prediction.predictor": ["Predictor"],
            "learners": ["load", "load_predictor"],
            "margins.joint": ["JointMargin", "joint_margin"],
            "margins.kernel": ["kernel_matrix"],
            "margins.maximum": ["is_separable", "max_margin"],
            "margins.measure": ["margin"],
            "margins.mistakes": ["mistake_bounds"],
            "margins.result": [
                "InseparableError",
                "UndecidedError",
                "MarginInterval",
                "MarginResult",
                "MistakeBounds",
            ],
            "margins.verification": ["VerificationError", "hull_weights", "verify"],
            "models.comparison": ["digest"],
            "rerun": ["Reproduction", "reproduce"],
            "sequence.progress": ["SequenceEpoch"],
            "sequence.structured": ["StructuredPerceptron"],
            "teaching.leave_one_out": ["LeaveOneOut", "leave_one_out"],
            "teaching.loss": ["hinge_loss", "perceptron_loss"],
            "teaching.proof": ["Proof", "proof"],
            "teaching.trace": ["Step", "Trace", "trace"],
            "teaching.updates": ["updates_until_right"],
        },
        modules=[
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
        ],
    )

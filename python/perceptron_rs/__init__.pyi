from perceptron_rs import dask as dask
from perceptron_rs import datasets as datasets
from perceptron_rs import engines as engines
from perceptron_rs import errors as errors
from perceptron_rs import features as features
from perceptron_rs import io as io
from perceptron_rs import metrics as metrics
from perceptron_rs import models as models
from perceptron_rs import plots as plots
from perceptron_rs import reference as reference
from perceptron_rs import spark as spark
from perceptron_rs import testing as testing
from perceptron_rs._core import ARITHMETIC_VERSION as ARITHMETIC_VERSION
from perceptron_rs._core import __version__ as __version__
from perceptron_rs.kernel.budgeted import BudgetedKernelPerceptron as BudgetedKernelPerceptron
from perceptron_rs.kernel.perceptron import KernelPerceptron as KernelPerceptron
from perceptron_rs.learners import load as load
from perceptron_rs.learners import load_predictor as load_predictor
from perceptron_rs.linear.averaged import AveragedPerceptron as AveragedPerceptron
from perceptron_rs.linear.perceptron import Perceptron as Perceptron
from perceptron_rs.linear.pocket import PocketPerceptron as PocketPerceptron
from perceptron_rs.linear.voted import VotedPerceptron as VotedPerceptron
from perceptron_rs.margins.classifier import MaxMarginClassifier as MaxMarginClassifier
from perceptron_rs.margins.measure import margin as margin
from perceptron_rs.margins.mistakes import mistake_bounds as mistake_bounds
from perceptron_rs.margins.result import InseparableError as InseparableError
from perceptron_rs.margins.result import MarginInterval as MarginInterval
from perceptron_rs.margins.result import MarginResult as MarginResult
from perceptron_rs.margins.result import MistakeBounds as MistakeBounds
from perceptron_rs.margins.result import UndecidedError as UndecidedError
from perceptron_rs.margins.search.kernel import kernel_matrix as kernel_matrix
from perceptron_rs.margins.search.maximum import JointMargin as JointMargin
from perceptron_rs.margins.search.maximum import is_separable as is_separable
from perceptron_rs.margins.search.maximum import joint_margin as joint_margin
from perceptron_rs.margins.search.maximum import max_margin as max_margin
from perceptron_rs.margins.verification import VerificationError as VerificationError
from perceptron_rs.margins.verification import hull_weights as hull_weights
from perceptron_rs.margins.verification import verify as verify
from perceptron_rs.models.comparison import digest as digest
from perceptron_rs.multilayer.perceptron import MultilayerPerceptron as MultilayerPerceptron
from perceptron_rs.parameters.epoch_record import EpochRecord as EpochRecord
from perceptron_rs.prediction.predictor import Predictor as Predictor
from perceptron_rs.rerun import Reproduction as Reproduction
from perceptron_rs.rerun import reproduce as reproduce
from perceptron_rs.sequence.perceptron import SequencePerceptron as SequencePerceptron
from perceptron_rs.sequence.progress import SequenceEpoch as SequenceEpoch
from perceptron_rs.sequence.structured import StructuredPerceptron as StructuredPerceptron
from perceptron_rs.teaching.fit_trace import Step as Step
from perceptron_rs.teaching.fit_trace import Trace as Trace
from perceptron_rs.teaching.fit_trace import trace as trace
from perceptron_rs.teaching.leave_one_out import LeaveOneOut as LeaveOneOut
from perceptron_rs.teaching.leave_one_out import leave_one_out as leave_one_out
from perceptron_rs.teaching.lecture_check import CheckedRow as CheckedRow
from perceptron_rs.teaching.lecture_check import LectureCheck as LectureCheck
from perceptron_rs.teaching.lecture_check import check_lecture as check_lecture
from perceptron_rs.teaching.loss import hinge_loss as hinge_loss
from perceptron_rs.teaching.loss import perceptron_loss as perceptron_loss
from perceptron_rs.teaching.proof import Proof as Proof
from perceptron_rs.teaching.proof import proof as proof
from perceptron_rs.teaching.updates import updates_until_right as updates_until_right

__all__ = [
    "ARITHMETIC_VERSION",
    "AveragedPerceptron",
    "BudgetedKernelPerceptron",
    "CheckedRow",
    "EpochRecord",
    "InseparableError",
    "JointMargin",
    "KernelPerceptron",
    "LectureCheck",
    "MarginInterval",
    "MarginResult",
    "MaxMarginClassifier",
    "MistakeBounds",
    "MultilayerPerceptron",
    "Perceptron",
    "PocketPerceptron",
    "Predictor",
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
    "check_lecture",
    "digest",
    "hull_weights",
    "is_separable",
    "joint_margin",
    "kernel_matrix",
    "leave_one_out",
    "load",
    "load_predictor",
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

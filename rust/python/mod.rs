//! The bindings: names, arrays, errors. They borrow, detach and return; the core computes.

#![expect(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over")]
#![expect(clippy::too_many_arguments, reason = "the keywords of the engines' functions")]

mod arrays_by_name;
mod audit;
mod border;
mod budget;
mod environment;
mod hashed;
mod kernel;
mod linear;
mod margin;
mod mlp;
mod run;
mod settings;
mod start;
mod storage;
mod structured;
mod text;

use pyo3::pymodule;

/// Cargo's version as Python spells it, which the package's metadata has, too: "1.0.0-rc1" is "1.0.0rc1".
const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION_MAJOR"),
    ".",
    env!("CARGO_PKG_VERSION_MINOR"),
    ".",
    env!("CARGO_PKG_VERSION_PATCH"),
    env!("CARGO_PKG_VERSION_PRE"),
);

#[pymodule(gil_used = false)]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::{
        audit::{Blake3, row_digests},
        border::{CoreRows, csr_rows, dense_rows},
        environment::{
            _enter_standard, _force_instruction_set, _instruction_sets, _leave_standard, _swap_float_control,
            Standard,
        },
        hashed::{NGrams, added_rows, hashed_texts, murmur3, normalized},
        kernel::{kernel_matrix, kernel_scores, scale_gamma},
        linear::draft::PyDraft,
        linear::draft::PyExcerpt,
        linear::model::PyModel,
        linear::online::{_first_draw, elementary, permutation, scores, updates_until_right},
        linear::rule::{PyPass, PyRule},
        linear::voted::{replay, votes},
        margin::{margin, separate},
        mlp::{mlp_scores, mlp_start},
        start::{PyRun, start},
        storage::{crc32, smallest},
        structured::{
            SequenceWeights, attribute_rows, sequence_average, sequence_decode, sequence_k_best,
            sequence_margins, sequence_weights, structured_update,
        },
        text::{read_svmlight, read_svmlight_part},
    };

    #[pymodule_init]
    fn init(m: &Bound<'_, PyModule>) -> PyResult<()> {
        m.add("ARITHMETIC_VERSION", crate::ARITHMETIC_VERSION)?;
        m.add("__version__", super::VERSION)?;
        m.add("_STANDARD_FLOAT_CONTROL", crate::arith::environment::STANDARD)?;
        m.delattr("__all__") // a list beside the stub, which says what there is
    }
}

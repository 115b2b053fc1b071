//! Tells the bindings whether the interpreter has a lock: `cfg(Py_GIL_DISABLED)`.

fn main() {
    #[cfg(feature = "python")]
    pyo3_build_config::use_pyo3_cfgs();
    println!("cargo::rerun-if-changed=build.rs");
}

"""Run a program that was compiled for wasm32-wasip1: ``python scripts/wasm.py PROGRAM.wasm ARGUMENTS``.

It may read the files of the repository, and writes to what it was given as standard output and error. This is
cargo's runner in ``make test-wasm``; the package wasmtime has no command of its own.
"""

from __future__ import annotations

import sys
from pathlib import Path

from wasmtime import Engine, ExitTrap, Linker, Module, Store, WasiConfig

ROOT = str(Path(__file__).resolve().parents[1])


def run(program: str, arguments: list[str]) -> int:
    """Run the program, and return its exit status."""
    engine = Engine()
    linker, store, wasi = Linker(engine), Store(engine), WasiConfig()
    linker.define_wasi()
    wasi.argv = [program, *arguments]
    wasi.inherit_stdout()
    wasi.inherit_stderr()
    wasi.preopen_dir(ROOT, ROOT, fs_mutable=False)
    store.set_wasi(wasi)
    instance = linker.instantiate(store, Module.from_file(engine, program))
    try:
        instance.exports(store)["_start"](store)
    except ExitTrap as ended:
        return ended.code
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[2:]))

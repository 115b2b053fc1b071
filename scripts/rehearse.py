"""Rehearse a release: what users do with wheel and sdist, in empty environments, before they are published.

``make rehearse`` builds both into dist/, and puts them where pip looks first (``--find-links``). In
environments whose PATH has neither Rust nor a C compiler, on each Python at hand, it installs the package,
runs the smoke test and every block of the README as printed, upgrades from an older wheel (``--before
WHEEL_OR_COMMIT``), whose files are read or refused by name, and uninstalls, which must leave nothing.
Extras take turns with the Pythons (``--every``: each on each). With the tests' packages, on the first
Python: every example of the guide. Last, pip builds the sdist with a C compiler and without Rust
(``--no-sdist`` leaves that out). ``--built FOLDER`` takes what ``make dist`` has left. It needs a network,
for what the package depends on.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import dist

ROOT = dist.ROOT
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
NAME = PROJECT["project"]["name"]
COMPILERS = ("cc", "gcc", "clang", "cargo", "rustc", "rustup", "zig", "maturin")
START = time.monotonic()

#: What shows that an extra is all that its part of the package needs.
USES = {
    "csv": "from perceptron_rs.io import open_csv; open('t.csv', 'w').write('a,y\\n1,p\\n-1,q\\n'); "
    "P().fit_stream(open_csv('t.csv', target='y'))",
    "parquet": "import pyarrow as pa, pyarrow.parquet as pq; from perceptron_rs.io import open_parquet; "
    "pq.write_table(pa.table({'a': [1, -1], 'y': ['p', 'q']}), 't.parquet'); "
    "P().fit_stream(open_parquet('t.parquet', target='y'))",
    "plot": "import matplotlib; matplotlib.use('agg'); from perceptron_rs.plots import MistakesDisplay; "
    "MistakesDisplay.from_estimator(P().fit([[1.0], [-1.0]], [1, 0]))",
    "dask": "from distributed import Client; import dask.array as da, numpy as np; "
    "from perceptron_rs.dask import Perceptron as D; c = Client(processes=False, dashboard_address=None); "
    "D(client=c).fit(da.from_array(np.array([[1.0], [-1.0]])), da.from_array(np.array([1, 0]))); c.close()",
    "spark": "import pyspark; import perceptron_rs.spark",
    "onnx": "P().fit([[1.0], [-1.0]], [1, 0]).to_onnx()",
    "skl2onnx": "import numpy as np, skl2onnx; from perceptron_rs.models import register_skl2onnx; "
    "register_skl2onnx(); skl2onnx.to_onnx(P().fit([[1.0], [-1.0]], [1, 0]), np.ones((1, 1)))",
}

STREAM = "train perceptron --stream a.svm --cache a.cache --checkpoint a.run --tol none"
#: What an older version leaves behind: commands that write, and those by which the new version reads.
LEFT = [
    "train averaged a.svm --model a.model --epochs 3 --tol none --quiet",
    f"{STREAM} --model b.model --epochs 2 --quiet",
    "tag-train tags.txt --model tags.model --quiet",
]
READ = [
    "predict a.model a.svm",
    "inspect b.model",
    "reproduce a.model a.svm",
    "tag tags.model words.txt",
    f"{STREAM} --model c.model --epochs 3 --resume",
]


def say(what: str) -> None:
    """Print what comes now, and how long all took so far."""
    print(f"[{time.monotonic() - START:4.0f} s] {what}", flush=True)


def pythons() -> list[str]:
    """Return an interpreter of each version that the package promises: on the PATH, and in pyenv's folder."""
    oldest = int(PROJECT["project"]["requires-python"].rpartition(".")[2])
    folders = [*os.get_exec_path(), *map(str, (Path.home() / ".pyenv" / "versions").glob("*/bin"))]
    found: dict[str, str] = {}
    for folder in folders:
        for path in Path(folder).glob("python3.??"):
            minor = int(path.name[8:]) if path.name[8:].isdigit() else 0
            asked = [path, "-c", "import venv, ensurepip, sys; print(sys.version_info[1])"]
            if minor >= oldest and path.name not in found:
                answer = subprocess.run(asked, capture_output=True, text=True, check=False)
                if answer.stdout.strip() == str(minor):
                    found[path.name] = str(path)
    return [found[name] for name in sorted(found)]


class Environment:
    """An empty environment; its PATH has a few tools and neither Rust nor, unless asked for, a C compiler."""

    def __init__(self, python: str, folder: Path, *, compiler: bool = False) -> None:
        self.folder = Path(tempfile.mkdtemp(dir=folder))
        tools = self.folder / "tools"
        tools.mkdir()
        for name in ("bash", "sh", "cat", "head", "tail", "env", "rm", "mkdir"):
            (tools / name).symlink_to(shutil.which(name) or name)
        home = self.folder / "home"
        home.mkdir()
        system = ["/usr/local/bin", "/usr/bin", "/bin"] if compiler else []
        path = os.pathsep.join([str(self.folder / "venv" / "bin"), str(tools), *system])
        self.variables = {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "MPLBACKEND": "agg"}
        kept = ("PIP_CACHE_DIR", "PIP_INDEX_URL", "HTTPS_PROXY", "https_proxy", "SSL_CERT_FILE")
        self.variables |= {name: os.environ[name] for name in kept if name in os.environ}
        self.variables.setdefault("PIP_CACHE_DIR", str(Path.home() / ".cache" / "pip"))
        forbidden = COMPILERS[3:] if compiler else COMPILERS
        there = [name for name in forbidden if shutil.which(name, path=path)]
        dist.need(not there, f"the environment should have no {there}")
        subprocess.run([python, "-m", "venv", self.folder / "venv"], check=True)

    def run(self, *command: str, text: str | None = None, status: int | None = 0) -> str:
        """Run a program, and return all it printed; another status than wanted ends the rehearsal."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.variables,
            input=text,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        wanted = status is None or done.returncode == status
        dist.need(wanted, f"{command} ended with {done.returncode}:\n{text or ''}\n{done.stdout}")
        return done.stdout if status is not None else f"{done.returncode}\n{done.stdout}"

    def pip(self, *arguments: str) -> None:
        """Run pip, which warns of its own age no more."""
        self.run("python", "-m", "pip", "--disable-pip-version-check", *arguments)

    def files(self) -> set[str]:
        """Return the files of the environment, without what Python compiles by itself."""
        found = (self.folder / "venv").rglob("*")
        return {str(path) for path in found if path.is_file() and "__pycache__" not in path.parts}


def readme(environment: Environment) -> int:
    """Run every block of the README as it is pasted, and compare what it prints; return their number."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(console|pycon)\n(.*?)```", text, re.DOTALL)
    for kind, block in blocks:
        if kind == "console":
            lines = block.splitlines(keepends=True)
            typed = "".join(line.removeprefix("$ ") for line in lines if line.startswith("$ "))
            shown = "".join(line for line in lines if not line.startswith("$ "))
            printed = environment.run("bash", "-e", text=typed)
            dist.need(printed == shown, f"{typed}printed\n{printed}\nand not\n{shown}")
    python = "\n".join(block for kind, block in blocks if kind == "pycon")
    (environment.folder / "README.txt").write_text(python, encoding="utf-8")
    environment.run("python", "-m", "doctest", "-o", "NORMALIZE_WHITESPACE", "README.txt")
    return len(blocks)


def upgrade(environment: Environment, before: Path, install: list[str]) -> None:
    """Read with the new version what an older one has left: the same answers, or an error with a remedy."""
    environment.pip("install", "--quiet", str(before))
    rows = "".join(f"{1 if i % 3 else -1} 1:{i % 7}.5 2:{-(i % 3)}\n" for i in range(200))
    (environment.folder / "a.svm").write_text(rows)
    (environment.folder / "tags.txt").write_text("the D\ndog N\n\na D\ncat N\n")
    (environment.folder / "words.txt").write_text("the\ncat\n")
    for command in LEFT:
        environment.run("perceptrons", *command.split())
    answers = [environment.run("perceptrons", *READ[i].split()) for i in (0, 3)]
    environment.pip("install", "--quiet", "--upgrade", "--force-reinstall", "--no-deps", *install)
    for number, command in enumerate(READ):
        status, printed = environment.run("perceptrons", *command.split(), status=None).split("\n", 1)
        refused = status == "1" and "perceptrons: error: " in printed and "Traceback" not in printed
        dist.need(status == "0" or refused, f"after the upgrade, {command} ended with {status}:\n{printed}")
        if refused:
            say(f"refused by name: {printed.strip()}")
        elif number in (0, 3):
            dist.need(printed == answers[number // 3], f"{command} answers otherwise after the upgrade")


def as_users_do(python: str, work: Path, links: list[str], version: str, extras: list[str]) -> None:
    """Install, run the README, each of some extras alone, and uninstall."""
    environment = Environment(python, work)
    environment.pip("install", "--quiet", "--only-binary", ":all:", *links, f"{NAME}=={version}")
    shutil.copy(ROOT / "tests" / "smoke.py", environment.folder)
    environment.run("python", "-I", "-W", "error", "smoke.py")
    say(f"{python}: {readme(environment)} blocks of the README print what they show")
    for extra in extras:
        alone = Environment(python, work)
        own = f"{NAME},numpy,scipy"
        alone.pip("install", "--quiet", "--only-binary", own, *links, f"{NAME}[{extra}]=={version}")
        alone.run("python", "-c", f"from perceptron_rs import Perceptron as P; {USES[extra]}")
        say(f"{python}: with the extra {extra} alone")
        shutil.rmtree(alone.folder)
    environment.pip("uninstall", "--quiet", "--yes", NAME)
    left = [file for file in environment.files() if re.search(r"/perceptron(_rs|s)[-./]|/perceptrons$", file)]
    dist.need(not left, f"uninstalling leaves {left}")
    say(f"{python}: uninstalling leaves nothing")
    shutil.rmtree(environment.folder)


def guide(python: str, work: Path, links: list[str], version: str, sdist: Path) -> str:
    """Run the pages of the guide with what is installed, and return what pytest says last."""
    environment = Environment(python, work)
    tests = PROJECT["dependency-groups"]["test"]
    environment.pip("install", "--quiet", "--only-binary", NAME, *links, f"{NAME}[csv]=={version}", *tests)
    with tarfile.open(sdist) as archive:
        archive.extractall(environment.folder, filter="data")
    tree = environment.folder / f"{NAME}-{version}"
    shutil.rmtree(tree / "python")  # so that what is installed is tried
    how = ["-q", "-p", "no:cacheprovider", "--rootdir", str(tree), "-c", str(tree / "pyproject.toml")]
    pages = ["-k", "test_page and (guide or quickstart)", str(tree / "tests" / "test_docs.py")]
    printed = environment.run("python", "-m", "pytest", *how, *pages)
    shutil.rmtree(environment.folder)
    return printed.strip().splitlines()[-1]


def main() -> None:
    """Build or take what was built, and try it as users will."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--before", metavar="WHEEL_OR_COMMIT", help="the version to upgrade from")
    asked.add_argument("--built", metavar="FOLDER", type=Path, help="take wheel and sdist from here")
    asked.add_argument("--every", action="store_true", help="each extra on each Python")
    asked.add_argument("--no-sdist", action="store_true", help="do not build the sdist without Rust: minutes")
    options = asked.parse_args()
    work = Path(tempfile.mkdtemp(prefix="rehearsal-"))
    here = next(platform for platform in dist.PLATFORMS if platform.tag == f"manylinux_2_17_{dist.machine()}")
    if options.built is None:
        shutil.rmtree(dist.DIST, ignore_errors=True)
        dist.check_wheel(dist.build(here))
        dist.check_sdist(dist.build_sdist())
    packages = (options.built or dist.DIST).resolve()
    (wheel,), (sdist,) = packages.glob("*.whl"), packages.glob("*.tar.gz")
    index = work / "index"
    index.mkdir()
    shutil.copy(wheel, index), shutil.copy(sdist, index)
    version = sdist.name.removeprefix(f"{NAME}-").removesuffix(".tar.gz")
    links = ["--find-links", str(index)]
    before = Path(options.before) if options.before else None
    if before and before.suffix != ".whl":  # a commit: in a clone, with this tree's compiled crates
        clone = work / "before"
        (
            dist.run("git", "clone", "--quiet", ROOT, clone),
            dist.run("git", "checkout", "--quiet", options.before, cwd=clone),
        )
        variables = {"CARGO_TARGET_DIR": str(ROOT / "target")}
        maturin = Path(sys.executable).parent / "maturin"
        dist.run(maturin, "build", "--release", "--out", work, cwd=clone, environment=variables)
        (before,) = work.glob("*.whl")

    package = f"{{}}=={version}".format
    extras, interpreters = list(USES), pythons()
    dist.need(bool(interpreters), "there is no Python that the package promises")

    def on_python(number: int) -> None:
        mine = extras if options.every else extras[number :: len(interpreters)]
        as_users_do(interpreters[number], work, links, version, mine)
        if before:
            upgrade(Environment(interpreters[number], work), before, [*links, package(NAME)])
            say(f"{interpreters[number]}: upgraded from {before.name}")

    with ThreadPoolExecutor(2) as pool:  # pip waits for the network, or takes one core
        for done in [*map(partial(pool.submit, on_python), range(len(interpreters)))]:
            done.result()
    say(f"the guide: {guide(interpreters[0], work, links, version, sdist)}")
    if not options.no_sdist:
        built = Environment(interpreters[0], work, compiler=True)
        built.pip("install", "--quiet", "--no-binary", NAME, *links, package(NAME))
        shutil.copy(ROOT / "tests" / "smoke.py", built.folder)
        built.run("python", "-I", "-W", "error", "smoke.py")
        say("the sdist: built without Rust, and its bits are right")
    shutil.rmtree(work)
    say("rehearsed; RELEASING.md says what is left to a person")


if __name__ == "__main__":
    main()

"""What is published: versions that agree, and scripts that notice what is wrong with a package."""

import importlib.util
import io
import json
import re
import sys
import tarfile
import tomllib
import zipfile
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

import perceptron_rs

ROOT = Path(__file__).parents[1]


def script(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_versions_agree():
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    version = manifest["package"]["version"].replace("-", "")  # as Python spells it
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (\S+)$", citation, re.MULTILINE) == [version]
    assert perceptron_rs.__version__ == version
    assert f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_smoke_test_knows_the_bits(engine_name):
    smoke = script(ROOT / "tests" / "smoke.py")
    assert smoke.digest(engine_name) == smoke.DIGEST


def test_the_rehearsal_uses_each_extra_and_finds_a_python(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    rehearse = script(ROOT / "scripts" / "rehearse.py")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(rehearse.USES) == set(project["optional-dependencies"])
    assert all(Path(python).exists() for python in rehearse.pythons())


class TestOldest:
    oldest = staticmethod(script(ROOT / "scripts" / "oldest.py").oldest)

    def test_lower_bounds_become_versions(self):
        found = self.oldest(["numpy>=1.24", "scikit-learn >= 1.6, <3", "a.b-c>=2.0; python_version<'4'"])
        assert found == ["numpy==1.24", "scikit-learn==1.6", "a.b-c==2.0"]

    @pytest.mark.parametrize("requirement", ["numpy", "numpy<3", "numpy~=1.0"])
    def test_a_missing_bound_is_an_error(self, requirement):
        with pytest.raises(ValueError, match="no lower bound"):
            self.oldest([requirement])

    def test_every_dependency_has_one(self):
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        assert len(self.oldest(project["dependencies"])) == len(project["dependencies"]) >= 3


class TestLicences:
    licenses = script(ROOT / "scripts" / "licenses.py")

    def package(self, name, folder=None, kind="lib", terms="MIT OR Apache-2.0"):
        manifest = str((folder or Path("/nowhere")) / "Cargo.toml")
        targets = [{"kind": [kind]}]
        return {
            "id": name,
            "name": name,
            "version": "1.0.0",
            "license": terms,
            "manifest_path": manifest,
            "targets": targets,
        }

    def test_what_is_linked_is_listed(self):
        def edge(name, *kinds):
            return {"pkg": name, "dep_kinds": [{"kind": kind} for kind in kinds]}

        edges = {
            "us": [edge("direct", None), edge("macros", None), edge("test", "dev"), edge("script", "build")],
            "direct": [edge("indirect", "build", None), edge("us", "dev")],
            "macros": [edge("syntax", None)],
        }
        names = ["us", "direct", "indirect", "test", "script", "syntax"]
        packages = [*map(self.package, names), self.package("macros", kind="proc-macro")]
        nodes = [{"id": package["id"], "deps": edges.get(package["id"], [])} for package in packages]
        found = self.licenses.compiled_in({"packages": packages, "resolve": {"root": "us", "nodes": nodes}})
        assert [package["name"] for package in found] == ["direct", "indirect"]

    @pytest.mark.parametrize(
        ("terms", "expected"),
        [
            ("MIT OR Apache-2.0", ["mit"]),
            ("MIT/Apache-2.0", ["mit"]),
            ("MIT AND Apache-2.0", ["apache", "mit"]),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", ["apache", "mit"]),
            ("Apache-2.0", ["apache", "mit"]),
        ],
    )
    def test_mit_is_taken_where_it_is_offered(self, tmp_path, terms, expected):
        (tmp_path / "LICENSE-MIT").write_text("mit\r\n", encoding="utf-8")
        (tmp_path / "LICENSE-APACHE").write_text("apache", encoding="utf-8")
        assert self.licenses.texts(self.package("a", tmp_path, terms=terms)) == expected

    def test_a_crate_without_a_text_is_an_error(self, tmp_path):
        with pytest.raises(SystemExit, match=r"a 1\.0\.0 comes without a licence file"):
            self.licenses.texts(self.package("a", tmp_path))

    def test_the_bill_of_materials_names_what_is_compiled_in(self):
        text = (ROOT / "licenses" / "sbom.cdx.json").read_text(encoding="utf-8")
        bill = json.loads(text)
        lock = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
        checksums = {(package["name"], package["version"]): package.get("checksum") for package in lock}
        known = [bill["metadata"]["component"], *bill["components"]]
        assert known[0]["name"] == "perceptrons"
        for component in known[1:]:
            content = checksums[component["name"], component["version"]]
            assert component["hashes"] == [{"alg": "SHA-256", "content": content}]
        references = {component["bom-ref"] for component in known}
        for entry in bill["dependencies"]:
            assert {entry["ref"], *entry["dependsOn"]} <= references
        assert {"serialNumber", "timestamp"}.isdisjoint({*bill, *bill["metadata"]})
        assert "file:" not in text

    def test_the_file_names_what_the_bindings_need(self):
        text = (ROOT / "licenses" / "THIRD-PARTY.txt").read_text(encoding="utf-8")
        for name in ("Rust standard library", "pyo3", "pyo3-ffi", "numpy", "ndarray"):
            assert re.search(rf"^{name}( [\d.]+)?: ", text, re.MULTILINE), name
        assert "divan" not in text


class TestDist:
    dist = script(ROOT / "scripts" / "dist.py")
    TAG = "manylinux_2_17_x86_64"
    NAME = "perceptrons-1.0.0rc1-cp311-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
    FILES = (
        "perceptron_rs/py.typed",
        "perceptron_rs/__init__.pyi",
        "perceptron_rs/_core.pyi",
        "perceptrons-1.0.0rc1.dist-info/licenses/LICENSE",
        "perceptrons-1.0.0rc1.dist-info/sboms/sbom.cdx.json",
        "perceptrons-1.0.0rc1.dist-info/licenses/licenses/THIRD-PARTY.txt",
    )

    def check_wheel(self, monkeypatch, folder, *, files=FILES, name=NAME, tag=TAG, libs=()):
        report = {"overall_tag": tag, "external_libs": dict.fromkeys(libs)}
        monkeypatch.setattr(self.dist, "run", lambda *words: json.dumps(report))
        with zipfile.ZipFile(folder / name, "w") as archive:
            for file in files:
                archive.writestr(file, str(self.dist.ROOT) if file.endswith("path") else "")
        self.dist.check_wheel(folder / name)

    @pytest.mark.parametrize("tag", [TAG, "manylinux_2_5_x86_64", "manylinux_2_17_aarch64"])
    def test_a_good_wheel_passes(self, monkeypatch, tmp_path, tag):
        self.check_wheel(monkeypatch, tmp_path, tag=tag)

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"tag": "manylinux_2_34_x86_64"}, "must run on manylinux_2_17"),
            ({"tag": "linux_x86_64"}, "must run on manylinux_2_17"),
            ({"libs": ["libgcc_s.so.1"]}, "without libraries of others"),
            ({"name": NAME.replace("abi3", "cp311")}, "stable ABI"),
            ({"tag": "musllinux_1_2_x86_64"}, "must run on manylinux_2_17"),
            ({"name": NAME.replace("manylinux_2_17", "manylinux_2_34")}, "is for none of"),
            ({"files": (FILES[0], *FILES[2:])}, "lacks /__init__.pyi"),
            ({"files": FILES[:5]}, "lacks /THIRD-PARTY.txt"),
            ({"files": (*FILES[:4], FILES[5])}, "lacks /sbom.cdx.json"),
            ({"files": (*FILES, "tests/conftest.py")}, "outside of its package"),
            ({"files": (*FILES, "perceptron_rs/path")}, "names the folder"),
        ],
    )
    def test_a_bad_wheel_is_refused(self, monkeypatch, tmp_path, changes, message):
        with pytest.raises(SystemExit, match=message):
            self.check_wheel(monkeypatch, tmp_path, **changes)

    @pytest.mark.parametrize(("library", "stray"), [("KERNEL32.dll", False), ("libgcc_s_seh-1.dll", True)])
    def test_libraries_of_windows(self, monkeypatch, tmp_path, library, stray):
        imports = SimpleNamespace(DIRECTORY_ENTRY_IMPORT=[SimpleNamespace(dll=library.encode())])
        monkeypatch.setitem(sys.modules, "pefile", SimpleNamespace(PE=lambda data: imports))
        name = "perceptrons-1.0.0rc1-cp311-abi3-win_amd64.whl"
        files = (*self.FILES, "perceptron_rs/_core.pyd")
        with pytest.raises(SystemExit, match="libgcc_s_seh-1") if stray else nullcontext():
            self.check_wheel(monkeypatch, tmp_path, files=files, name=name)

    def test_a_large_wheel_is_refused(self, monkeypatch, tmp_path):
        monkeypatch.setattr(self.dist, "LARGEST", 100)
        with pytest.raises(SystemExit, match="100 are allowed"):
            self.check_wheel(monkeypatch, tmp_path)

    @pytest.mark.parametrize(
        ("files", "message"),
        [
            (["Cargo.toml", "PKG-INFO", "tests/golden/dot.txt"], None),
            (["Cargo.toml", "PKG-INFO"], r"lacks \['tests/golden/dot.txt'\]"),
            (["Cargo.toml", "PKG-INFO", "tests/golden/dot.txt", "notes"], r"should not hold \['notes'\]"),
            (["Cargo.toml", "python/perceptron_rs/_core.abi3.so"], "holds what was built"),
        ],
    )
    def test_the_sdist_holds_what_is_tracked(self, monkeypatch, tmp_path, files, message):
        tracked = "Cargo.toml\ntests/golden/dot.txt\n.github/workflows/ci.yml\n.ci/run\n.gitignore\n"
        monkeypatch.setattr(self.dist, "run", lambda *words: tracked)
        monkeypatch.setattr(self.dist, "ROOT", tmp_path)
        (tmp_path / ".git").mkdir()
        with tarfile.open(tmp_path / "p.tar.gz", "w:gz") as archive:
            for file in files:
                archive.addfile(tarfile.TarInfo(f"perceptrons-1.0.0rc1/{file}"), io.BytesIO())
        if message is None:
            self.dist.check_sdist(tmp_path / "p.tar.gz")
        else:
            with pytest.raises(SystemExit, match=message):
                self.dist.check_sdist(tmp_path / "p.tar.gz")


@pytest.mark.skipif(not (ROOT / ".github").is_dir(), reason="the workflows are not part of the sdist")
@pytest.mark.parametrize("name", ["ci", "nightly", "release", "wheels"])
def test_workflows_name_each_action_by_its_commit(name):
    text = (ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8")
    actions = re.findall(r"uses: (.*)", text)
    assert len(actions) >= 2
    for action in actions:
        if (own := re.fullmatch(r"\./(\.github/workflows/\w+\.yml)", action)) is not None:
            assert (ROOT / own[1]).exists()
            continue
        assert re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action

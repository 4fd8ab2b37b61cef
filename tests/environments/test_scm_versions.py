"""Packages whose version comes from Git tags, in folders without Git."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from lakeward.environments.scm_versions import local_projects, version_variables
from lakeward.environments.uv_program import Installer, uv_program
from lakeward.environments.wheel_building import build_wheel
from tests.trees import write_files

Folder = Callable[[Mapping[str, str]], Path]
BUILD = '[build-system]\nrequires = ["{}"]\n'
NAMED = '[project]\nname = "My.pack-age"\ndynamic = ["version"]\n'
OF_PACKAGE = "SETUPTOOLS_SCM_PRETEND_VERSION_FOR_MY_PACK_AGE"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Write files into a folder that is no Git repository."""
    return lambda files: write_files(tmp_path / "folder", files)


@pytest.mark.parametrize(
    ("files", "variables"),
    [
        ({"pyproject.toml": BUILD.format("setuptools_scm[toml]>=8") + NAMED}, [OF_PACKAGE]),
        ({"setup.cfg": "[metadata]\nname = my-pack_age\n", "setup.py": ""}, [OF_PACKAGE]),
        ({"setup.py": "setup(name='my-pack-age', use_scm_version=True)"}, [OF_PACKAGE]),
        (
            {"pyproject.toml": BUILD.format("hatch-vcs") + NAMED},
            ["SETUPTOOLS_SCM_PRETEND_VERSION", OF_PACKAGE],
        ),
        ({"pyproject.toml": BUILD.format("pbr>=6")}, ["PBR_VERSION"]),
        (
            {"pyproject.toml": BUILD.format("poetry-dynamic-versioning>=1,<2")},
            ["POETRY_DYNAMIC_VERSIONING_BYPASS"],
        ),
        ({"pyproject.toml": BUILD.format("uv-dynamic-versioning")}, ["UV_DYNAMIC_VERSIONING_BYPASS"]),
        ({"setup.py": "", "setup.cfg": "this is no setup.cfg"}, []),
        ({"pyproject.toml": NAMED, ".git/HEAD": ""}, []),
        ({"pyproject.toml": NAMED, ".git": "gitdir: /elsewhere"}, []),
        ({"pyproject.toml": NAMED, "PKG-INFO": "Version: 2.1"}, []),
    ],
)
def test_a_package_without_history_gets_a_version(
    folder: Folder, files: Mapping[str, str], variables: list[str]
) -> None:
    found = version_variables([folder(files)], {})
    assert list(found) == variables
    assert set(found.values()) <= {"0.0.0"}


def test_a_version_that_the_user_gives_stays(folder: Folder) -> None:
    assert version_variables([folder({"pyproject.toml": NAMED})], {OF_PACKAGE: "3.1"}) == {}


def test_a_repository_above_the_package_has_the_history(folder: Folder) -> None:
    root = folder({".git/HEAD": "", "libs/a/pyproject.toml": NAMED})
    assert version_variables([root / "libs/a"], {}) == {}


def test_folders_are_found_in_a_requirements_file(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b c"
    first.mkdir()
    second.mkdir()
    lines = [
        *(f"-e {first}", f"{first}[test]", f"--editable={first}", f"-e {second.as_uri()}", str(second)),
        *("requests>=2", f"{tmp_path}/missing", "--index-url https://host/simple", f"{tmp_path}/x.whl"),
    ]
    file = tmp_path / "requirements.txt"
    file.write_text("\n".join(lines), encoding="utf-8")
    assert list(local_projects(file)) == [first, first, first, second, second]


@pytest.mark.parametrize("kind", ["install", "compile", "install_in_place"])
def test_each_way_to_install_it_states_the_version(
    folder: Folder, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = folder({"pyproject.toml": NAMED})
    lines = tmp_path / "lines.txt"
    lines.write_text(f"-e {root}\n", encoding="utf-8")
    seen: list[Mapping[str, str]] = []

    def record(_: Installer, __: list[str], environ: Mapping[str, str], ___: Path) -> tuple[int, str]:
        seen.append(environ)
        return 0, ""

    monkeypatch.setattr(Installer, "_output", record)
    installer, place = Installer(uv_program(), environ={}), tmp_path / "environment"
    if kind == "install":
        installer.install(place, lines)
    elif kind == "compile":
        installer.compile(place, lines, tmp_path / "out.txt")
    else:
        installer.install_in_place(place, root)
    assert [each[OF_PACKAGE] for each in seen] == ["0.0.0"]


BACKEND = """\
import os, zipfile
def build_wheel(folder, config_settings=None, metadata_directory=None):
    version = os.environ["SETUPTOOLS_SCM_PRETEND_VERSION_FOR_MY_PACK_AGE"]
    name = f"my_pack_age-{version}-py3-none-any.whl"
    with zipfile.ZipFile(f"{folder}/{name}", "w") as wheel:
        wheel.writestr(f"my_pack_age-{version}.dist-info/RECORD", "")
    return name
"""


def test_a_wheel_of_a_bundle_has_the_version(folder: Folder, tmp_path: Path) -> None:
    build = '[build-system]\nrequires = []\nbuild-backend = "own"\nbackend-path = ["backend"]\n'
    root = folder({"pyproject.toml": build + NAMED, "backend/own.py": BACKEND})
    (tmp_path / "out").mkdir()
    assert build_wheel(root, tmp_path / "out").name == "my_pack_age-0.0.0-py3-none-any.whl"

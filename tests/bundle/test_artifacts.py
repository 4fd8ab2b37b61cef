"""Building artifacts, and wheels with a version of their own that installers accept."""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib.metadata
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.utils import parse_wheel_filename

from lakeward.bundle import Bundle, artifacts_of, build, with_version
from lakeward.errors import BundleError


def wheel_at(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "tool-1.0-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("tool/__init__.py", "WHO = 1\n")
        archive.writestr("tool-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tool\nVersion: 1.0\n")
        archive.writestr("tool-1.0.dist-info/RECORD", "")
    return file


def test_a_wheel_gets_a_version_of_its_own_everywhere(tmp_path: Path) -> None:
    found = with_version(wheel_at(tmp_path / "dist"), tmp_path / "patched", "20260101")
    name, version, *_ = parse_wheel_filename(found.name)
    assert (name, str(version)) == ("tool", "1.0+20260101")
    (distribution,) = importlib.metadata.distributions(path=[str(found)])
    assert distribution.version == "1.0+20260101"
    with zipfile.ZipFile(found) as archive:
        rows = list(csv.reader(archive.read("tool-1.0+20260101.dist-info/RECORD").decode().splitlines()))
        assert sorted(row[0] for row in rows) == sorted(archive.namelist())
        for path, digest, _ in rows[:-1]:
            content = base64.urlsafe_b64encode(hashlib.sha256(archive.read(path)).digest()).rstrip(b"=")
            assert digest == f"sha256={content.decode()}"


def one(bundle_of: Callable[..., Bundle], artifact: str) -> Bundle:
    return bundle_of(f"bundle: {{name: b}}\nartifacts: {{tool: {artifact}}}\n", files={"lib/x.txt": ""})


def test_the_command_runs_in_the_artifacts_folder_and_its_files_are_found(
    bundle_of: Callable[..., Bundle], tmp_path: Path
) -> None:
    bundle = one(bundle_of, "{type: whl, path: lib, build: 'mkdir -p dist && cp x.txt dist/a.whl'}")
    (artifact,) = artifacts_of(bundle)
    assert build(artifact, environ=os.environ) == (tmp_path / "lib/dist/a.whl",)


@pytest.mark.parametrize(
    ("artifact", "condition", "message"),
    [
        ("{type: whl, build: 'echo no compiler; exit 3'}", "ARTIFACT_BUILD_FAILED", "no compiler"),
        ("{type: whl, build: 'true'}", "ARTIFACT_EMPTY", "dist/*.whl"),
        ("{type: whl, path: nowhere}", "ARTIFACT_FOLDER_MISSING", "nowhere"),
    ],
)
def test_a_build_that_gives_nothing_says_why(
    bundle_of: Callable[..., Bundle], artifact: str, condition: str, message: str
) -> None:
    (found,) = artifacts_of(one(bundle_of, artifact))
    with pytest.raises(BundleError) as caught:
        build(found, environ=os.environ)
    assert caught.value.condition == condition
    assert message in str(caught.value)


def test_the_preset_gives_every_artifact_a_dynamic_version(bundle_of: Callable[..., Bundle]) -> None:
    bundle = bundle_of(
        "bundle: {name: b}\npresets: {artifacts_dynamic_version: true}\n"
        "artifacts: {a: {type: whl}, b: {type: whl, dynamic_version: false}}\n"
    )
    assert [artifact.dynamic_version for artifact in artifacts_of(bundle)] == [True, False]

"""Building artifacts."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lakeward.bundle import Bundle, artifacts_of, build
from lakeward.errors import BundleError


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

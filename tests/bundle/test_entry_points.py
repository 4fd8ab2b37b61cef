"""Entry points and sources of a wheel are read from the project that an artifact builds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lakeward.bundle import Bundle
from lakeward.errors import BundleError

ROOT = "bundle: {name: b}\nartifacts: {w: {type: whl, path: packaging/tool}}\n"
PROJECT = """
[project]
name = "my-tool"
[project.scripts]
land = "my_tool.land:main"
[project.entry-points.jobs]
check = "my_tool.check:main"
[tool.hatch.build.targets.wheel.force-include]
"../../src/my_tool" = "my_tool"
"""


def test_an_entry_point_is_found_in_any_group_and_by_any_spelling_of_the_package(
    bundle_of: Callable[..., Bundle],
) -> None:
    bundle = bundle_of(ROOT, files={"packaging/tool/pyproject.toml": PROJECT})
    assert bundle.entry_point("my_tool", "land") == "my_tool.land:main"
    assert bundle.entry_point("My-Tool", "check") == "my_tool.check:main"


POETRY = """
[tool.poetry]
name = "my-tool"
[tool.poetry.scripts]
land = "my_tool.land:main"
load = {reference = "my_tool.load:main", type = "console"}
[tool.poetry.plugins.jobs]
check = "my_tool.check:main"
"""


@pytest.mark.parametrize(
    ("project", "backend", "names"),
    [
        pytest.param("", "poetry.core.masonry.api", {"land", "load", "check"}, id="poetry-alone"),
        pytest.param("", None, {"land", "load", "check"}, id="poetry-without-build-system"),
        pytest.param('[project]\nname = "my_tool"', "poetry.core.masonry.api", {"land", "load", "check"}),
        pytest.param('[project]\nname = "my_tool"', "poetry.masonry.api", {"land", "load", "check"}),
        pytest.param(
            '[project]\nname = "my_tool"\n[project.scripts]\nrun = "my_tool:run"',
            "poetry.core.masonry.api",
            {"run", "check"},
            id="scripts-of-project-replace-those-of-poetry",
        ),
        pytest.param(
            '[project]\nname = "my_tool"\n[project.entry-points.jobs]\nrun = "my_tool:run"',
            "poetry.core.masonry.api",
            {"land", "load", "run"},
            id="entry-points-of-project-replace-plugins",
        ),
        pytest.param('[project]\nname = "my_tool"', "hatchling.build", set(), id="another-backend"),
    ],
)
def test_poetry_takes_each_table_from_project_or_from_its_own(
    bundle_of: Callable[..., Bundle], project: str, backend: str | None, names: set[str]
) -> None:
    build = f'\n[build-system]\nbuild-backend = "{backend}"\n' if backend else ""
    bundle = bundle_of(ROOT, files={"packaging/tool/pyproject.toml": f"{project}\n{POETRY}{build}"})
    assert set(bundle.distribution("my_tool").entry_points) == names


def test_sources_are_where_the_build_takes_them_from(
    bundle_of: Callable[..., Bundle], tmp_path: Path
) -> None:
    (tmp_path / "src" / "my_tool").mkdir(parents=True)
    bundle = bundle_of(ROOT, files={"packaging/tool/pyproject.toml": PROJECT})
    assert bundle.distribution("my_tool").source_folders[0] == tmp_path / "src"


def test_an_unknown_entry_point_or_package_names_near_misses(bundle_of: Callable[..., Bundle]) -> None:
    bundle = bundle_of(ROOT, files={"packaging/tool/pyproject.toml": PROJECT})
    with pytest.raises(BundleError, match="Did you mean `land`") as caught:
        bundle.entry_point("my_tool", "lnad")
    assert caught.value.condition == "ENTRY_POINT_UNKNOWN"
    with pytest.raises(BundleError, match="Did you mean `my-tool`"):
        bundle.entry_point("mytool", "land")


def test_a_broken_pyproject_is_named(bundle_of: Callable[..., Bundle]) -> None:
    bundle = bundle_of(ROOT, files={"packaging/tool/pyproject.toml": "[project\n"})
    with pytest.raises(BundleError, match=r"pyproject\.toml: this is not valid TOML"):
        bundle.entry_point("my_tool", "land")


@pytest.mark.parametrize("key", ["dialy", "wearable"])
def test_an_unknown_key_names_near_misses(bundle_of: Callable[..., Bundle], key: str) -> None:
    bundle = bundle_of("bundle: {name: b}\nresources: {jobs: {daily: {}}, pipelines: {wearables: {}}}\n")
    with pytest.raises(BundleError, match="Did you mean") as caught:
        bundle.kind_of(key)
    assert caught.value.condition == "KEY_UNKNOWN"
    assert (bundle.kind_of("daily"), bundle.kind_of("wearables")) == ("job", "pipeline")

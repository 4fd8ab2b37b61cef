"""What editors read: every free name and every function of the API, in a form that Python accepts."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from lakeward.cli.init import init
from lakeward.cli.type_stubs import editor_files
from lakeward.databricks_shims import NAMES
from lakeward.pipelines import FUNCTIONS


def declared(text: str) -> dict[str, ast.stmt]:
    """The names that a stub declares."""
    found: dict[str, ast.stmt] = {}
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.ImportFrom):
            found |= {alias.asname: statement for alias in statement.names if alias.asname}
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            found[statement.target.id] = statement
        elif isinstance(statement, ast.FunctionDef):
            found[statement.name] = statement
    return found


def test_every_name_that_needs_no_import_is_declared() -> None:
    assert declared(editor_files()["__builtins__.pyi"]).keys() == set(NAMES)


def test_what_the_declarations_import_is_there() -> None:
    for statement in ast.parse(editor_files()["__builtins__.pyi"]).body:
        if isinstance(statement, ast.ImportFrom):
            module = importlib.import_module(str(statement.module))
            assert all(hasattr(module, alias.name) for alias in statement.names)


@pytest.mark.parametrize("file", ["typings/dlt.pyi", "typings/pyspark-stubs/pipelines/__init__.pyi"])
def test_functions_of_pipelines_are_declared_as_they_bind(file: str) -> None:
    functions: Any = declared(editor_files()[file])
    assert functions.keys() == {name for function in FUNCTIONS for name in function.names}
    for function in FUNCTIONS:
        given = functions[function.name].args
        names = [each.arg for each in (*given.args, *given.kwonlyargs)]
        assert names == list(function.signature().parameters)
        assert len(given.args) == min(function.positional, len(function.parameters))


def written(folder: Path) -> dict[str, str]:
    return {str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*") if file.is_file()}


def editor(folder: Path) -> Any:
    return CliRunner().invoke(init, [str(folder), "--editor"], standalone_mode=False)


def test_an_existing_project_gets_the_declarations_and_keeps_its_files(tmp_path: Path) -> None:
    (tmp_path / "databricks.yml").write_text("mine")
    assert editor(tmp_path).exception is None
    assert written(tmp_path) == {"databricks.yml": "mine", **editor_files()}
    # A newer version replaces what an older one wrote.
    builtins = tmp_path / "__builtins__.pyi"
    builtins.write_text(builtins.read_text() + "old: int\n")
    assert editor(tmp_path).exception is None
    assert written(tmp_path) == {"databricks.yml": "mine", **editor_files()}


def test_declarations_of_another_tool_are_kept(tmp_path: Path) -> None:
    (tmp_path / "__builtins__.pyi").write_text("spark: object\n")
    assert "FILE_EXISTS" in str(editor(tmp_path).exception)
    assert written(tmp_path) == {"__builtins__.pyi": "spark: object\n"}


def test_types_of_the_rest_of_pyspark_are_its_own() -> None:
    """A package that is not marked as partial would hide all other modules of PySpark."""
    inside = {path: text for path, text in editor_files().items() if path.startswith("typings/pyspark")}
    assert inside.pop("typings/pyspark-stubs/py.typed") == "partial\n"
    assert list(inside) == ["typings/pyspark-stubs/pipelines/__init__.pyi"]


def test_a_bundle_can_be_written_into_a_folder_with_files_for_editors(tmp_path: Path) -> None:
    assert editor(tmp_path).exception is None
    done = CliRunner().invoke(init, [str(tmp_path)], standalone_mode=False)
    assert done.exception is None
    assert (tmp_path / "databricks.yml").is_file()
    assert written(tmp_path).items() >= editor_files().items()


def test_a_folder_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "databricks.yml").mkdir()
    done = CliRunner().invoke(init, [str(tmp_path)], standalone_mode=False)
    assert "FILE_EXISTS" in str(done.exception)

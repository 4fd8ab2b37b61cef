"""What editors read: every free name and every function of the API, in a form that Python accepts."""

from __future__ import annotations

import ast
import importlib
from typing import Any

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


def test_functions_of_pipelines_are_declared_as_they_bind() -> None:
    functions: Any = declared(editor_files()["typings/dlt.pyi"])
    assert functions.keys() == {name for function in FUNCTIONS for name in function.names}
    for function in FUNCTIONS:
        given = functions[function.name].args
        names = [each.arg for each in (*given.args, *given.kwonlyargs)]
        assert names == list(function.signature().parameters)
        assert len(given.args) == min(function.positional, len(function.parameters))

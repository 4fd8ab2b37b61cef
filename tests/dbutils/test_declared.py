"""The table of functions and the code are the same."""

from __future__ import annotations

import inspect
from functools import reduce
from typing import Any

import pytest

from lakeward.dbutils import FUNCTIONS, GROUPS, DBUtils, Function
from pages import surroundings


def group_of(dbutils: DBUtils, name: str) -> Any:
    return reduce(getattr, name.split("."), dbutils)


@pytest.mark.parametrize("row", FUNCTIONS, ids=lambda row: row.full_name)
def test_every_declared_function_is_there_with_its_parameters(dbutils: DBUtils, row: Function) -> None:
    function = getattr(group_of(dbutils, row.group), row.name)
    parameters = inspect.signature(function).parameters.values()
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    assert f"({', '.join(map(str, bare))})" == row.signature


@pytest.mark.parametrize("group", GROUPS)
def test_every_function_in_the_code_is_declared(dbutils: DBUtils, group: str) -> None:
    declared = {row.name for row in FUNCTIONS if row.group == group}
    methods = inspect.getmembers(type(group_of(dbutils, group)), inspect.isfunction)
    there = {name for name, _ in methods if not name.startswith("_")} - {"help", "getContext"}
    assert there == declared


def test_help_tells_of_everything_of_a_part_and_of_one_function(
    dbutils: DBUtils, capsys: pytest.CaptureFixture[str]
) -> None:
    dbutils.help()
    assert "secrets: Secrets by scope and key" in capsys.readouterr().out
    dbutils.fs.help()
    assert "ls(path): Lists a directory." in capsys.readouterr().out
    dbutils.jobs.taskValues.help("set")
    assert "dbutils.jobs.taskValues.set(key, value)" in capsys.readouterr().out
    with pytest.raises(ValueError, match="has no function 'lss'; there are cp, head, ls"):
        dbutils.fs.help("lss")


def test_a_refused_function_says_why_it_is_refused(dbutils: DBUtils) -> None:
    for row in FUNCTIONS:
        if row.verdict == "refused":
            assert row.note
            arguments = ["x"] * sum(
                parameter.default is parameter.empty and parameter.kind is not parameter.VAR_POSITIONAL
                for parameter in inspect.signature(
                    getattr(group_of(dbutils, row.group), row.name)
                ).parameters.values()
            )
            with pytest.raises(Exception, match=r"\[NOT_SUPPORTED\]"):
                getattr(group_of(dbutils, row.group), row.name)(*arguments)


def test_the_documentation_has_a_row_for_each() -> None:
    page = surroundings.as_markdown()
    assert all(f"| `{row.full_name}{row.signature}` |" in page for row in FUNCTIONS)

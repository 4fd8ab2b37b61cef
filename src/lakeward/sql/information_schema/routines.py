"""Functions in SQL and Python, from the definitions that Spark stores, and procedures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from lakeward.spark_internals import session_state
from lakeward.sql.constructs.functions import calls_as_written
from lakeward.sql.constructs.python_functions import PythonFunction
from lakeward.sql.information_schema.catalog_view import CatalogView, Name, Row

_SPECIFIC = ("specific_catalog", "specific_schema", "specific_name")
_ROUTINE = ("routine_catalog", "routine_schema", "routine_name")


def routines(view: CatalogView) -> Iterator[Row]:
    """Yield one row per function and procedure."""
    for name, description, is_sql in _descriptions(view):
        is_table = description.get("isTableFunc") == "true"
        returns = description.get("returnType", "")
        expression = calls_as_written(description.get("expression", ""))
        query = calls_as_written(description.get("query", ""))
        python = PythonFunction.of_stored_body(expression)
        owner = view.metadata("FUNCTION", name).get("owner") or view.user
        created = int(description["createTime"]) * 1000 if "createTime" in description else None
        yield {
            **_routine(name, "FUNCTION", owner, created),
            **({"data_type": "TABLE", "full_data_type": f"TABLE({returns})"} if is_table else _type(returns)),
            "routine_body": "SQL" if is_sql and python is None else "EXTERNAL",
            "routine_definition": python.body if python else expression or query,
            "external_language": "Python" if python else None,
            "is_deterministic": "NO" if description.get("deterministic") == "false" else "YES",
            "sql_data_access": "READS SQL DATA" if description.get("query") else "CONTAINS SQL",
            "security_type": "DEFINER",
            "comment": description.get("comment"),
        }
    for name, procedure in view.procedures():
        yield {
            **_routine(name, "PROCEDURE", procedure.owner, procedure.created),
            "routine_body": "SQL",
            "routine_definition": procedure.body,
            "is_deterministic": "NO",
            "sql_data_access": "MODIFIES SQL DATA",
            "security_type": procedure.security,
            "comment": procedure.comment,
        }


def _routine(name: Name, kind: str, owner: str, created: int | None) -> Row:
    """Return the columns that functions and procedures have alike."""
    return {
        **dict(zip(_SPECIFIC, name, strict=True)),
        **dict(zip(_ROUTINE, name, strict=True)),
        "routine_type": kind,
        "parameter_style": "SQL",
        "is_null_call": "YES",
        "as_locator": "NO",
        "routine_owner": owner,
        "created": created,
        "created_by": owner,
        "last_altered": created,
        "last_altered_by": owner,
    }


def parameters(view: CatalogView) -> Iterator[Row]:
    """Yield one row per parameter."""
    for name, description, _ in _descriptions(view):
        for number, field in enumerate(_fields(view, description.get("inputParam", "")), 1):
            default, comment = field.metadata.get("default"), field.metadata.get("comment")
            default = default and calls_as_written(default)
            yield _parameter(name, number, field.name, field.dataType.simpleString(), "IN", default, comment)
    for name, procedure in view.procedures():
        for number, each in enumerate(procedure.parameters, 1):
            yield _parameter(name, number, each.name, each.type, each.mode, each.default, each.comment)


def _parameter(
    routine: Name, number: int, name: str, type_: str, mode: str, default: str | None, comment: str | None
) -> Row:
    return {
        **dict(zip(_SPECIFIC, routine, strict=True)),
        **_type(type_),
        "ordinal_position": number,
        "parameter_mode": mode,
        "is_result": "NO",
        "as_locator": "NO",
        "parameter_name": name,
        "parameter_default": default,
        "comment": comment,
    }


def routine_columns(view: CatalogView) -> Iterator[Row]:
    """Yield one row per result column of a table function."""
    for name, description, _ in _descriptions(view):
        if description.get("isTableFunc") == "true":
            for number, field in enumerate(_fields(view, description.get("returnType", "")), 1):
                row: Row = dict(zip(_SPECIFIC, name, strict=True))
                row |= {"column_name": field.name, "comment": field.metadata.get("comment")}
                yield row | _type(field.dataType.simpleString()) | {"ordinal_position": number}


def _descriptions(view: CatalogView) -> Iterator[tuple[Name, dict[str, str], bool]]:
    """Yield each function's name, Spark's description of it, and whether it is written in SQL.

    Spark splits the description, which is JSON, into numbered resources.
    """
    prefix = "sqlFunction."
    for name, definition in view.functions():
        pieces = sorted(each["uri"] for each in definition.get("resources", ()))
        is_sql = definition.get("className", "").startswith(prefix)
        stored: dict[str, Any] = json.loads("".join(piece[3:] for piece in pieces)) if is_sql else {}
        yield name, {k.removeprefix(prefix): v for k, v in stored.items() if k.startswith(prefix)}, is_sql


def _fields(view: CatalogView, text: str) -> Any:
    """Return the parameters, or the columns of the result, of a function."""
    if not text:
        return ()
    from pyspark.sql.types import StructType

    parser = session_state(view.spark).sqlParser()
    return StructType.fromJson(json.loads(parser.parseRoutineParam(text).json()))


def _type(text: str) -> Row:
    return {"data_type": text.partition("(")[0].partition("<")[0].upper(), "full_data_type": text.lower()}

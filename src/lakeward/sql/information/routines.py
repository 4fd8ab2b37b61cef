"""Functions of SQL, from what Spark keeps of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from lakeward.sql.information.catalog import CatalogView, Name, Row

__all__ = ["parameters", "routine_columns", "routines"]

_SPECIFIC = ("specific_catalog", "specific_schema", "specific_name")
_ROUTINE = ("routine_catalog", "routine_schema", "routine_name")


def routines(view: CatalogView) -> Iterator[Row]:
    """One row a function."""
    for name, about, kept in _described(view):
        is_table = about.get("isTableFunc") == "true"
        returns = about.get("returnType", "")
        owner = view.note("FUNCTION", name).get("owner") or view.user
        created = int(about["createTime"]) * 1000 if "createTime" in about else None
        yield {
            **dict(zip(_SPECIFIC, name, strict=True)),
            **dict(zip(_ROUTINE, name, strict=True)),
            **({"data_type": "TABLE", "full_data_type": f"TABLE({returns})"} if is_table else _type(returns)),
            "routine_type": "FUNCTION",
            "routine_body": "SQL" if kept else "EXTERNAL",
            "routine_definition": about.get("expression") or about.get("query"),
            "parameter_style": "SQL",
            "is_deterministic": "NO" if about.get("deterministic") == "false" else "YES",
            "sql_data_access": "READS SQL DATA" if about.get("query") else "CONTAINS SQL",
            "is_null_call": "YES",
            "security_type": "DEFINER",
            "as_locator": "NO",
            "routine_owner": owner,
            "comment": about.get("comment"),
            "created": created,
            "created_by": owner,
            "last_altered": created,
            "last_altered_by": owner,
        }


def parameters(view: CatalogView) -> Iterator[Row]:
    """One row a parameter."""
    for name, about, _ in _described(view):
        for number, field in enumerate(_fields(view, about.get("inputParam", "")), 1):
            yield {
                **dict(zip(_SPECIFIC, name, strict=True)),
                **_type(field.dataType.simpleString()),
                "ordinal_position": number,
                "parameter_mode": "IN",
                "is_result": "NO",
                "as_locator": "NO",
                "parameter_name": field.name,
                "parameter_default": field.metadata.get("default"),
                "comment": field.metadata.get("comment"),
            }


def routine_columns(view: CatalogView) -> Iterator[Row]:
    """One row a column of what a table function gives."""
    for name, about, _ in _described(view):
        if about.get("isTableFunc") == "true":
            for number, field in enumerate(_fields(view, about.get("returnType", "")), 1):
                at = dict(zip(_SPECIFIC, name, strict=True))
                at |= {"column_name": field.name, "comment": field.metadata.get("comment")}
                yield at | _type(field.dataType.simpleString()) | {"ordinal_position": number}


def _described(view: CatalogView) -> Iterator[tuple[Name, dict[str, str], bool]]:
    """Each function's name, what Spark wrote of it in pieces, and whether it is one of SQL."""
    for name, json_of_it in view.functions():
        pieces = sorted(each["uri"] for each in json_of_it.get("resources", ()))
        is_sql = json_of_it.get("className", "").startswith("sqlFunction.")
        kept: dict[str, Any] = json.loads("".join(piece[3:] for piece in pieces)) if is_sql else {}
        prefix = "sqlFunction."
        yield name, {k.removeprefix(prefix): v for k, v in kept.items() if k.startswith(prefix)}, is_sql


def _fields(view: CatalogView, ddl: str) -> Any:
    jvm: Any = view.spark._jvm
    if not ddl:
        return ()
    from pyspark.sql.types import StructType

    return StructType.fromJson(json.loads(jvm.org.apache.spark.sql.types.StructType.fromDDL(ddl).json()))


def _type(text: str) -> Row:
    return {"data_type": text.partition("(")[0].partition("<")[0].upper(), "full_data_type": text.lower()}

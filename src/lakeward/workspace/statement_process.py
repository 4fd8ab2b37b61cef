"""The warehouse's process: `python -m lakeward.workspace.statement_process SETTINGS`, a statement a line."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TextIO

from lakeward.dbutils import redacted
from lakeward.workspace.sent_settings import received

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["main"]

_MOST_ROWS = 100_000


def main(arguments: list[str]) -> int:
    """Answer statements until the input ends."""
    settings = received(json.loads(arguments[0]))
    # What Spark prints must not come between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    os.chdir(settings.root)
    from lakeward.session import session, use_resident

    use_resident()
    spark = session(settings)
    for line in sys.stdin:
        order = json.loads(line)
        tell(answers, {"id": order["id"], **answer(spark, order)})
    return 0


def tell(answers: TextIO, found: Mapping[str, Any]) -> None:
    answers.write(json.dumps(found) + "\n")
    answers.flush()


def answer(spark: SparkSession, order: Mapping[str, Any]) -> dict[str, Any]:
    """Columns and rows of a statement, or its error."""
    from lakeward.session import condition_of

    try:
        if order.get("catalog"):
            spark.catalog.setCurrentCatalog(order["catalog"])
        if order.get("schema"):
            spark.catalog.setCurrentDatabase(order["schema"])
        frame = spark.sql(order["statement"], args=arguments_of(order["parameters"]) or None)
        return rows_of(frame, order.get("row_limit"))
    except Exception as error:  # noqa: BLE001  # whatever a statement raises is its answer
        text = redacted(str(error)).split("\n\nJVM stacktrace")[0]
        state = getattr(error, "getSqlState", lambda: None)()
        return {
            "error": text if condition_of(error) else f"{type(error).__name__}: {text}",
            "sql_state": state,
        }


def arguments_of(parameters: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Named parameters as Spark takes them, literals of their type. Raises ValueError for what is none.

    >>> arguments_of([{"name": "least", "value": "2", "type": "INT"}, {"name": "who", "value": "ada"}])
    {'least': 2, 'who': 'ada'}
    """
    return {
        str(each["name"]): literal(each.get("value"), str(each.get("type") or "STRING"))
        for each in parameters
    }


def literal(value: str | None, kind: str) -> Any:
    """A parameter's text as a value; Spark binds literals alone, so a cast would be refused."""
    read = _READERS.get(kind.upper().partition("(")[0], str)
    return None if value is None else read(value)


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(f"{text!r} is not a BOOLEAN")
    return text.lower() == "true"


_READERS: Mapping[str, Callable[[str], Any]] = {
    **dict.fromkeys(("BYTE", "TINYINT", "SHORT", "SMALLINT", "INT", "LONG", "BIGINT"), int),
    **dict.fromkeys(("FLOAT", "DOUBLE"), float),
    "DECIMAL": Decimal,
    "BOOLEAN": _boolean,
    "DATE": date.fromisoformat,
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_NTZ"), datetime.fromisoformat),
}


def rows_of(frame: DataFrame, limit: int | None) -> dict[str, Any]:
    """The result as strings, NULL as null, as the platform's JSON arrays are."""
    from pyspark.sql import functions as F

    most = min(limit or _MOST_ROWS, _MOST_ROWS)
    columns = [
        {
            "name": field.name,
            "position": position,
            "type_name": name_of(field),
            "type_text": field.dataType.simpleString().upper(),
        }
        for position, field in enumerate(frame.schema.fields)
    ]
    if not columns:
        return {"columns": [], "rows": [], "truncated": False}
    plain = frame.toDF(*(f"c{position}" for position in range(len(columns))))
    texts = [
        (
            F.to_json(plain[name])
            if kind.typeName() in ("struct", "array", "map")
            else plain[name].cast("string")
        )
        for name, kind in ((field.name, field.dataType) for field in plain.schema.fields)
    ]
    rows = [list(row) for row in plain.select(*texts).limit(most + 1).collect()]
    return {"columns": columns, "rows": rows[:most], "truncated": len(rows) > most}


def name_of(field: Any) -> str:
    """The type's name in the API."""
    name = str(field.dataType.typeName()).upper()
    return {"INTEGER": "INT", "BIGINT": "LONG", "TINYINT": "BYTE", "SMALLINT": "SHORT"}.get(name, name)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

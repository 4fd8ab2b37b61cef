"""SHOW CREATE TABLE of Delta tables and of views."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakeward.sql.commands.place import place, result
from lakeward.sql.commands.tables import quoted

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

__all__ = ["show_create"]


def show_create(spark: SparkSession, *, table: list[str]) -> dict[str, Any]:
    """The statement that makes the table or view anew. Raises what DESCRIBE raises."""
    catalog, schema, name = place(spark).full(table)
    spark.table(quoted(table))
    views = spark.sql(
        f"SELECT view_definition FROM {quoted([catalog])}.information_schema.views"  # noqa: S608  # quoted
        " WHERE table_schema = :schema AND table_name = :name",
        args={"schema": schema, "name": name},
    ).collect()
    if views:
        return result("createtab_stmt STRING", [[f"CREATE VIEW {catalog}.{schema}.{name} AS {views[0][0]}"]])
    detail = spark.sql(f"DESCRIBE DETAIL {quoted(table)}").first()
    assert detail is not None
    columns = [_column(field) for field in spark.table(quoted(table)).schema.fields]
    lines = [f"CREATE TABLE {catalog}.{schema}.{name} (", ",\n".join(columns) + ")", *_clauses(detail)]
    return result("createtab_stmt STRING", [["\n".join(lines) + "\n"]])


def _column(field: Any) -> str:
    comment = field.metadata.get("comment")
    return (
        f"  {field.name} {field.dataType.simpleString().upper()}"
        + ("" if field.nullable else " NOT NULL")
        + (f" COMMENT {_text(comment)}" if comment else "")
    )


def _clauses(detail: Row) -> list[str]:
    lines = [f"USING {detail['format']}"]
    if detail["partitionColumns"]:
        lines.append(f"PARTITIONED BY ({', '.join(detail['partitionColumns'])})")
    if detail["clusteringColumns"]:
        lines.append(f"CLUSTER BY ({', '.join(detail['clusteringColumns'])})")
    if detail["description"]:
        lines.append(f"COMMENT {_text(detail['description'])}")
    if detail["properties"]:
        pairs = [f"  {_text(k)} = {_text(v)}" for k, v in sorted(detail["properties"].items())]
        lines.append("TBLPROPERTIES (\n" + ",\n".join(pairs) + ")")
    return lines


def _text(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"

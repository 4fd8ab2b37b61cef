"""Types as SQL text: `STRUCT<Ab: ARRAY<BIGINT> NOT NULL>`, for SHOW CREATE TABLE and manifests of results.

Other forms have other readers:

- `DataType.simpleString()`, `struct<ab:array<bigint>>`: DESCRIBE, the information schema, the Unity Catalog
  API (`databricks_shims/local_workspace/table_files.py` reads it from stored JSON, without Spark).
- One JSON object per type, `{"name": "array", …}`: DESCRIBE … AS JSON (`type_as_json`).
- Spark's own JSON, `{"type": "array", …}`: schemas that are stored or sent to the JVM.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.quoting import quote_if_needed, quote_string

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructField


def type_text(kind: DataType, *, with_comments: bool = False) -> str:
    """Return a type as SQL text; fields keep their case, and their comments if these are requested.

    >>> from pyspark.sql.types import ArrayType, LongType, StructField, StructType
    >>> type_text(StructType([StructField("Ab", ArrayType(LongType()), False, {"comment": "x"})]))
    'STRUCT<Ab: ARRAY<BIGINT> NOT NULL>'
    """
    from pyspark.sql import types as t

    def text(part: DataType) -> str:
        return type_text(part, with_comments=with_comments)

    def field_text(field: StructField) -> str:
        required = "" if field.nullable else " NOT NULL"
        comment = field.metadata.get("comment") if with_comments else None
        described = f" COMMENT {quote_string(comment)}" if comment else ""
        return f"{quote_if_needed(field.name)}: {text(field.dataType)}{required}{described}"

    if isinstance(kind, t.StructType):
        return f"STRUCT<{', '.join(map(field_text, kind.fields))}>"
    if isinstance(kind, t.ArrayType):
        return f"ARRAY<{text(kind.elementType)}>"
    if isinstance(kind, t.MapType):
        return f"MAP<{text(kind.keyType)}, {text(kind.valueType)}>"
    return kind.simpleString().upper()

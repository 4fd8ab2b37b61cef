"""`schemaHints` (auto-loader.md §2.3): types of single columns, nested ones by dotted paths."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from lakeward.errors import CloudFilesError

__all__ = ["Hint", "apply_hints", "parse_hints"]

Hint = tuple[tuple[str, ...], DataType]


def parse_hints(text: str, parse_type: Callable[[str], DataType]) -> list[Hint]:
    """`a INT, b.c DATE` → paths and types. Raises CF_INVALID_SCHEMA_HINTS_OPTION."""
    hints: list[Hint] = []
    for item in _split(text, ",") if text.strip() else ():
        name, _, type_text = _divided(item.strip())
        path = tuple(part.strip("`") for part in _split(name, "."))
        try:
            if not type_text or not all(path):
                raise ValueError(item)
            hints.append((path, parse_type(type_text)))
        except Exception as error:  # Spark's parser raises several kinds
            raise _invalid(f"{item.strip()!r} is not a column name and a type") from error
    doubled = {h[0] for h in hints if sum(h[0] == other[0] for other in hints) > 1}
    if doubled:
        raise _invalid(f"{', '.join('.'.join(path) for path in sorted(doubled))} is named more than once")
    return hints


def apply_hints(schema: StructType, hints: Sequence[Hint]) -> StructType:
    """The schema with the hinted types; columns that it lacks are added at the end (§2.3 rule 3)."""
    for path, dtype in hints:
        hinted = _with(schema, path, dtype, path)
        assert isinstance(hinted, StructType)
        schema = hinted
    return schema


def _with(dtype: DataType | None, path: tuple[str, ...], hint: DataType, whole: tuple[str, ...]) -> DataType:
    if not path:
        return hint
    head, rest = path[0], path[1:]
    if isinstance(dtype, ArrayType) and head == "element":
        return ArrayType(_with(dtype.elementType, rest, hint, whole))
    if isinstance(dtype, MapType) and head == "key":
        return MapType(_with(dtype.keyType, rest, hint, whole), dtype.valueType)
    if isinstance(dtype, MapType) and head == "value":
        return MapType(dtype.keyType, _with(dtype.valueType, rest, hint, whole))
    if isinstance(dtype, (ArrayType, MapType)):
        raise CloudFilesError(
            "CF_INVALID_SCHEMA_HINT_COLUMN",
            f"The schema hint {'.'.join(whole)} goes through a column of type {dtype.simpleString()}.",
            next_step="Address array items as `element`, maps as `key` and `value`.",
        )
    fields = list(dtype.fields) if isinstance(dtype, StructType) else []
    for index, field in enumerate(fields):
        if field.name.lower() == head.lower():
            fields[index] = StructField(head, _with(field.dataType, rest, hint, whole))
            return StructType(fields)
    return StructType([*fields, StructField(head, _with(None, rest, hint, whole))])


def _split(text: str, separator: str) -> list[str]:
    """Split outside of brackets and backticks."""
    parts, depth, quoted, start = [], 0, False, 0
    for index, char in enumerate(text):
        if char == "`":
            quoted = not quoted
        elif quoted:
            continue
        elif char in "<(":
            depth += 1
        elif char in ">)":
            depth -= 1
        elif char == separator and not depth:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]


def _divided(item: str) -> tuple[str, str, str]:
    quoted = False
    for index, char in enumerate(item):
        if char == "`":
            quoted = not quoted
        elif not quoted and (char.isspace() or char == ":"):
            return item[:index], char, item[index + 1 :].strip().lstrip(":").strip()
    return item, "", ""


def _invalid(what: str) -> CloudFilesError:
    return CloudFilesError(
        "CF_INVALID_SCHEMA_HINTS_OPTION",
        f"cloudFiles.schemaHints cannot be used: {what}.",
        next_step="Write it as in SQL: 'id INT, user.born DATE'.",
    )

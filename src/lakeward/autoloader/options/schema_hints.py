"""`schemaHints`: types of single columns, nested ones by dotted paths (AL-2.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from lakeward.errors import CloudFilesError

Hint = tuple[tuple[str, ...], DataType]


def parse_hints(text: str, parse_type: Callable[[str], DataType]) -> list[Hint]:
    """Parse `a INT, b.c DATE` into paths and types; raise CF_INVALID_SCHEMA_HINTS_OPTION."""
    hints: list[Hint] = []
    for item in _split(text, ",") if text.strip() else ():
        name, _, type_text = _split_hint(item.strip())
        path = tuple(part.strip("`") for part in _split(name, "."))
        try:
            if not type_text or not all(path):
                raise ValueError(item)
            hints.append((path, parse_type(type_text)))
        except Exception as error:  # Spark's parser raises several kinds
            raise _invalid_hints(f"{item.strip()!r} is not a column name and a type") from error
    doubled = {h[0] for h in hints if sum(h[0] == other[0] for other in hints) > 1}
    if doubled:
        raise _invalid_hints(
            f"{', '.join('.'.join(path) for path in sorted(doubled))} has more than one hint"
        )
    return hints


def apply_hints(schema: StructType, hints: Sequence[Hint]) -> StructType:
    """Return the schema with hinted types; missing columns are added at the end (AL-2.3.3)."""
    for path, dtype in hints:
        hinted = _set_type(schema, path, dtype, path)
        assert isinstance(hinted, StructType)
        schema = hinted
    return schema


def _set_type(
    dtype: DataType | None, path: tuple[str, ...], hint: DataType, whole: tuple[str, ...]
) -> DataType:
    if not path:
        return hint
    head, rest = path[0], path[1:]
    if isinstance(dtype, ArrayType) and head == "element":
        return ArrayType(_set_type(dtype.elementType, rest, hint, whole))
    if isinstance(dtype, MapType) and head == "key":
        return MapType(_set_type(dtype.keyType, rest, hint, whole), dtype.valueType)
    if isinstance(dtype, MapType) and head == "value":
        return MapType(dtype.keyType, _set_type(dtype.valueType, rest, hint, whole))
    if isinstance(dtype, (ArrayType, MapType)):
        raise CloudFilesError(
            "CF_INVALID_SCHEMA_HINT_COLUMN",
            f"The schema hint {'.'.join(whole)} addresses a field of type {dtype.simpleString()}.",
            next_step="Use `element` for arrays, `key` and `value` for maps.",
        )
    fields = list(dtype.fields) if isinstance(dtype, StructType) else []
    for index, field in enumerate(fields):
        if field.name.lower() == head.lower():
            fields[index] = StructField(head, _set_type(field.dataType, rest, hint, whole))
            return StructType(fields)
    return StructType([*fields, StructField(head, _set_type(None, rest, hint, whole))])


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


def _split_hint(item: str) -> tuple[str, str, str]:
    quoted = False
    for index, char in enumerate(item):
        if char == "`":
            quoted = not quoted
        elif not quoted and (char.isspace() or char == ":"):
            return item[:index], char, item[index + 1 :].strip().lstrip(":").strip()
    return item, "", ""


def _invalid_hints(what: str) -> CloudFilesError:
    return CloudFilesError(
        "CF_INVALID_SCHEMA_HINTS_OPTION",
        f"cloudFiles.schemaHints is invalid: {what}.",
        next_step="Use SQL syntax: 'id INT, user.born DATE'.",
    )

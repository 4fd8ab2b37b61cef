"""Decides from the footer of a Parquet file or the header of an Avro file which reader may read it.

Spark's own readers are faster than the Python readers, but drop surplus columns and convert types silently.
They may read a file whose columns are columns of the schema, spelled alike and with exactly its types:
nothing is rescued, nothing drifts, and both readers return the same rows. In doubt, a file does not qualify.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from lakeward.autoloader.conversion.arrow_cast import is_list
from lakeward.autoloader.readers.parquet import leaf_type

if TYPE_CHECKING:
    import pyarrow.parquet as pq
    from pyspark.sql.types import DataType

    from lakeward.autoloader.readers.batch_builder import BatchBuilder


class ScanCheck(Protocol):
    """The check of one format."""

    def qualifies(self, path: str) -> bool:
        """Return whether Spark's reader returns the rows of the Python reader for a local file."""


def create_scan_check(builder: BatchBuilder) -> ScanCheck:
    """Return the check for the format of a stream: Parquet or Avro."""
    if builder.plan.format == "avro":
        return AvroCheck(builder.data)
    return ParquetCheck({name: builder.arrow.field(name).type for name in builder.data})


# Codecs and encodings that both readers decode.
_CODECS = {"UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD"}
_ENCODINGS = {"PLAIN", "RLE", "BIT_PACKED", "PLAIN_DICTIONARY", "RLE_DICTIONARY"}
_ENCODINGS |= {"DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"}
_FIRST_CORRECT_VERSION = 3
# Physical types that may carry a decimal; the logical types of the others are in `_leaf_matches`.
_DECIMALS = {"INT32", "INT64", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}


class ParquetCheck:
    """Compares the footer of a Parquet file with the Arrow types of the data columns."""

    def __init__(self, columns: Mapping[str, pa.DataType]) -> None:
        self._columns = columns
        self._known: tuple[pq.ParquetSchema, bool] | None = None

    def qualifies(self, path: str) -> bool:
        """Return whether Spark's reader returns the rows of the Python reader for a local file."""
        import pyarrow.parquet as pq

        try:
            footer = pq.read_metadata(path)
        except (OSError, ValueError):
            return False
        metadata = footer.metadata or {}
        texts = {
            key.decode(errors="replace"): text.decode(errors="replace") for key, text in metadata.items()
        }
        if _has_legacy_dates(texts):
            return False
        if self._known is None or not self._known[0].equals(footer.schema):
            self._known = footer.schema, self._has_columns(footer.schema)
        return self._known[1] and _is_decodable(footer)

    def _has_columns(self, schema: pq.ParquetSchema) -> bool:
        try:
            found = schema.to_arrow_schema()
        except (pa.ArrowException, ValueError):
            return False
        if not found.names or len(set(found.names)) < len(found.names):
            return False
        leaves = [schema.column(index) for index in range(len(schema))]
        each = iter(leaves)
        for field in found:
            target = self._columns.get(field.name)
            if target is None or not _column_matches(field.type, target, field.name, each):
                return False
        return next(each, None) is None


def _column_matches(found: pa.DataType, target: pa.DataType, path: str, leaves: Iterator[Any]) -> bool:
    """Return whether a column has the type `target`, and consume its `leaves`."""
    if pa.types.is_struct(target):
        names = [field.name for field in target]
        return (
            pa.types.is_struct(found)
            and [field.name for field in found] == names
            and all(
                _column_matches(found.field(name).type, target.field(name).type, f"{path}.{name}", leaves)
                for name in names
            )
        )
    if pa.types.is_list(target):
        inner = rf"{path}.list.{found.value_field.name}" if is_list(found) else ""
        return is_list(found) and _column_matches(found.value_type, target.value_type, inner, leaves)
    if pa.types.is_map(target):
        return (
            pa.types.is_map(found)
            and _column_matches(found.key_type, target.key_type, f"{path}.key_value.key", leaves)
            and _column_matches(found.item_type, target.item_type, f"{path}.key_value.value", leaves)
        )
    leaf = next(leaves, None)
    if leaf is None or leaf.path != path:
        return False
    return _leaf_matches(leaf, json.loads(leaf.logical_type.to_json()), target)


def _leaf_matches(leaf: Any, logical: Mapping[str, Any], target: pa.DataType) -> bool:
    """Return whether a leaf with this logical type is of the Arrow type `target` to both readers."""
    if leaf_type(leaf, logical) != target:
        return False
    physical, name = leaf.physical_type, logical["Type"]
    if physical == "INT96":
        return True
    if pa.types.is_decimal128(target):
        sizes = (logical.get("precision"), logical.get("scale"))
        return name == "Decimal" and physical in _DECIMALS and sizes == (target.precision, target.scale)
    if pa.types.is_timestamp(target):
        return (
            (physical, name, logical.get("timeUnit")) == ("INT64", "Timestamp", "microseconds")
        ) and logical.get("isAdjustedToUTC") is (target.tz is not None)
    if pa.types.is_integer(target):
        width = target.bit_width
        plain = name == "None" and width >= 32
        return physical == ("INT64" if width == 64 else "INT32") and (
            plain or (name == "Int" and logical.get("bitWidth") == width and logical.get("isSigned") is True)
        )
    expected = {
        pa.bool_(): ("BOOLEAN", "None"),
        pa.float32(): ("FLOAT", "None"),
        pa.float64(): ("DOUBLE", "None"),
        pa.string(): ("BYTE_ARRAY", "String"),
        pa.binary(): ("BYTE_ARRAY", "None"),
        pa.date32(): ("INT32", "Date"),
    }
    return expected.get(target) == (physical, name)


def _is_decodable(footer: pq.FileMetaData) -> bool:
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
        for index in range(group.num_columns):
            column = group.column(index)
            if column.compression not in _CODECS or not _ENCODINGS.issuperset(column.encodings):
                return False
    return True


def _has_legacy_dates(metadata: Mapping[str, str]) -> bool:
    """Return whether Spark would shift dates of the file from another calendar; the Python readers do not."""
    if any(key.startswith("org.apache.spark.legacy") for key in metadata):
        return True
    version = metadata.get("org.apache.spark.version")
    if version is None:
        return False
    number = re.match(r"\d+", version)
    return number is None or int(number[0]) < _FIRST_CORRECT_VERSION


_AVRO_CODECS = {"null", "deflate", "snappy", "bzip2", "xz", "zstandard"}
# Avro types by Spark type: type and logical type.
_AVRO_TYPES: dict[str, set[tuple[str, str | None]]] = {
    "boolean": {("boolean", None)},
    "integer": {("int", None)},
    "long": {("long", None)},
    "float": {("float", None)},
    "double": {("double", None)},
    "string": {("string", None), ("enum", None)},
    "binary": {("bytes", None), ("fixed", None)},
    "date": {("int", "date")},
    "timestamp": {("long", "timestamp-millis"), ("long", "timestamp-micros")},
    "timestamp_ntz": {("long", "local-timestamp-millis"), ("long", "local-timestamp-micros")},
}


class AvroCheck:
    """Compares the schema in the header of an Avro file with the Spark types of the data columns."""

    def __init__(self, columns: Mapping[str, DataType]) -> None:
        self._columns = columns
        self._known: dict[str, bool] = {}

    def qualifies(self, path: str) -> bool:
        """Return whether Spark's reader returns the rows of the Python reader for a local file."""
        from fastavro import reader
        from fastavro.read import SchemaResolutionError

        try:
            with open(path, "rb") as source:  # noqa: PTH123  # a path of the driver's disk, once a file
                metadata: dict[str, str] = reader(source).metadata
        except (OSError, ValueError, EOFError, KeyError, IndexError, SchemaResolutionError):
            return False
        if metadata.get("avro.codec", "null") not in _AVRO_CODECS or _has_legacy_dates(metadata):
            return False
        schema = metadata["avro.schema"]
        if schema not in self._known:
            self._known[schema] = self._has_columns(json.loads(schema))
        return self._known[schema]

    def _has_columns(self, schema: Any) -> bool:
        if not isinstance(schema, dict) or schema.get("type") != "record" or not schema["fields"]:
            return False
        names = [field["name"] for field in schema["fields"]]
        return len(set(names)) == len(names) and all(
            (dtype := self._columns.get(field["name"])) is not None and _avro_matches(field["type"], dtype)
            for field in schema["fields"]
        )


def _avro_matches(schema: Any, dtype: DataType) -> bool:
    """Return whether an Avro type is of a Spark type to both readers; not for references and unions."""
    from pyspark.sql.types import ArrayType, DecimalType, MapType, StringType, StructType

    if isinstance(schema, list):
        members = [member for member in schema if member != "null"]
        return len(members) == 1 and not isinstance(members[0], list) and _avro_matches(members[0], dtype)
    if isinstance(schema, str):
        schema = {"type": schema}
    kind, logical = schema["type"], schema.get("logicalType")
    if not isinstance(kind, str):
        return logical is None and _avro_matches(kind, dtype)
    if "spark.sql.catalyst.type" in schema:
        return False
    if isinstance(dtype, StructType):
        fields = schema.get("fields") or []
        return (
            (kind, logical) == ("record", None)
            and [field["name"] for field in fields] == dtype.names
            and all(
                _avro_matches(field["type"], own.dataType)
                for field, own in zip(fields, dtype.fields, strict=True)
            )
        )
    if isinstance(dtype, ArrayType):
        return (kind, logical) == ("array", None) and _avro_matches(schema["items"], dtype.elementType)
    if isinstance(dtype, MapType):
        is_map = (kind, logical) == ("map", None) and isinstance(dtype.keyType, StringType)
        return is_map and _avro_matches(schema["values"], dtype.valueType)
    if isinstance(dtype, DecimalType):
        sizes = (schema.get("precision"), schema.get("scale", 0))
        return kind in ("bytes", "fixed") and logical == "decimal" and sizes == (dtype.precision, dtype.scale)
    return (kind, logical) in _AVRO_TYPES.get(dtype.typeName(), ())

"""The reader of typed files: Parquet, ORC and Avro.

A value is loaded if the file has the column's type, and rescued otherwise (AL-2.3, AL-4).
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator
from datetime import date, datetime, timezone
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

from lakeward.autoloader.conversion.arrow_cast import ColumnCast
from lakeward.autoloader.conversion.reader_cast import ReaderCast, TypeMismatchError
from lakeward.autoloader.discovery.file_names import FileNames
from lakeward.autoloader.readers.batch_builder import BatchBuilder
from lakeward.autoloader.readers.file_contents import ColumnarFile, FileContents, FileOpener
from lakeward.autoloader.readers.new_fields import NewFieldsError
from lakeward.autoloader.readers.parquet import illegal_type_error, open_parquet
from lakeward.errors import CloudFilesError

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

    from lakeward.autoloader.discovery.file_listing import FileStatus
    from lakeward.autoloader.options.option_values import Options


_JSON = msgspec.json.Encoder(decimal_format="number")


def rescued_json(value: object) -> str | None:
    """Return a value as JSON, times as ISO text with a zone (AL-4.1.3); None for nothing to rescue."""
    plain = _json_value(value)
    return None if plain is None else _JSON.encode(plain).decode()


def _json_value(value: object) -> Any:
    if isinstance(value, datetime):
        zoned = value if value.tzinfo else value.replace(tzinfo=timezone.utc)
        return zoned.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat() + "T00:00:00.000Z"
    if isinstance(value, float) and not math.isfinite(value):
        # As Spark writes them: JSON has no such numbers.
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        kept = {key: plain for key, item in value.items() if (plain := _json_value(item)) is not None}
        return kept or (None if value else {})
    if isinstance(value, (list, tuple)):
        return [_json_value(item) for item in value]
    return value


class ColumnarReader:
    """Reads the files of one task."""

    def __init__(self, builder: BatchBuilder, contents: FileContents) -> None:
        self._builder = builder
        self._contents = contents
        plan = builder.plan
        self._opened = file_opener(builder.options, nanos_as_long=plan.nanos_as_long)
        is_orc = plan.format == "orc"
        widens = is_orc or plan.mode == "addNewColumnsWithTypeWidening"
        self._cast = ColumnCast(plan.case_sensitive, widens, plan.time_zone if is_orc else None)
        self._without_rescue = None if builder.rescues else ReaderCast(plan.format, self._cast)

    def read(self, files: list[FileStatus]) -> Iterator[pa.RecordBatch]:
        """Yield record batches, file by file."""
        for status, data in self._contents.read_all(files):
            try:
                source = self._opened(data)
                self._require_legal_types(status, source)
                self._check(status, source.schema)
                for batch in source.batches:
                    yield self._batch(status, batch)
            except (ValueError, EOFError, OSError) as error:
                self._contents.skip_corrupt(status, error)

    def _require_legal_types(self, status: FileStatus, source: ColumnarFile) -> None:
        for name, type_text in source.illegal.items():
            if self._cast.match_name(name, list(self._builder.data)) is not None:
                raise illegal_type_error(name, type_text, FileNames.encode(status.key))

    def _check(self, status: FileStatus, schema: pa.Schema) -> None:
        plan, builder = self._builder.plan, self._builder
        if plan.mode in ("none", "rescue"):
            return
        known = {*builder.by_lower_name, *(name.lower() for name in plan.partitions)}
        new = [name for name in schema.names if name.lower() not in known]
        if new:
            raise NewFieldsError("NEW_FIELDS_IN_FILE", f"[{','.join(new)}]", status.key)
        if plan.mode == "addNewColumnsWithTypeWidening":
            self._check_types(status, schema)

    def _check_types(self, status: FileStatus, schema: pa.Schema) -> None:
        from pyspark.sql.pandas.types import from_arrow_type

        from lakeward.autoloader.conversion.type_merging import widen_type

        for field in schema:
            dtype = self._builder.data.get(field.name)
            if dtype is None or field.name.lower() in self._builder.plan.pinned:
                continue
            grown = widen_type(dtype, from_arrow_type(field.type))
            if grown not in (None, dtype):
                condition = "NEW_FIELDS_AND_WIDENED_TYPES_IN_FILE"
                raise NewFieldsError(condition, f"[{field.name}]", status.key, {field.name: grown})

    def _batch(self, status: FileStatus, batch: pa.RecordBatch) -> pa.RecordBatch:
        fields = [self._builder.arrow.field(name) for name in self._builder.data]
        found = dict(zip(batch.schema.names, batch.columns, strict=True))
        arrays, rest = self._cast.split_fields(found, fields, partial(self._split, status.key))
        for field in fields:
            if field.name not in arrays:
                arrays[field.name] = pa.nulls(batch.num_rows, field.type)
        surplus = {name: array for name, array in rest.items() if name not in self._builder.plan.partitions}
        rescued = self._rescue(surplus, batch.num_rows, status) if surplus and self._builder.rescues else None
        return self._builder.build(arrays, [(status, batch.num_rows)], rescued)

    def _split(self, file: str, array: pa.Array, field: pa.Field) -> tuple[pa.Array | None, pa.Array | None]:
        """Return both parts of a column; without a rescued data column, all of it is converted."""
        if self._without_rescue is None:
            return self._cast.split(array, field.type)
        try:
            return self._without_rescue.convert(array, field.type, (field.name,)), None
        except TypeMismatchError as error:
            wanted = self._builder.data[field.name].simpleString().upper()
            raise mismatched_type_error(self._builder.plan.format, error, wanted, file) from None

    def _rescue(self, surplus: dict[str, pa.Array], rows: int, status: FileStatus) -> list[str | None] | None:
        columns = {name: array.to_pylist(maps_as_pydicts="lossy") for name, array in surplus.items()}
        rescued: dict[int, dict[str, str]] = {}
        for row in range(rows):
            values = {name: rescued_json(column[row]) for name, column in columns.items()}
            kept = {name: text for name, text in values.items() if text is not None}
            if kept:
                rescued[row] = kept
        return self._builder.rescued_column_values(rescued, [(status, rows)])


def open_orc(data: bytes) -> ColumnarFile:
    """Open an ORC file."""
    from pyarrow.orc import ORCFile

    source: Any = ORCFile(pa.BufferReader(data))
    schema = pa.schema([pa.field(field.name, _spark_type(field)) for field in source.schema])
    return ColumnarFile(schema, _orc_stripes(source, schema))


def _spark_type(field: pa.Field) -> pa.DataType:
    """Return the type of a column. Spark writes TIMESTAMP_NTZ as integers, marked in the metadata."""
    said = (field.metadata or {}).get(b"spark.sql.catalyst.type")
    return pa.timestamp("us") if said == b"timestamp_ntz" and field.type == pa.int64() else field.type


def _orc_stripes(source: Any, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for number in range(source.nstripes):
        stripe = source.read_stripe(number)
        columns = [column.cast(field.type) for column, field in zip(stripe.columns, schema, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def mismatched_type_error(form: str, error: TypeMismatchError, wanted: str, file: str) -> CloudFilesError:
    """Return Spark's error for a column that its reader does not convert to the type of the schema."""
    from pyspark.sql.pandas.types import from_arrow_type

    found = from_arrow_type(error.found).simpleString().upper()
    rescue = "" if form == "orc" else "; or set rescuedDataColumn, which keeps the values that do not fit"
    advice = f"Declare it as {found} and cast it in the query{rescue}."
    column, shown = ".".join(error.path), FileNames.encode(file)
    message = f"Column {column} is {found} in {shown}, which is not read as {wanted}."
    if form == "parquet":
        return CloudFilesError(
            "FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH", message, next_step=advice
        )
    return CloudFilesError("FAILED_READ_FILE.NO_HINT", message, next_step=advice)


def file_opener(options: Options, *, nanos_as_long: bool = False) -> FileOpener:
    """Return the function that opens typed files of the format; `nanos_as_long` is of Parquet."""
    if options.format == "avro":
        from lakeward.autoloader.readers.avro import avro_opener

        return avro_opener(options.text("avroSchema"))
    if options.format == "orc":
        return open_orc
    return partial(open_parquet, nanos_as_long=nanos_as_long)


class ColumnarInference:
    """Infers the schema of files that carry their types, the wider type where files differ (AL-2.2)."""

    def __init__(self, opened: FileOpener) -> None:
        self._opened = opened
        self._columns: dict[str, DataType] = {}

    def add(self, data: bytes) -> str | None:
        """Add the content of a file. A file of another format is ignored; return why it cannot be read."""
        from pyspark.sql.pandas.types import from_arrow_type

        from lakeward.autoloader.conversion.type_merging import add_column

        try:
            source = self._opened(data)
        except (ValueError, EOFError, OSError) as error:
            return str(error)
        if source.illegal:
            raise illegal_type_error(*next(iter(source.illegal.items())))
        for field in source.schema:
            add_column(self._columns, field.name, from_arrow_type(field.type))
        return None

    def schema(self) -> StructType:
        """Return columns in file order; a column that is always null is a string."""
        from pyspark.sql.types import StructField, StructType

        from lakeward.autoloader.conversion.type_merging import to_table_type

        columns = [(name, to_table_type(dtype)) for name, dtype in self._columns.items()]
        return StructType([StructField(name, dtype) for name, dtype in columns if dtype is not None])

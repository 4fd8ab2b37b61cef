"""`from_json(text, NULL, options)` in a pipeline: columns of JSON texts with an inferred schema that evolves.

The parser, the inference, the stored versions and the modes are those of Auto Loader. The first batch with
texts has no schema: its tasks store the one that they infer, and the pipeline starts again with the columns.

Source: https://docs.databricks.com/aws/en/ldp/from-json-schema-evolution
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeward.autoloader.discovery.file_listing import FileStatus
from lakeward.autoloader.options.option_table import PREFIX
from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.options.schema_options import RESCUED_COLUMN, evolution_mode
from lakeward.errors import CloudFilesError, SqlError, UnknownFieldException

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

    from lakeward.autoloader.readers.json_reader import JsonReader
    from lakeward.autoloader.schema.json_inference import JsonInference

_KEY = "schemalocationkey"
# Options of Auto Loader that `from_json` has without the prefix.
_OWN = ("schemaHints", "schemaEvolutionMode")
_MODES = ("addNewColumns", "failOnNewColumns", "none", "rescue")
# The field of a text that is an array.
_ARRAY = "value"
_NO_FILE = FileStatus("", "", 0, 0)


def schema_location_key(options: Mapping[str, str]) -> str | None:
    """Return the key of the options of a `from_json` call that infers its schema; None for another call."""
    return next((value for name, value in options.items() if name.lower() == _KEY), None)


@dataclass(frozen=True)
class JsonColumn:
    """The result of one `from_json` call.

    Attributes:
        location: The directory of the versions of its schema.
        options: The options of the call for Auto Loader's JSON reader.
        columns: The fields of a record as Spark's schema JSON, without the rescued data column.
        is_inferred: Whether a schema is stored; otherwise the fields are those of the hints.
        only_infers: Whether texts without a schema are no error: all tasks of a batch infer it together.
        mode: The schema evolution mode.
        rescued: Name of the rescued data column, None for no column.
        time_zone: Time zone of the session.
    """

    location: str
    options: Mapping[str, str]
    columns: str
    is_inferred: bool
    mode: str
    rescued: str | None
    time_zone: str
    only_infers: bool = False

    @classmethod
    def of(
        cls, location: str, given: Mapping[str, str], time_zone: str, *, only_infers: bool = False
    ) -> JsonColumn:
        """Create the column of a call with the options `given`; raise CloudFilesError for invalid ones."""
        from pyspark.sql.types import StructType

        from lakeward.autoloader.conversion.type_merging import to_table_type
        from lakeward.autoloader.schema.schema_store import SchemaStore

        options = _reader_options(given)
        mode = evolution_mode(options, has_user_schema=False)
        if mode not in _MODES:
            raise CloudFilesError(
                "CF_INVALID_SCHEMA_EVOLUTION_MODE",
                f"schemaEvolutionMode of from_json is {mode!r}; the modes are {', '.join(_MODES)}.",
                next_step="Choose one of them.",
            )
        store = SchemaStore(location)
        stored = store.latest()
        known = stored and to_table_type(stored[0], drop_null=options.flag("dropFieldIfAllNull"))
        data = _with_hints(options, known if isinstance(known, StructType) else StructType())
        if stored is not None and stored[0] != data:
            store.add((data, StructType()))
        rescued = options.rescued_column or (None if mode == "none" else RESCUED_COLUMN)
        return cls(
            location,
            dict(options.raw),
            data.json(),
            stored is not None,
            mode,
            rescued,
            time_zone,
            only_infers,
        )

    def require_unknown(self) -> None:
        """Raise UnknownFieldException if the texts of a batch have given the column its first schema."""
        from pyspark.sql.types import StructType

        from lakeward.autoloader.schema.schema_store import SchemaStore

        stored = None if self.is_inferred else SchemaStore(self.location).latest()
        if stored is not None:
            raise self._unknown_fields(StructType(), stored[0], retry=True)

    @property
    def data(self) -> StructType:
        """Return the fields of a record without the rescued data column."""
        from pyspark.sql.types import StructType

        return StructType.fromJson(json.loads(self.columns))

    @property
    def type(self) -> StructType:
        """Return the type of the column."""
        from pyspark.sql.types import StringType, StructType

        data = self.data
        fields = [field for field in data.fields if field.name != self.rescued]
        return StructType(fields).add(self.rescued, StringType()) if self.rescued else StructType(fields)

    def parser(self) -> Any:
        """Return the function from texts to records, as a user-defined function of Spark."""
        import pyarrow as pa
        from pyspark.sql.pandas.functions import arrow_udf

        column = self

        def from_json(batches: Any) -> Any:
            return column.parse(batches)

        # arrow_udf chooses the kind of function by the types: an iterator sees all batches of a task.
        from_json.__annotations__ = {"batches": Iterator[pa.Array], "return": Iterator[pa.Array]}
        make: Any = arrow_udf
        return make(from_json, self.type)

    def parse(self, batches: Iterator[pa.Array]) -> Iterator[pa.Array]:
        """Yield the records of all texts of a task; raise UnknownFieldException for new fields."""
        reader = self._reader()
        for batch in batches:
            texts = [_record(text) for text in batch.to_pylist()]
            if not self.is_inferred or self.mode in ("addNewColumns", "failOnNewColumns"):
                self._require_known_fields(texts, batches)
            yield _records(reader, texts)

    def _reader(self) -> JsonReader:
        from lakeward.autoloader.read_plan import ReadPlan
        from lakeward.autoloader.readers.batch_builder import BatchBuilder
        from lakeward.autoloader.readers.file_contents import FileContents
        from lakeward.autoloader.readers.json_reader import JsonReader

        options = Options.of(self.options)
        corrupt = str(options.text("columnNameOfCorruptRecord"))
        plan = ReadPlan(
            token="",
            handoff_dir="",
            source="",
            source_key="",
            paths=(),
            format="json",
            columns=self.columns,
            # New fields are found before the texts are parsed.
            mode="rescue" if self.rescued else "none",
            rescued=self.rescued,
            rescue_path=False,
            corrupt=corrupt if corrupt in self.data.names else None,
            infer_types=True,
            time_zone=self.time_zone,
            options=self.options,
        )
        return JsonReader(BatchBuilder.of(plan, self.type), FileContents(options))

    def _require_known_fields(self, texts: list[bytes | None], others: Iterator[pa.Array]) -> None:
        """Raise UnknownFieldException if the texts have fields without a column, at any depth.

        In mode addNewColumns the next version has the fields of all texts of the task: `others` is consumed.
        """
        from lakeward.autoloader.schema.json_inference import JsonInference

        inference = JsonInference(Options.of(self.options))
        _infer(inference, texts)
        known, found = self.data, inference.schema()
        if not found.fields or (self.is_inferred and self._grown(found) == known):
            return
        if self.only_infers and not self.is_inferred:
            self._store(inference)
            return
        evolves = self.mode == "addNewColumns" or not self.is_inferred
        if evolves:
            for batch in others:
                _infer(inference, [_record(text) for text in batch.to_pylist()])
            self._store(inference)
        raise self._unknown_fields(known, found, retry=evolves)

    def _grown(self, found: StructType) -> StructType:
        """Return the fields with the new ones among `found`; a hint that is a whole type gets none."""
        from pyspark.sql.types import NullType, StructType

        from lakeward.autoloader.conversion.type_merging import merge_new_fields
        from lakeward.autoloader.options.schema_hints import parse_hints

        text = Options.of(self.options).text(PREFIX + "schemaHints") or ""
        pinned = {path[0].lower() for path, _ in parse_hints(text, lambda _: NullType()) if len(path) == 1}
        others = [field for field in found.fields if field.name.lower() not in pinned]
        return merge_new_fields(self.data, StructType(others))

    def _store(self, inference: JsonInference) -> None:
        """Add the next version of the schema; another task may have added one meanwhile.

        A worker has no parser of types: hints are applied where the column is created.
        """
        from pyspark.sql.types import StructType

        from lakeward.autoloader.conversion.type_merging import merge_new_fields, merge_types
        from lakeward.autoloader.schema.schema_store import SchemaStore

        store = SchemaStore(self.location)
        while True:
            stored = store.latest()
            if stored is None:
                grown: Any = inference.types()
            elif self.is_inferred:
                grown = merge_new_fields(stored[0], inference.schema())
            else:
                grown = merge_types(stored[0], inference.types())
            if (stored is not None and grown == stored[0]) or store.add((grown, StructType())):
                return

    def _unknown_fields(self, known: StructType, found: StructType, *, retry: bool) -> UnknownFieldException:
        names = {name.lower() for name in known.names}
        new = [name for name in found.names if name.lower() not in names] or found.names
        key = self.options[_KEY]
        return UnknownFieldException(
            "UNKNOWN_FIELD_EXCEPTION.NEW_FIELDS_IN_RECORD",
            f"Encountered unknown fields during parsing: {', '.join(new)} in the JSON texts of the "
            f"schemaLocationKey {key}, which can be fixed by an automatic retry: {str(retry).lower()}.",
            next_step="The next update has the fields."
            if retry
            else "Add the fields to schemaHints, or use a mode that adds or rescues them.",
        )


def _reader_options(given: Mapping[str, str]) -> Options:
    """Return the options of a call as those of Auto Loader's JSON reader: one text is one record."""
    options = Options.of(given).raw
    own = {PREFIX + key: options[key.lower()] for key in _OWN if key.lower() in options}
    types = {PREFIX + "format": "json", PREFIX + "inferColumnTypes": "true", "multiLine": "true"}
    reader = Options.of({**options, **types, **own})
    mode = str(reader.text("mode")).upper()
    if mode not in ("PERMISSIVE", "FAILFAST"):
        # A function returns a value for each row.
        raise SqlError(
            "PARSE_MODE_UNSUPPORTED",
            f"The function `from_json` doesn't support the {mode} mode. "
            "Acceptable modes are PERMISSIVE and FAILFAST.",
            sql_state="42601",
            parameters={"funcName": "`from_json`", "mode": mode},
        )
    return reader


def _with_hints(options: Options, data: StructType) -> StructType:
    """Apply `schemaHints`; `element.…` is the element of a text that is an array."""
    from pyspark.sql.types import ArrayType, StructType

    from lakeward.autoloader.options.schema_hints import apply_hints, parse_hints
    from lakeward.autoloader.schema.schema_resolution import parse_hint_type

    hints = parse_hints(options.text(PREFIX + "schemaHints") or "", parse_hint_type)
    arrays = [((_ARRAY, *path), dtype) for path, dtype in hints if path[0] == "element"]
    others = [hint for hint in hints if hint[0][0] != "element"]
    if not arrays or (data.fields and not _is_array(data)):
        return apply_hints(data, hints)
    if not data.fields:
        data = StructType().add(_ARRAY, ArrayType(StructType()))
    return apply_hints(data, [*arrays, *others])


def _is_array(data: StructType) -> bool:
    from pyspark.sql.types import ArrayType

    return _ARRAY in data.names and isinstance(data[_ARRAY].dataType, ArrayType)


def _record(text: str | None) -> bytes | None:
    """Return a text as one JSON object, an array as its field; None for blank texts, which are no records."""
    data = (text or "").strip().encode()
    return b'{"%s":%s}' % (_ARRAY.encode(), data) if data.startswith(b"[") else data or None


def _infer(inference: JsonInference, texts: list[bytes | None]) -> None:
    for text in texts:
        if text is not None:
            inference.add(text)


def _records(reader: JsonReader, texts: list[bytes | None]) -> pa.Array:
    """Return a record for each text, null for blank ones."""
    import pyarrow as pa

    rows = reader.read_values(_NO_FILE, [text for text in texts if text is not None])
    struct = pa.StructArray.from_arrays(rows.columns, fields=list(rows.schema))
    if len(struct) == len(texts):
        return struct
    numbers = iter(range(len(struct)))
    return struct.take(pa.array([None if text is None else next(numbers) for text in texts], pa.int64()))

"""Builds record batches: data, partition, rescued, corrupt-record and metadata columns."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timezone
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

import pyarrow as pa

from lakeward.autoloader.discovery.file_listing import partition_value
from lakeward.autoloader.discovery.file_names import FileNames
from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.read_plan import METADATA, ReadPlan, encode_file_metadata

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

    from lakeward.autoloader.discovery.file_listing import FileStatus

to_json = json.JSONEncoder(ensure_ascii=False).encode
"""A value as JSON."""


def join_json_object(members: Iterable[tuple[str, str]]) -> str:
    """Return a JSON object of names and JSON texts of their values; numbers keep their spelling.

    >>> join_json_object([("a", "1.50"), ('"b"', "[2]")])
    '{"a":1.50,"\\\\"b\\\\"":[2]}'
    """
    return "{" + ",".join([f"{to_json(name)}:{text}" for name, text in members]) + "}"


FileSpan = tuple["FileStatus", int]
"""A file and its number of rows in the batch."""


class FileSpans:
    """The files of a batch, in the order of its rows."""

    def __init__(self, files: Sequence[FileSpan]) -> None:
        self._files = files
        self._ends = list(accumulate(count for _, count in files))

    @property
    def rows(self) -> int:
        """Return the number of rows of the batch."""
        return self._ends[-1] if self._ends else 0

    def file_at(self, row: int) -> FileStatus:
        """Return the file of a row; raise IndexError beyond the last."""
        return self._files[bisect_right(self._ends, row)][0]


@dataclass(frozen=True)
class BatchBuilder:
    """Builds the output of a stream from the values of its data columns."""

    plan: ReadPlan
    schema: StructType
    arrow: pa.Schema

    @classmethod
    def of(cls, plan: ReadPlan, schema: StructType) -> BatchBuilder:
        """Create a builder for the schema that Spark expects of the reader."""
        from pyspark.sql.pandas.types import to_arrow_schema

        return cls(plan, schema, to_arrow_schema(schema, timezone="UTC"))

    @cached_property
    def options(self) -> Options:
        """Return the user's options."""
        return self.plan.user_options

    @cached_property
    def data(self) -> dict[str, DataType]:
        """Return the data columns, which come from the records, in order."""
        special = {self.plan.rescued, self.plan.corrupt, *self.plan.partitions}
        return {f.name: f.dataType for f in self.plan.data_schema().fields if f.name not in special}

    @cached_property
    def by_lower_name(self) -> dict[str, str]:
        """Data columns by lower-case name."""
        return {name.lower(): name for name in self.data}

    @property
    def rescues(self) -> bool:
        """Return whether there is a rescued data column."""
        return self.plan.rescued is not None

    def rescued_column_values(
        self, rescued: Mapping[int, Mapping[str, str]], files: Sequence[FileSpan]
    ) -> list[str | None] | None:
        """Return the rescued data column from JSON texts by row and field; None if all null."""
        if not rescued:
            return None
        spans = FileSpans(files)
        texts: list[str | None] = [None] * spans.rows
        # Members that the schema lacks often have one value.
        known: dict[tuple[object, ...], str] = {}
        for row, values in rescued.items():
            key = spans.file_at(row).key
            same = (key, *values.items())
            if same not in known:
                known[same] = self._rescued_text(values, key)
            texts[row] = known[same]
        return texts

    def _rescued_text(self, values: Mapping[str, str], key: str) -> str:
        """Return one JSON object with the file path last (AL-4.1)."""
        members = [*values.items()]
        if self.plan.rescue_path:
            members.append(("_file_path", to_json(FileNames.encode(key))))
        return join_json_object(members)

    def build(
        self,
        data: dict[str, pa.Array],
        files: Sequence[FileSpan],
        rescued: Sequence[str | None] | None = None,
        corrupt: Sequence[str | None] | None = None,
        kept: Sequence[bool] | None = None,
    ) -> pa.RecordBatch:
        """Build a record batch.

        Args:
            data: Data columns by name.
            files: Number of rows per file, in order.
            rescued: The rescued data column, None if all null.
            corrupt: The corrupt-record column, None if all null.
            kept: Whether each row is returned, None for all.
        """
        rows = sum(count for _, count in files)
        arrays = []
        for column in self.arrow:
            if column.name in (self.plan.rescued, self.plan.corrupt):
                texts = rescued if column.name == self.plan.rescued else corrupt
                array = pa.nulls(rows, pa.string()) if texts is None else pa.array(texts, pa.string())
            elif column.name in self.plan.partitions:
                array = self._repeat_by_file(self.partition_values(column.name, files), files)
            elif column.name in data:
                array = data[column.name]
            elif column.name == METADATA:
                array = pa.nulls(rows, column.type)
                if self.plan.metadata:
                    facts = [encode_file_metadata(status) for status, _ in files]
                    array = self._repeat_by_file(pa.array(facts, column.type), files)
            else:
                array = pa.nulls(rows, column.type)
            arrays.append(array)
        batch = pa.RecordBatch.from_arrays(arrays, schema=self.arrow)
        return batch if kept is None else batch.filter(pa.array(kept))

    def partition_values(self, name: str, files: Sequence[FileSpan]) -> pa.Array:
        """Return the value of a partition column for each file. Options of the format do not apply."""
        root = self.plan.source_key
        texts = [partition_value(status.key[len(root) :], name) for status, _ in files]
        from lakeward.autoloader.conversion.date_patterns import parse_zone
        from lakeward.autoloader.conversion.text_columns import parse_column
        from lakeward.autoloader.conversion.text_formats import TextFormats

        dtype, arrow_type = self.schema[name].dataType, self.arrow.field(name).type
        formats = TextFormats(parse_zone(self.plan.time_zone) or timezone.utc)
        return parse_column(texts, dtype, arrow_type, formats)[0]

    @staticmethod
    def _repeat_by_file(values: pa.Array, files: Sequence[FileSpan]) -> pa.Array:
        return values.take(_file_indices(files))


def _file_indices(files: Sequence[FileSpan]) -> pa.Array:
    import numpy as np

    return pa.array(np.repeat(np.arange(len(files)), [count for _, count in files]))

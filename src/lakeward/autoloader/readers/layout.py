"""Where everything goes in a record batch: data, partition, rescued, corrupt-record and metadata columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from lakeward.autoloader.discovery import Names, partition_values
from lakeward.autoloader.hidden import described
from lakeward.autoloader.options import Options
from lakeward.autoloader.plan import METADATA, ReadPlan
from lakeward.autoloader.readers.json_texts import json_text, object_text
from lakeward.autoloader.readers.spans import Span, Spans

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

__all__ = ["Layout"]


@dataclass(frozen=True)
class Layout:
    """The output of one stream, for a reader that knows only the values of its data columns."""

    plan: ReadPlan
    schema: StructType
    arrow: pa.Schema

    @classmethod
    def of(cls, plan: ReadPlan, schema: StructType) -> Layout:
        """The layout of the schema that Spark expects of the reader."""
        from pyspark.sql.pandas.types import to_arrow_schema

        return cls(plan, schema, to_arrow_schema(schema, timezone="UTC"))

    @cached_property
    def options(self) -> Options:
        """The user's options."""
        return self.plan.set_options

    @cached_property
    def data(self) -> dict[str, DataType]:
        """Columns that come out of the records themselves, in order."""
        special = {self.plan.rescued, self.plan.corrupt, *self.plan.partitions}
        return {f.name: f.dataType for f in self.plan.data_schema().fields if f.name not in special}

    @cached_property
    def by_lower_name(self) -> dict[str, str]:
        """Data columns by their name in lower case."""
        return {name.lower(): name for name in self.data}

    @property
    def rescues(self) -> bool:
        """Whether values without a place are kept."""
        return self.plan.rescued is not None

    def rescued_texts(
        self, found: Mapping[int, Mapping[str, str]], files: Sequence[Span]
    ) -> list[str | None] | None:
        """The rescued column of a batch, of JSON texts by field name by row; None where nothing was found."""
        if not found:
            return None
        spans = Spans(files)
        texts: list[str | None] = [None] * spans.rows
        for row, values in found.items():
            texts[row] = self._rescued_text(values, spans.file_of(row).key)
        return texts

    def _rescued_text(self, values: Mapping[str, str], key: str) -> str:
        """§4.1: one object, the file last."""
        members = [*values.items()]
        if self.plan.rescue_path:
            members.append(("_file_path", json_text(Names.shown(key))))
        return object_text(members)

    def batch(
        self,
        data: dict[str, pa.Array],
        files: Sequence[Span],
        rescued: Sequence[str | None] | None,
        corrupt: Sequence[str | None] | None,
    ) -> pa.RecordBatch:
        """A record batch; `files` says how many rows each file has, in order."""
        rows = sum(count for _, count in files)
        arrays = []
        for column in self.arrow:
            if column.name == self.plan.rescued:
                array = pa.nulls(rows, pa.string()) if rescued is None else pa.array(rescued, pa.string())
            elif column.name == self.plan.corrupt:
                array = pa.nulls(rows, pa.string()) if corrupt is None else pa.array(corrupt, pa.string())
            elif column.name in self.plan.partitions:
                array = self._repeated(self._partition(column.name, column.type, files), files)
            elif column.name in data:
                array = data[column.name]
            elif column.name == METADATA:
                array = pa.nulls(rows, column.type)
                if self.plan.metadata:
                    texts = [described(status) for status, _ in files]
                    array = self._repeated(pa.array(texts, column.type), files)
            else:
                array = pa.nulls(rows, column.type)
            arrays.append(array)
        return pa.RecordBatch.from_arrays(arrays, schema=self.arrow)

    def _partition(self, name: str, arrow_type: pa.DataType, files: Sequence[Span]) -> pa.Array:
        root = self.plan.shown_source
        texts = [partition_values(status.key[len(root) :]).get(name) for status, _ in files]
        from lakeward.autoloader.readers.convert import Formats, from_texts

        dtype = self.schema[name].dataType
        return from_texts(texts, dtype, arrow_type, Formats.of(self.options, self.plan.time_zone))[0]

    @staticmethod
    def _repeated(values: pa.Array, files: Sequence[Span]) -> pa.Array:
        return values.take(_indices(files))


def _indices(files: Sequence[Span]) -> pa.Array:
    import numpy as np

    return pa.array(np.repeat(np.arange(len(files)), [count for _, count in files]))

"""A batch with new fields: store the next schema version, then stop the stream once (auto-loader.md §3)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pyspark.sql.types import DataType, StructField, StructType

from lakeward.autoloader.discovery import FileStatus, Names
from lakeward.autoloader.plan import ReadPlan
from lakeward.autoloader.readers.drift import NewFields
from lakeward.autoloader.schema.merge import appended, widened
from lakeward.autoloader.schema.sampling import infer_files
from lakeward.autoloader.schema.store import SchemaStore
from lakeward.autoloader.state import StateLog
from lakeward.errors import UnknownFieldException

__all__ = ["evolve"]


def evolve(plan: ReadPlan, found: NewFields, batch: tuple[str, int, int]) -> UnknownFieldException:
    """Learn from the whole micro-batch, once, and give the error that stops it.

    `batch` is (state folder, from, to): all its files count, not the failing task's alone, so that one
    restart is enough.
    """
    if plan.evolves and plan.schema_location is not None:
        folder, after, last = batch
        entries = StateLog(Path(folder)).between(after, last)
        names = plan.names
        files = [FileStatus(e.key, names.local(e.key), e.size, e.mtime) for e in entries]
        batch_schema = infer_files(files, plan.set_options)
        _store(plan, SchemaStore(plan.schema_location), batch_schema, found.types)
    return _stopped(plan, found)


def _store(plan: ReadPlan, store: SchemaStore, batch: StructType, types: Mapping[str, DataType]) -> None:
    while True:
        stored = store.latest()
        if stored is None:
            data, partitions = plan.data_schema(), StructType()
        else:
            data, partitions = stored
        fresh = StructType([field for field in batch.fields if field.name not in partitions.names])
        grown = _widened(plan, appended(data, fresh, widen=False), fresh, types)
        if (stored is not None and grown == data) or store.add((grown, partitions)):
            return


def _widened(
    plan: ReadPlan, data: StructType, fresh: StructType, types: Mapping[str, DataType]
) -> StructType:
    """Columns widened by what the batch holds throughout, and by the value that stopped the stream.

    The batch may hold words in the same column too; they are rescued, and must not hide the wider numbers.
    """
    if plan.mode != "addNewColumnsWithTypeWidening":
        return data
    fields = []
    for field in data.fields:
        dtype = field.dataType
        candidates = [f.dataType for f in fresh.fields if f.name == field.name]
        for found in [*candidates, *(types[n] for n in types if n == field.name)]:
            if field.name.lower() not in plan.pinned:
                dtype = widened(dtype, found) or dtype
        fields.append(StructField(field.name, dtype, field.nullable))
    return StructType(fields)


def _stopped(plan: ReadPlan, found: NewFields) -> UnknownFieldException:
    retry = "true" if plan.evolves else "false"
    if plan.evolves:
        advice = "Restart the stream: it continues with the same files and the new schema."
    else:
        advice = "Add the fields to the schema (schemaHints), or choose a mode that takes them."
    return UnknownFieldException(
        f"UNKNOWN_FIELD_EXCEPTION.{found.condition}",
        f"Encountered unknown fields during parsing: {found.detail}, which can be fixed by an automatic "
        f"retry: {retry} (org.apache.spark.sql.catalyst.util.UnknownFieldException; "
        f"file {Names.shown(found.path)}).",
        next_step=advice,
    )

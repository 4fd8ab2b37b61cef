"""Schema evolution: store the next schema version, then fail the stream once (AL-3)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pyspark.sql.types import DataType, StructField, StructType

from lakeward.autoloader.conversion.type_merging import merge_new_fields, widen_type
from lakeward.autoloader.discovery.file_listing import FileStatus
from lakeward.autoloader.discovery.file_names import FileNames
from lakeward.autoloader.read_plan import ReadPlan
from lakeward.autoloader.readers.new_fields import NewFieldsError
from lakeward.autoloader.schema.schema_inference import infer_schema
from lakeward.autoloader.schema.schema_store import SchemaStore
from lakeward.autoloader.state.state_log import StateLog
from lakeward.errors import UnknownFieldException


def evolve_schema(
    plan: ReadPlan, drift: NewFieldsError, batch: tuple[str, int, int]
) -> UnknownFieldException:
    """Store the schema of the whole micro-batch and return the error that fails the stream.

    `batch` is (state directory, from, to). All its files are inferred, not only those of the failing task, so
    that one restart is enough.
    """
    if plan.evolves and plan.schema_location is not None:
        folder, after, last = batch
        entries = StateLog(Path(folder)).between(after, last)
        names = plan.names
        files = [FileStatus(e.key, names.local(e.key), e.size, e.mtime) for e in entries]
        batch_schema = infer_schema(files, plan.user_options, nanos_as_long=plan.nanos_as_long)
        _store_next_version(plan, SchemaStore(plan.schema_location), batch_schema, drift.types)
    return _unknown_field_error(plan, drift)


def _store_next_version(
    plan: ReadPlan, store: SchemaStore, batch: StructType, types: Mapping[str, DataType]
) -> None:
    while True:
        stored = store.latest()
        if stored is None:
            data, partitions = plan.data_schema(), StructType()
        else:
            data, partitions = stored
        fresh = StructType([field for field in batch.fields if field.name not in partitions.names])
        grown = _widen_columns(plan, merge_new_fields(data, fresh), fresh, types)
        if (stored is not None and grown == data) or store.add((grown, partitions)):
            return


def _widen_columns(
    plan: ReadPlan, data: StructType, fresh: StructType, types: Mapping[str, DataType]
) -> StructType:
    """Widen columns to the types of the batch and of the value that failed the stream.

    The batch may have text in the same column, which is rescued and must not hide the wider numbers.
    """
    if plan.mode != "addNewColumnsWithTypeWidening":
        return data
    fields = []
    for field in data.fields:
        dtype = field.dataType
        candidates = [f.dataType for f in fresh.fields if f.name == field.name]
        for candidate in [*candidates, *(types[n] for n in types if n == field.name)]:
            if field.name.lower() not in plan.pinned:
                dtype = widen_type(dtype, candidate) or dtype
        fields.append(StructField(field.name, dtype, field.nullable))
    return StructType(fields)


def _unknown_field_error(plan: ReadPlan, drift: NewFieldsError) -> UnknownFieldException:
    retry = "true" if plan.evolves else "false"
    if plan.evolves:
        advice = "Restart the stream; it processes the same files with the new schema."
    else:
        advice = "Add the fields to the schema (schemaHints), or use a mode that adds or rescues them."
    return UnknownFieldException(
        f"UNKNOWN_FIELD_EXCEPTION.{drift.condition}",
        f"Encountered unknown fields during parsing: {drift.detail}, which can be fixed by an automatic "
        f"retry: {retry} (org.apache.spark.sql.catalyst.util.UnknownFieldException; "
        f"file {FileNames.encode(drift.path)}).",
        next_step=advice,
    )

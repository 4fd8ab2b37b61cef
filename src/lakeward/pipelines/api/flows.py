"""Functions that declare flows separately from their target, and reads by name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from lakeward.errors import PipelineError
from lakeward.pipelines.api.registry import GraphRegistry
from lakeward.pipelines.api.signatures import (
    Arguments,
    Decorator,
    UserFunction,
    api_function,
    calling_location,
    decorate_function,
    function_name,
    is_unit_test,
    read_unit_test_table,
    replace_spec,
)
from lakeward.pipelines.autocdc.cdc_schema import DELETED_COLUMN, VERSION_COLUMN
from lakeward.pipelines.graph.elements import ChangeArgs, Flow, OutputMode, SourceCodeLocation
from lakeward.pipelines.graph.session_scope import active_reader, read_table, read_table_once

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Bitemporal tables contain type 2 histories.
_SCD_TYPES: dict[str, Literal[1, 2]] = {"1": 1, "2": 2, "bitemporal": 2}
_EXCLUSIVE_LISTS = (
    ("column_list", "except_column_list"),
    ("track_history_column_list", "track_history_except_column_list"),
    ("ignore_null_updates_column_list", "ignore_null_updates_except_column_list"),
)

_LISTS = tuple(name for pair in _EXCLUSIVE_LISTS for name in pair)


def parse_change_args(given: Mapping[str, Any]) -> ChangeArgs:
    """Parse the arguments of an AUTO CDC call; missing ones are None.

    Raises PipelineError for contradictory arguments.
    """
    values: dict[str, Any] = defaultdict(lambda: None, given)
    for name in _LISTS:
        # Frameworks pass the lists that their user leaves out as empty ones.
        values[name] = _as_tuple(values[name]) or None
    _check_given(values)
    change_args = ChangeArgs(
        keys=_as_tuple(values["keys"]),
        sequence_by=values["sequence_by"],
        scd_type=_SCD_TYPES[str(values["stored_as_scd_type"]).lower()],
        deletes=values["apply_as_deletes"],
        truncates=values["apply_as_truncates"],
        columns=values["column_list"],
        except_columns=values["except_column_list"],
        tracked=values["track_history_column_list"],
        untracked=values["track_history_except_column_list"],
        ignore_null=bool(values["ignore_null_updates"])
        or values["ignore_null_updates_column_list"] is not None
        or values["ignore_null_updates_except_column_list"] is not None,
        ignore_null_columns=values["ignore_null_updates_column_list"],
        ignore_null_except=values["ignore_null_updates_except_column_list"],
        columns_to_update=values["columns_to_update"],
        system_sequence_by=values["system_sequence_by"],
    )
    _check_change_args(change_args)
    return change_args


def _check_given(values: Mapping[str, Any]) -> None:
    given = values["sequence_by"]
    if given is None or (isinstance(given, str) and not given.strip()):
        raise PipelineError(
            "AUTOCDC_MISSING_SEQUENCE_BY",
            f"AUTO CDC was given sequence_by={given!r}.",
            next_step='Name the column that orders the changes of a key: sequence_by="updated_at".',
        )
    if not _as_tuple(values["keys"]):
        raise PipelineError(
            "AUTOCDC_EMPTY_KEYS",
            "AUTO CDC needs at least one key.",
            next_step='Name the columns that identify a row: keys=["id"].',
        )
    scd_type = str(values["stored_as_scd_type"]).lower()
    if scd_type not in _SCD_TYPES:
        raise PipelineError(
            "INVALID_SCD_TYPE",
            f"stored_as_scd_type={values['stored_as_scd_type']!r} is invalid.",
            next_step='Use 1, 2 or "bitemporal".',
        )
    if (scd_type == "bitemporal") is not (values["system_sequence_by"] is not None):
        raise PipelineError(
            "INVALID_AUTO_CDC_ARGUMENTS",
            f"stored_as_scd_type={values['stored_as_scd_type']!r} was given "
            f"{'without' if scd_type == 'bitemporal' else 'with'} system_sequence_by.",
            next_step='Bitemporal tables need both: stored_as_scd_type="bitemporal", system_sequence_by="…".',
        )
    for one, other in _EXCLUSIVE_LISTS:
        if values[one] is not None and values[other] is not None:
            raise PipelineError(
                "AUTOCDC_BOTH_COLUMN_LIST_AND_EXCEPT_COLUMN_LIST", f"Give {one} or {other}, not both."
            )


def _check_change_args(change_args: ChangeArgs) -> None:
    tracks = change_args.tracked is not None or change_args.untracked is not None
    wrong = {
        "apply_as_truncates is for SCD type 1": change_args.truncates is not None
        and change_args.scd_type == 2,
        "track_history lists are for SCD type 2": tracks and change_args.scd_type == 1,
        "columns_to_update is not for bitemporal tables": change_args.bitemporal
        and change_args.columns_to_update is not None,
        "columns_to_update and ignore_null_updates exclude each other": change_args.ignore_null
        and change_args.columns_to_update is not None,
    }
    for what, holds in wrong.items():
        if holds:
            raise PipelineError("INVALID_AUTO_CDC_ARGUMENTS", f"{what}.")


def _as_tuple(given: object) -> tuple[Any, ...]:
    if given is None:
        return ()
    return tuple(given) if isinstance(given, list | tuple) else (given,)


@api_function
def append_flow(registry: GraphRegistry, values: Arguments) -> Decorator:
    """Declare a query whose new records are appended to the streaming table or sink `target` (SDP-4.5)."""
    return _flow_decorator(registry, "append_flow", "append", values)


@api_function
def update_flow(registry: GraphRegistry, values: Arguments) -> Decorator:
    """Declare a query whose changed records are written to the sink `target` (SDP-4.4)."""
    return _flow_decorator(registry, "update_flow", "update", values)


@api_function
def replace_flow(registry: GraphRegistry, values: Arguments) -> Decorator:
    """Declare a stream of partial snapshots: its rows replace those of `target` with the same keys."""
    return _flow_decorator(registry, "replace_flow", "append", values)


def _flow_decorator(
    registry: GraphRegistry, decorator: str, mode: OutputMode, values: Arguments
) -> Decorator:
    target, name, depends_on = values["target"], values["name"], values.get("depends_on")
    settings, once = values["spark_conf"], bool(values.get("once"))
    replaces = replace_spec(decorator, values) if "replace_using" in values else None
    waits = (depends_on,) if isinstance(depends_on, str) else tuple(depends_on or ())

    def decorate(function: UserFunction) -> UserFunction:
        callable_, pending = decorate_function(function, decorator, fresh=True)
        label = name or function_name(function, decorator)
        if pending.expectations:
            raise PipelineError(
                "EXPECTATION_ON_FLOW",
                f"{pending.location}: the flow `{label}` has expectations, "
                "which are allowed on its target only.",
                next_step=f'Declare them there: dp.create_streaming_table("{target}", expect_all={{…}}).',
            )
        pending.dataset_name = label
        key = registry.key(target, short=False)
        registry.flows.append(
            Flow(label, key, callable_, pending.location, once, settings, waits, mode=mode, replaces=replaces)
        )
        return callable_

    return decorate


@api_function
def create_auto_cdc_flow(registry: GraphRegistry, values: Arguments) -> None:
    """Declare that the change feed `source` is applied to the streaming table `target` (SDP-3)."""
    target, source, once = values["target"], values["source"], bool(values["once"])
    location = calling_location()
    if source is None or source == "":
        raise PipelineError(
            "AUTOCDC_MISSING_SOURCE",
            f"{location}: create_auto_cdc_flow was given source={source!r}.",
            next_step="Name the table or view that has the changes.",
        )
    for what, name in (("target", target), ("source", source)):
        if not isinstance(name, str):
            raise TypeError(f"create_auto_cdc_flow({what}=…) takes a name, not {type(name).__name__}")
    change_args = _change_args(values, location)
    label, where = values["name"] or values["flow_name"] or target, values["where"]
    if where is not None:
        registry.warn(
            f"where of {label}",
            f"{location}: rows of `{source}` that do not satisfy where=… are skipped. The platform "
            "documents `where` as an optimization: there, a row that does not satisfy it fails the update.",
        )

    def feed() -> Any:
        rows = read_table_once(source) if once else read_table(source, stream=True)
        return rows if where is None else rows.where(where)

    registry.flows.append(
        Flow(
            label,
            registry.key(target, short=False),
            feed,
            location,
            once,
            values["spark_conf"],
            change_args=change_args,
        )
    )


@api_function
def create_auto_cdc_from_snapshot_flow(registry: GraphRegistry, values: Arguments) -> None:
    """Declare that differences between snapshots are applied to the streaming table `target` (SDP-3.5)."""
    what, target, location = "create_auto_cdc_from_snapshot_flow", values["target"], calling_location()
    source = values["source"] if values["source"] is not None else values["snapshot_and_version"]
    if not isinstance(target, str):
        raise TypeError(f"{what}(target=…) takes a name, not {type(target).__name__}")
    if not (isinstance(source, str | tuple) or callable(source)):
        raise TypeError(
            f"{what}(source=…) takes a table's name, a function or (DataFrame, version), "
            f"not {type(source).__name__}"
        )
    feed = {"sequence_by": VERSION_COLUMN, "apply_as_deletes": DELETED_COLUMN}
    registry.flows.append(
        Flow(
            values["name"] or target,
            registry.key(target, short=False),
            lambda: None,
            location,
            bool(values["once"]),
            values["spark_conf"],
            change_args=_change_args({**values, **feed}, location),
            snapshot_source=source,
        )
    )


def _change_args(values: Arguments, location: SourceCodeLocation) -> ChangeArgs:
    try:
        return parse_change_args(values)
    except PipelineError as error:
        raise PipelineError.at(location, error) from None


def read(name: str) -> DataFrame:
    """Read the dataset `name` of this pipeline as a batch."""
    return _read_dataset(name, stream=False)


def read_stream(name: str) -> DataFrame:
    """Read the dataset `name` of this pipeline as a stream."""
    return _read_dataset(name, stream=True)


def _read_dataset(name: str, *, stream: bool) -> DataFrame:
    reader = active_reader()
    if reader is None and is_unit_test():
        return read_unit_test_table(name, stream=stream)
    if reader is None:
        raise PipelineError(
            "READ_OUTSIDE_OF_DATASET_FUNCTION",
            f"The dataset `{name}` was read outside of a dataset function, while the files are executed.",
            next_step="Read datasets of the pipeline inside dataset functions.",
        )
    found = reader.read(name, stream=stream, strict=True)
    return reader.open(found, stream=stream) if isinstance(found, str) else found

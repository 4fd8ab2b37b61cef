"""Every function of the pipeline API with its parameters, their support and the conversion of their values.

This table is the single source: functions bind, convert, warn and refuse by it, the modules that user files
import take their names from it, and `lakeward check` and the documentation read it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, get_args

from lakeward.errors import PipelineError
from lakeward.pipelines.graph.elements import RefreshPolicy

MODULES = ("pyspark.pipelines", "dlt")
"""The modules that serve the API; both have the same objects (SDP-1.2)."""
TEST_MODULE = "pyspark.pipelines.testing"
"""The module of unit tests of pipelines, which `lakeward test` serves."""
Verdict = Literal["supported", "accepted", "refused"]
Role = Literal["query", "target", "flow", "rule", "read", "other"]


@dataclass(frozen=True)
class Parameter:
    """One parameter. `verdict`: supported; accepted (no effect here, one warning); refused.

    `note` explains the verdict. A refused parameter may be passed with its `default`. `convert` returns the
    value that the function gets, None included; it takes the call, as `table(path=…)`, for its errors.
    """

    name: str
    default: Any = None
    verdict: Verdict = "supported"
    note: str = ""
    required: bool = False
    convert: Callable[[str, Any], Any] = lambda _call, given: given

    def is_given(self, value: object) -> bool:
        """Return whether `value` requests something: None, False and the default (in any case) do not."""
        if value is None or value is False:
            return False
        if isinstance(value, str) and isinstance(self.default, str):
            return value.lower() != self.default.lower()
        return bool(value != self.default)


@dataclass(frozen=True)
class Function:
    """One function or decorator. The first `positional` parameters may be passed by position.

    `role`: declares a dataset with its query (`query`) or without one (`target`), a flow, or expectations
    (`rule`), or reads a dataset by name.
    """

    name: str
    parameters: tuple[Parameter, ...] = ()
    positional: int = 0
    aliases: tuple[str, ...] = ()
    role: Role = "other"

    @property
    def names(self) -> tuple[str, ...]:
        """Return the name and the older ones."""
        return (self.name, *self.aliases)

    def parameter(self, name: str) -> Parameter | None:
        """Return the parameter called `name`, None for an unknown one."""
        return next((parameter for parameter in self.parameters if parameter.name == name), None)

    def signature(self) -> inspect.Signature:
        """Return the parameters as a Python signature."""
        kinds = inspect.Parameter
        return inspect.Signature(
            [
                kinds(
                    parameter.name,
                    kinds.POSITIONAL_OR_KEYWORD if index < self.positional else kinds.KEYWORD_ONLY,
                    default=kinds.empty if parameter.required else parameter.default,
                )
                for index, parameter in enumerate(self.parameters)
            ]
        )


def to_strings(call: str, given: object) -> dict[str, str]:
    """Convert a dictionary to strings; Booleans as Spark reads them. Raises TypeError."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(f"{call} takes a dict, not {type(given).__name__}")
    return {
        str(key): str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in given.items()
    }


def _to_path(_call: str, given: object) -> str | None:
    return None if given is None else str(given)


def _to_columns(call: str, given: Any) -> tuple[str, ...]:
    """Return the names of columns, of which one may be given alone. Raises TypeError."""
    if given is None:
        return ()
    columns = (given,) if isinstance(given, str) else tuple(given)
    for column in columns:
        if not isinstance(column, str):
            raise TypeError(f"{call} takes column names, not {type(column).__name__}")
    return columns


_ROW_FILTER = re.compile(r"\s*(WITH\s+)?ROW\s+FILTER\b", re.IGNORECASE)


def _to_row_filter(call: str, given: object) -> str | None:
    """Strip `[WITH] ROW FILTER` from a row filter. Raises TypeError."""
    if given is None:
        return None
    if not isinstance(given, str):
        raise TypeError(f"{call} takes a str, not {type(given).__name__}")
    return _ROW_FILTER.sub("", given).strip()


def _to_refresh_policy(call: str, given: object) -> RefreshPolicy:
    """Return the refresh policy, in any case and with blanks for underscores. Raises PipelineError."""
    policy = "auto" if given is None else "_".join(str(given).lower().split())
    for known in get_args(RefreshPolicy):
        if policy == known:
            return known  # type: ignore[no-any-return]  # one of the literals
    raise PipelineError(
        "INVALID_REFRESH_POLICY",
        f"{call} was given {given!r}.",
        next_step="Choose auto, incremental, incremental_strict or full.",
    )


_QUERY = Parameter("query_function")
_NAME = Parameter("name")
_COMMENT = Parameter("comment")
_CONF = Parameter("spark_conf", convert=to_strings)
_EXPECT_ALL = tuple(Parameter(name) for name in ("expect_all", "expect_all_or_drop", "expect_all_or_fail"))
_STORAGE = (
    Parameter("table_properties", convert=to_strings),
    Parameter("path", convert=_to_path),
    Parameter("partition_cols", convert=_to_columns),
    Parameter(
        "cluster_by_auto",
        False,
        "accepted",
        "clustering columns are never chosen by themselves; name them with cluster_by",
    ),
    Parameter("cluster_by", convert=_to_columns),
    Parameter("schema"),
    Parameter("row_filter", convert=_to_row_filter),
    Parameter("private"),
    Parameter("format", "delta", "refused", "datasets are Delta tables; leave format out"),
)
_TEMPORARY = Parameter("temporary", note="an older spelling of private")
_REPLACE_USING = Parameter("replace_using", convert=_to_columns)
_REPLACE = (_REPLACE_USING, Parameter("sequence_by"), Parameter("replace_where"))
_TABLE = (_QUERY, _NAME, _COMMENT, _CONF, *_STORAGE, _TEMPORARY, *_REPLACE)
_STREAMING_TABLE = (
    Parameter("name", required=True),
    _COMMENT,
    replace(_CONF, verdict="accepted", note="settings are the flows'; give them to append_flow"),
    *(parameter for parameter in _STORAGE if parameter.name in ("table_properties", "path")),
    *(parameter for parameter in _STORAGE if parameter.name in ("partition_cols", "schema")),
    *_EXPECT_ALL,
    *(parameter for parameter in _STORAGE if parameter.name in ("cluster_by", "row_filter")),
    *(parameter for parameter in _STORAGE if parameter.name in ("cluster_by_auto", "private", "format")),
)
_RULE = (
    Parameter("description"),
    Parameter("constraint"),
    Parameter("name", note="description, as the package databricks-dlt has it"),
    Parameter("inv", note="constraint, as the package databricks-dlt has it"),
)
_RULES = (Parameter("expectations", required=True),)
_DATASET = (Parameter("name", required=True),)
_AUTO_CDC = (
    *(Parameter(name, required=True) for name in ("target", "source", "keys", "sequence_by")),
    Parameter("ignore_null_updates", False),
    *(Parameter(name) for name in ("apply_as_deletes", "apply_as_truncates")),
    *(Parameter(name) for name in ("column_list", "except_column_list")),
    Parameter("stored_as_scd_type", 1),
    *(Parameter(name) for name in ("track_history_column_list", "track_history_except_column_list")),
    _NAME,
    Parameter("once", False),
    _CONF,
    *(Parameter(f"ignore_null_updates_{name}") for name in ("column_list", "except_column_list")),
    Parameter("columns_to_update"),
    Parameter("system_sequence_by", note='with stored_as_scd_type="bitemporal"'),
    Parameter("flow_name", note="an older spelling of name"),
    Parameter("where", note="an older parameter: a condition on the rows of the source"),
)
_SHOWN_NOWHERE = (
    Parameter("comment", note="a flow is shown nowhere with a comment"),
    Parameter(
        "import_checkpoint", None, "accepted", "flows keep their checkpoints in the pipeline's storage"
    ),
)
_SNAPSHOTS = (
    Parameter("target", required=True),
    Parameter("source", note="a table's name, (DataFrame, version), or a function that gives such pairs"),
    Parameter("keys"),
    Parameter("stored_as_scd_type", 1),
    *(Parameter(name) for name in ("track_history_column_list", "track_history_except_column_list")),
    Parameter("once", False),
    _NAME,
    _CONF,
    Parameter("snapshot_and_version", note="an older spelling of source"),
)
FUNCTIONS: tuple[Function, ...] = (
    Function("table", _TABLE, 1, role="query"),
    Function(
        "materialized_view",
        (
            *(_QUERY, _NAME, _COMMENT, _CONF, *_STORAGE, _TEMPORARY),
            Parameter(
                "refresh_policy",
                note="auto, incremental, incremental_strict or full",
                convert=_to_refresh_policy,
            ),
        ),
        1,
        role="query",
    ),
    Function("temporary_view", (_QUERY, _NAME, _COMMENT, _CONF), 1, ("view", "create_view"), "query"),
    Function("create_table", (*_TABLE, *_EXPECT_ALL), 1, role="query"),
    Function(
        "create_streaming_table",
        _STREAMING_TABLE,
        len(_STREAMING_TABLE),
        ("create_target_table", "create_streaming_live_table"),
        "target",
    ),
    Function(
        "append_flow",
        (
            Parameter("target", required=True),
            _NAME,
            Parameter("once", False),
            _CONF,
            Parameter("depends_on"),
            *_SHOWN_NOWHERE,
        ),
    ),
    Function("expect", _RULE, 2, role="rule"),
    Function("expect_or_drop", _RULE, 2, role="rule"),
    Function("expect_or_fail", _RULE, 2, role="rule"),
    Function("expect_all", _RULES, 1, role="rule"),
    Function("expect_all_or_drop", _RULES, 1, role="rule"),
    Function("expect_all_or_fail", _RULES, 1, role="rule"),
    Function("read", _DATASET, 1, role="read"),
    Function("read_stream", _DATASET, 1, ("readStream",), "read"),
    Function("create_auto_cdc_flow", _AUTO_CDC, len(_AUTO_CDC), ("apply_changes",), "flow"),
    Function(
        "create_auto_cdc_from_snapshot_flow",
        _SNAPSHOTS,
        len(_SNAPSHOTS),
        ("apply_changes_from_snapshot",),
        "flow",
    ),
    Function(
        "create_sink",
        (
            Parameter("name", required=True),
            Parameter("format", required=True),
            Parameter("options", convert=to_strings),
        ),
        3,
    ),
    Function("foreach_batch_sink", (Parameter("batch_handler"), _NAME), 1),
    Function("update_flow", (Parameter("target", required=True), _NAME, _CONF, *_SHOWN_NOWHERE)),
    Function(
        "replace_flow",
        (
            Parameter("target", required=True),
            replace(_REPLACE_USING, required=True),
            Parameter("sequence_by", required=True),
            _NAME,
            Parameter("comment", note="a flow is shown nowhere with a comment"),
            _CONF,
        ),
    ),
    Function(
        "on_event_hook",
        (Parameter("user_event_hook_fn"), Parameter("max_allowable_consecutive_failures")),
        1,
    ),
    # Of the package databricks-dlt alone, for the `conftest.py` of a bundle's template.
    Function("enable_local_execution"),
)


@cache
def _by_name() -> dict[str, Function]:
    return {name: each for each in FUNCTIONS for name in each.names}


def function(name: str) -> Function | None:
    """Return the function with this name or older name, None for an unknown one."""
    return _by_name().get(name)

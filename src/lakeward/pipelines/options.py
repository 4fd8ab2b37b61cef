"""Options that dataset decorators share, checked and kept."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from lakeward.errors import PipelineError
from lakeward.pipelines.elements import Action, Replacement, Rule, TableOptions

__all__ = ["conf", "inline_rules", "mapping", "replacement", "table_options"]

_ROW_FILTER = re.compile(r"\s*(WITH\s+)?ROW\s+FILTER\b", re.IGNORECASE)


def table_options(what: str, values: Mapping[str, Any]) -> TableOptions:
    """Check and keep the storage options among `values`. Raises TypeError or PipelineError."""
    partitions, clusters = (
        _columns(what, column, values.get(column)) for column in ("partition_cols", "cluster_by")
    )
    if partitions and clusters:
        raise PipelineError(
            "SPECIFY_CLUSTER_BY_WITH_PARTITIONED_BY_IS_NOT_ALLOWED",
            f"{what}() was given both partition_cols and cluster_by.",
            next_step="Keep one of them.",
        )
    return TableOptions(
        comment=values["comment"],
        properties=mapping(what, "table_properties", values.get("table_properties")),
        partition_cols=partitions,
        cluster_by=clusters,
        schema=values.get("schema"),
        path=None if values.get("path") is None else str(values["path"]),
        private=bool(values.get("private") or values.get("temporary")),
        row_filter=_row_filter(what, values.get("row_filter")),
    )


def mapping(what: str, parameter: str, given: Mapping[str, Any] | None) -> dict[str, str]:
    """A dictionary of strings; Booleans are written as Spark reads them. Raises TypeError."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(f"{what}({parameter}=…) takes a dict, not {type(given).__name__}")
    return {
        str(key): str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in given.items()
    }


def conf(what: str, given: Mapping[str, Any] | None) -> dict[str, str]:
    """The Spark settings of one flow. Raises TypeError."""
    return mapping(what, "spark_conf", given)


def inline_rules(values: Mapping[str, Any]) -> list[Rule]:
    """The expectations that `create_streaming_table` takes as `expect_all*=`."""
    actions: dict[str, Action] = {
        "expect_all": "warn",
        "expect_all_or_drop": "drop",
        "expect_all_or_fail": "fail",
    }
    return [
        Rule(str(name), str(constraint), action)
        for parameter, action in actions.items()
        for name, constraint in (values[parameter] or {}).items()
    ]


def replacement(what: str, values: Mapping[str, Any]) -> Replacement | None:
    """What a flow replaces in its target, None for one that appends. Raises TypeError or PipelineError."""
    using = _columns(what, "replace_using", values["replace_using"])
    sequence_by, where = values["sequence_by"], values.get("replace_where")
    if where is not None and not isinstance(where, str):
        raise TypeError(f"{what}(replace_where=…) takes a SQL condition, not {type(where).__name__}")
    if not using and sequence_by is None:
        return None if where is None else Replacement(where=where)
    if where is not None or not using or sequence_by is None:
        raise PipelineError(
            "INVALID_REPLACE_FLOW",
            f"{what}() replaces by keys, with replace_using and sequence_by, or by replace_where.",
            next_step="Give replace_using together with sequence_by, or replace_where alone.",
        )
    repeated = sorted({column for column in using if using.count(column) > 1})
    if repeated:
        raise PipelineError(
            "INVALID_REPLACE_FLOW", f"{what}(replace_using=…) names {', '.join(repeated)} more than once."
        )
    return Replacement(using, sequence_by)


def _row_filter(what: str, given: str | None) -> str | None:
    """`[[WITH] ROW FILTER] f ON (a)` from f on. Raises TypeError."""
    if given is None:
        return None
    if not isinstance(given, str):
        raise TypeError(f"{what}(row_filter=…) takes a str, not {type(given).__name__}")
    return _ROW_FILTER.sub("", given).strip()


def _columns(what: str, parameter: str, given: Sequence[str] | str | None) -> tuple[str, ...]:
    if given is None:
        return ()
    columns = (given,) if isinstance(given, str) else tuple(given)
    for column in columns:
        if not isinstance(column, str):
            raise TypeError(f"{what}({parameter}=…) takes column names, not {type(column).__name__}")
    return columns

"""Options that dataset decorators share, checked and kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lakeward.errors import PipelineError
from lakeward.pipelines.elements import Action, Rule, TableOptions

__all__ = ["conf", "inline_rules", "mapping", "table_options"]


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


def _columns(what: str, parameter: str, given: Sequence[str] | str | None) -> tuple[str, ...]:
    if given is None:
        return ()
    columns = (given,) if isinstance(given, str) else tuple(given)
    for column in columns:
        if not isinstance(column, str):
            raise TypeError(f"{what}({parameter}=…) takes column names, not {type(column).__name__}")
    return columns

"""Options that dataset decorators share: which are kept, which mean nothing here, which are not there yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lakeward.errors import PipelineError
from lakeward.pipelines.elements import Rule, TableOptions
from lakeward.pipelines.registry import Registry

__all__ = ["conf", "inline_rules", "mapping", "not_there_yet", "table_options", "warn_unused"]

_NO_MEANING = {
    "cluster_by_auto": "clustering columns are never chosen by themselves; name them with cluster_by",
    "refresh_policy": "views are recomputed whenever their inputs changed",
    "row_filter": "row filters are not enforced on a local lakehouse",
    "path": "tables live in the warehouse folder",
    "private": "the table is made in the pipeline's schema and can be read from outside",
    "import_checkpoint": "flows keep their checkpoints in the pipeline's storage",
}


def warn_unused(registry: Registry, what: str, **given: Any) -> None:
    """Warn once about each given parameter that has no meaning here."""
    for parameter, value in given.items():
        if value is not None and value is not False:
            registry.warn(parameter, f"{what}({parameter}=…) has no effect here: {_NO_MEANING[parameter]}.")


def not_there_yet(what: str, **given: Any) -> None:
    """Refuse parameters whose absence would change the result. Raises PipelineError."""
    for parameter, value in given.items():
        if value is not None:
            raise PipelineError("NOT_SUPPORTED", f"{what}({parameter}=…) is not there yet.")


def table_options(
    what: str,
    *,
    comment: str | None,
    table_properties: Mapping[str, Any] | None,
    partition_cols: Sequence[str] | str | None,
    cluster_by: Sequence[str] | str | None,
    schema: Any,
    format: str | None = None,
) -> TableOptions:
    """Check and keep the storage options. Raises TypeError or PipelineError."""
    if format is not None and format.lower() != "delta":
        raise PipelineError(
            "NOT_SUPPORTED",
            f"{what}(format='{format}'): datasets are Delta tables.",
            next_step="Leave format out.",
        )
    partitions, clusters = (
        _columns(what, "partition_cols", partition_cols),
        _columns(what, "cluster_by", cluster_by),
    )
    if partitions and clusters:
        raise PipelineError(
            "SPECIFY_CLUSTER_BY_WITH_PARTITIONED_BY_IS_NOT_ALLOWED",
            f"{what}() was given both partition_cols and cluster_by.",
            next_step="Keep one of them.",
        )
    return TableOptions(
        comment=comment,
        properties=mapping(what, "table_properties", table_properties),
        partition_cols=partitions,
        cluster_by=clusters,
        schema=schema,
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


def inline_rules(**given: Mapping[str, str] | None) -> list[Rule]:
    """The expectations that `create_streaming_table` takes as `expect_all*=`."""
    actions = {"expect_all": "warn", "expect_all_or_drop": "drop", "expect_all_or_fail": "fail"}
    return [
        Rule(str(name), str(constraint), actions[parameter])  # type: ignore[arg-type]
        for parameter, rules in given.items()
        for name, constraint in (rules or {}).items()
    ]


def _columns(what: str, parameter: str, given: Sequence[str] | str | None) -> tuple[str, ...]:
    if given is None:
        return ()
    columns = (given,) if isinstance(given, str) else tuple(given)
    for column in columns:
        if not isinstance(column, str):
            raise TypeError(f"{what}({parameter}=…) takes column names, not {type(column).__name__}")
    return columns

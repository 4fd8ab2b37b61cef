"""Datasets as user files declare them: `table`, `materialized_view`, `temporary_view`, streaming tables.

Names, parameters and defaults: spec pipelines.md §1.1 and §1.2. `None` means absent. A parameter without
a meaning here is accepted and warned about once; one that nobody knows is Python's own TypeError.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lakeward.pipelines.elements import Declared, Flow, TableOptions
from lakeward.pipelines.handles import called_from, function_name, handle, required
from lakeward.pipelines.options import conf, inline_rules, not_there_yet, table_options, warn_unused
from lakeward.pipelines.registry import Declaration, Pending

__all__ = ["create_streaming_table", "create_table", "materialized_view", "table", "temporary_view"]

Function = Callable[..., Any]


def table(
    query_function: Function | None = None,
    *,
    name: str | None = None,
    comment: str | None = None,
    spark_conf: Mapping[str, str] | None = None,
    table_properties: Mapping[str, str] | None = None,
    path: str | None = None,
    partition_cols: Sequence[str] | None = None,
    cluster_by_auto: bool | None = False,
    cluster_by: Sequence[str] | None = None,
    schema: Any = None,
    row_filter: str | None = None,
    private: bool | None = None,
    temporary: bool | None = None,
    replace_using: Any = None,
    sequence_by: Any = None,
    replace_where: Any = None,
    format: str | None = None,
) -> Any:
    """A streaming table when the function returns a stream, a materialized view otherwise (§1.3-R1)."""
    registry = required("table")
    not_there_yet("table", replace_using=replace_using, sequence_by=sequence_by, replace_where=replace_where)
    private = private or temporary
    warn_unused(
        registry, "table", path=path, cluster_by_auto=cluster_by_auto, row_filter=row_filter, private=private
    )
    options = table_options(
        "table",
        comment=comment,
        table_properties=table_properties,
        partition_cols=partition_cols,
        cluster_by=cluster_by,
        schema=schema,
        format=format,
    )
    return _with_query("table", "table", query_function, name, options, conf("table", spark_conf))


def materialized_view(
    query_function: Function | None = None,
    *,
    name: str | None = None,
    comment: str | None = None,
    spark_conf: Mapping[str, str] | None = None,
    table_properties: Mapping[str, str] | None = None,
    path: str | None = None,
    partition_cols: Sequence[str] | None = None,
    cluster_by_auto: bool | None = False,
    cluster_by: Sequence[str] | None = None,
    schema: Any = None,
    row_filter: str | None = None,
    private: bool | None = None,
    temporary: bool | None = None,
    refresh_policy: str | None = None,
    format: str | None = None,
) -> Any:
    """The result of a batch query, kept up to date as a whole."""
    registry = required("materialized_view")
    warn_unused(
        registry,
        "materialized_view",
        path=path,
        cluster_by_auto=cluster_by_auto,
        row_filter=row_filter,
        private=private or temporary,
        refresh_policy=refresh_policy,
    )
    options = table_options(
        "materialized_view",
        comment=comment,
        table_properties=table_properties,
        partition_cols=partition_cols,
        cluster_by=cluster_by,
        schema=schema,
        format=format,
    )
    settings = conf("materialized_view", spark_conf)
    return _with_query("materialized_view", "materialized_view", query_function, name, options, settings)


def temporary_view(
    query_function: Function | None = None,
    *,
    name: str | None = None,
    comment: str | None = None,
    spark_conf: Mapping[str, str] | None = None,
) -> Any:
    """A query that is not stored: every consumer evaluates it, its expectations included."""
    options = TableOptions(comment=comment)
    return _with_query(
        "temporary_view", "view", query_function, name, options, conf("temporary_view", spark_conf)
    )


def create_streaming_table(
    name: str,
    comment: str | None = None,
    spark_conf: Mapping[str, str] | None = None,
    table_properties: Mapping[str, str] | None = None,
    partition_cols: Sequence[str] | None = None,
    path: str | None = None,
    schema: Any = None,
    expect_all: Mapping[str, str] | None = None,
    expect_all_or_drop: Mapping[str, str] | None = None,
    expect_all_or_fail: Mapping[str, str] | None = None,
    cluster_by: Sequence[str] | None = None,
    row_filter: str | None = None,
    cluster_by_auto: bool | None = False,
    private: bool | None = None,
    format: str | None = None,
) -> None:
    """A streaming table that `append_flow`s feed; its expectations hold for each of them."""
    registry = required("create_streaming_table")
    what = "create_streaming_table"
    warn_unused(
        registry, what, path=path, row_filter=row_filter, cluster_by_auto=cluster_by_auto, private=private
    )
    conf(what, spark_conf)
    place = called_from()
    options = table_options(
        what,
        comment=comment,
        table_properties=table_properties,
        partition_cols=partition_cols,
        cluster_by=cluster_by,
        schema=schema,
        format=format,
    )
    rules = inline_rules(
        expect_all=expect_all, expect_all_or_drop=expect_all_or_drop, expect_all_or_fail=expect_all_or_fail
    )
    registry.key(name, view=False)
    registry.declarations.append(
        Declaration(name, "streaming_table", options, Pending(place, rules, declares=name), place)
    )


def create_table(query_function: Function | str | None = None, **options: Any) -> Any:
    """Two things under one name (§1.1): old code's decorator, and today's function that makes a table.

    Which one is meant shows only in whether the result is used as a decorator.
    """
    registry = required("create_table")
    if callable(query_function):
        return table(query_function, **options)
    if query_function is not None:
        options["name"] = query_function
    place, used = called_from(), []

    def decorate(function: Function) -> Any:
        used.append(function)
        return table(**options)(function)

    def declare() -> None:
        if used:
            return
        if "name" not in options:
            raise TypeError(f"{place}: create_table() needs name=…, or a function to decorate")
        create_streaming_table(**options)

    registry.undecided.append(declare)
    return decorate


def _with_query(
    decorator: str,
    declared: Declared,
    function: Function | None,
    name: str | None,
    options: TableOptions,
    spark_conf: Mapping[str, str],
) -> Any:
    registry = required(decorator)
    if name is not None and not isinstance(name, str):
        raise TypeError(f"{decorator}(name=…) takes a str, not {type(name).__name__}")

    def decorate(query: Function) -> Function:
        callable_, pending = handle(query, decorator, fresh=True)
        label = name or function_name(query, decorator)
        key = registry.key(label, view=declared == "view")
        pending.declares = label
        registry.declarations.append(Declaration(label, declared, options, pending, pending.place))
        registry.flows.append(Flow(label, key, callable_, pending.place, spark_conf=spark_conf))
        return callable_

    return decorate if function is None else decorate(function)

"""Writes the changes of a view, each in one Delta commit: readers see the old rows or the new ones.

Changed rows are written in one of three ways. If no file of the view can have rows of their groups, they are
appended. Else the rows of the groups are replaced in one Spark job: small files are rewritten, of others the
rows are marked. A MERGE, of about ten jobs, writes views whose rows have a history, and large files of views
without deletion vectors.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import reduce
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from lakeward.pipelines.incremental.row_bags import COUNT, identity_columns, net_rows, with_texts
from lakeward.pipelines.storage.computed_rows import (
    compute_rows,
    computed_rows,
    count_rows,
    hint_small,
    repeat_rows,
)
from lakeward.pipelines.storage.delta_tables import prepare_merge
from lakeward.pipelines.storage.file_replacement import PLACE, FileReplacement
from lakeward.pipelines.storage.key_ranges import KeyRanges, target_condition
from lakeward.quoting import quote_name, quote_string
from lakeward.session import USER_METADATA, temporary_conf

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
# A commit that changes no row records the source versions that the view has seen.
_EMPTY_COMMITS = {"spark.databricks.delta.skipRecordingEmptyCommits": "false"}
_SOURCE_VIEW = "lakeward_view_changes"
_OPERATION = "REFRESH"
# Delta keeps statistics of the first columns alone.
_INDEXED_COLUMNS = 32


class InconsistentViewError(Exception):
    """Rows that have to be removed from a view are not in it."""


def require_own_partitions(groups: DataFrame, partition_cols: Sequence[str]) -> None:
    """Raise InconsistentViewError if two groups may share a partition: an empty text is stored as NULL."""
    partitioned = {name.lower() for name in partition_cols}
    texts = [name for name, kind in groups.dtypes if kind == "string" and name.lower() in partitioned]
    shared = " OR ".join(f"coalesce({quote_name([name])}, '') = ''" for name in texts)
    if shared and not groups.where(shared).isEmpty():
        raise InconsistentViewError


def append_rows(key: tuple[str, ...], rows: DataFrame, metadata: str) -> None:
    """Add rows to the view."""
    with _commit_settings(rows.sparkSession, metadata):
        rows.write.format("delta").mode("append").saveAsTable(quote_name(key))


def replace_groups(
    key: tuple[str, ...],
    keys: DataFrame,
    columns: Sequence[str],
    rows: DataFrame,
    condition: str,
    metadata: str,
) -> None:
    """Replace all rows of some groups. Their rows are computed once; MERGE reads its source twice.

    Args:
        key: Name of the view.
        keys: The affected groups, each once.
        columns: The view's columns that contain the keys, in the order of `keys`.
        rows: The current rows of these groups.
        condition: The condition that rows `t` of these groups meet, see `target_condition`.
        metadata: User metadata of the commit.
    """
    from pyspark.sql import functions as F

    files = FileReplacement(rows.sparkSession, key, condition)
    if files.is_empty:
        append_rows(key, rows, metadata)
        return
    names = [f"c{i}" for i in range(len(rows.columns))]
    marks = [f"k{i}" for i in range(len(columns))]
    matches = [f"t.{quote_name([column])} <=> s.{mark}" for column, mark in zip(columns, marks, strict=True)]
    if files.is_cheaper_than_merge:
        # Without keys the view has one row.
        affected, same = hint_small(keys).toDF(*marks).alias("s"), F.expr(" AND ".join(matches) or "true")
        kept = files.rewritten.alias("t").join(affected, same, "left_anti")
        marked = files.markable
        if marked is not None:
            marked = marked.alias("t").join(affected, same, "left_semi")
        _replace(files, kept.select(*map(_column, rows.columns)), marked, rows, metadata)
        return
    keys = keys.toDF(*marks)
    removed = keys.select(F.lit(True).alias("removes"), *marks, *_nulls(rows, names))
    added = rows.toDF(*names).select(F.lit(False).alias("removes"), *_nulls(keys, marks), *names)
    with computed_rows(removed.unionAll(added)) as source:
        _merge(
            key,
            source,
            " AND ".join(["s.removes", *matches, *([condition] if condition else [])]),
            "WHEN MATCHED THEN DELETE " + _insert(rows.columns, names, "NOT s.removes"),
            metadata,
        )


def replace_partitions(
    key: tuple[str, ...], keys: DataFrame, columns: Sequence[str], rows: DataFrame, metadata: str
) -> None:
    """Replace all rows of some partitions, with the arguments of `replace_groups`; no other file is read."""
    partitions = []
    for values in keys.select([keys[name].cast("string") for name in keys.columns]).collect():
        equal = [
            f"{quote_name([column])} <=> CAST({'NULL' if value is None else quote_string(value)} AS {kind})"
            for column, value, (_, kind) in zip(columns, values, keys.dtypes, strict=True)
        ]
        partitions.append(f"({' AND '.join(equal)})")
    writer = rows.write.format("delta").mode("overwrite").option("replaceWhere", " OR ".join(partitions))
    with temporary_conf(rows.sparkSession, {USER_METADATA: metadata}):
        writer.saveAsTable(quote_name(key))


def merge_groups(
    key: tuple[str, ...], columns: Sequence[str], rows: DataFrame, merged: dict[str, str], metadata: str
) -> None:
    """Merge the aggregates of new rows into those of the view.

    Args:
        key: Name of the view.
        columns: The columns that contain the keys.
        rows: The aggregates of the new rows, with the columns of the view; computed once.
        merged: For every other column the expression of its new value, from `t.<column>` and `s.<column>`.
        metadata: User metadata of the commit.
    """
    from pyspark.sql import functions as F

    spark = rows.sparkSession
    types = dict(rows.dtypes)
    count, ranges = KeyRanges([(quote_name([each]), types[each]) for each in columns]).of(rows)
    condition = target_condition(spark, key, ranges, columns)
    files = FileReplacement(spark, key, condition) if count else None
    if files is None or files.is_empty:
        append_rows(key, rows, metadata)
        return
    names = [f"c{i}" for i in range(len(rows.columns))]
    position = dict(zip(rows.columns, names, strict=True))
    matches = [f"t.{quote_name([column])} <=> s.{position[column]}" for column in columns]
    if files.is_cheaper_than_merge:
        added = rows.toDF(*names)
        stored, before = files.rewritten, files.count()
        with ExitStack() as computed:
            if files.markable is not None:
                same = F.expr(" AND ".join(matches) or "true")
                marked = files.markable.alias("t").join(hint_small(added).alias("s"), same, "left_semi")
                marked = computed.enter_context(computed_rows(marked))
                before += files.mark(marked)
                stored = stored.unionAll(marked.select(*map(_column, stored.columns)))
            written = files.write(_with_added_groups(stored, added, rows.columns, matches, merged), count)
        inserted = written - before
        with _commit_settings(spark, metadata):
            files.commit(_OPERATION, inserted=inserted, updated=count - inserted)
        return
    values = ", ".join(f"t.{quote_name([column])} = {value}" for column, value in merged.items())
    update = f"WHEN MATCHED THEN UPDATE SET {values} " if merged else ""
    clauses = update + _insert(rows.columns, names, "true")
    matches += [condition] if condition else []
    # Without keys the view has one row.
    _merge(key, rows.toDF(*names), " AND ".join(matches) or "true", clauses, metadata)


def apply_row_changes(
    key: tuple[str, ...], stored: DataFrame, plus: DataFrame, minus: DataFrame, metadata: str
) -> None:
    """Add and remove rows with their multiplicities.

    All copies of a row that loses some are removed, and those that remain are added again.

    Raises InconsistentViewError if the view has fewer copies of a row than have to be removed.
    """
    from pyspark.sql import functions as F

    columns = list(plus.columns)
    names = [f"c{i}" for i in range(len(columns))]
    plus, minus = plus.toDF(*names), minus.toDF(*names)
    groups = identity_columns(plus)
    net = compute_rows(net_rows(plus, minus))
    gone = net.where("n < 0")
    count, ranges = KeyRanges(plus.dtypes[:_INDEXED_COLUMNS]).of(gone)
    if not count:
        append_rows(key, repeat_rows(net, names, COUNT).toDF(*columns), metadata)
        return
    spark = plus.sparkSession
    condition = target_condition(spark, key, ranges, columns)
    files = FileReplacement(spark, key, condition)
    replaces = files.is_cheaper_than_merge

    def renamed(frame: DataFrame, more: Sequence[str] = ()) -> DataFrame:
        return with_texts(frame.select(*map(_column, [*columns, *more])).toDF(*names, *more))

    there = renamed(files.rows if replaces else stored.alias("t").where(condition or "true"))
    same = reduce(operator.and_, [F.col(f"a.{name}").eqNullSafe(F.col(f"b.{name}")) for name in groups])
    kept = there.alias("a").join(gone.alias("b"), same, "left_semi")
    copies = kept.groupBy(*groups).agg(F.count(F.lit(1)).alias("copies"))
    left = gone.alias("a").join(copies.alias("b"), same, "left")
    remaining = (F.coalesce(F.col("b.copies"), F.lit(0)) + F.col("a.n")).alias(COUNT)
    left = compute_rows(left.select(*[F.col(f"a.{name}") for name in names], remaining))
    if not left.where("n < 0").isEmpty():
        raise InconsistentViewError
    added = repeat_rows(net, names, COUNT).unionAll(repeat_rows(left, names, COUNT))
    if replaces:
        lost, marked = hint_small(gone).alias("b"), files.markable
        kept = renamed(files.rewritten).alias("a").join(lost, same, "left_anti")
        if marked is not None:
            marked = renamed(marked, PLACE).alias("a").join(lost, same, "left_semi")
        _replace(files, kept.select(*names).toDF(*columns), marked, added.toDF(*columns), metadata)
        return
    source = gone.select(F.lit(True).alias("removes"), *names).unionAll(
        added.select(F.lit(False).alias("removes"), *names)
    )
    matches = [
        f"CAST(t.{quote_name([column])} AS STRING) <=> CAST(s.{name} AS STRING)"
        if f"t{name}" in groups
        else f"t.{quote_name([column])} <=> s.{name}"
        for column, name in zip(columns, names, strict=True)
    ]
    matches += [condition] if condition else []
    clauses = "WHEN MATCHED THEN DELETE " + _insert(columns, names, "NOT s.removes")
    _merge(key, source, " AND ".join(["s.removes", *matches]), clauses, metadata)


def _replace(
    files: FileReplacement, kept: DataFrame, marked: DataFrame | None, added: DataFrame, metadata: str
) -> None:
    """Replace rows of the files, in one commit.

    Args:
        files: The files.
        kept: The rows that stay of those that are rewritten.
        marked: The rows that are to be marked of the other files, if there are others.
        added: The rows to add, with the columns of `kept`.
        metadata: User metadata of the commit.
    """
    # Not with the write: metrics of expectations are those of the query that computes the rows.
    with computed_rows(added) as rows:
        columns = [
            _column(name).cast(field.dataType)
            for name, field in zip(rows.columns, kept.schema.fields, strict=True)
        ]
        inserted, before = count_rows(rows), files.count()
        gone = 0 if marked is None else files.mark(marked)
        written = files.write(kept.unionAll(rows.select(*columns)), inserted)
        with _commit_settings(rows.sparkSession, metadata):
            files.commit(_OPERATION, inserted=inserted, deleted=gone + before + inserted - written)


def _with_added_groups(
    stored: DataFrame,
    added: DataFrame,
    columns: Sequence[str],
    matches: Sequence[str],
    merged: Mapping[str, str],
) -> DataFrame:
    """Return stored groups `t`, with the aggregates of added rows `s` merged, and new groups."""
    from pyspark.sql import functions as F

    old = stored.withColumn("lakeward_stored", F.lit(True)).alias("t")
    new = added.withColumn("lakeward_added", F.lit(True)).alias("s")
    joined = old.join(new, F.expr(" AND ".join(matches) or "true"), "full")
    values = []
    for column, name in zip(columns, added.columns, strict=True):
        before = f"t.{quote_name([column])}"
        value = F.expr(
            f"CASE WHEN t.lakeward_stored IS NULL THEN s.{name} WHEN s.lakeward_added IS NULL THEN {before} "
            f"ELSE {merged.get(column, before)} END"
        )
        values.append(value.cast(stored.schema[column].dataType).alias(column))
    return joined.select(*values)


def _column(name: str) -> Column:
    from pyspark.sql import functions as F

    return F.col(quote_name([name]))


def _nulls(frame: DataFrame, names: Sequence[str]) -> list[Any]:
    from pyspark.sql import functions as F

    types = [field.dataType for field in frame.schema.fields]
    return [F.lit(None).cast(kind).alias(name) for kind, name in zip(types, names, strict=True)]


def _insert(columns: Sequence[str], names: Sequence[str], condition: str) -> str:
    targets = ", ".join(quote_name([column]) for column in columns)
    values = ", ".join(f"s.{name}" for name in names)
    # Names are quoted.
    return f"WHEN NOT MATCHED AND {condition} THEN INSERT ({targets}) VALUES ({values})"  # noqa: S608


@contextmanager
def _commit_settings(
    spark: SparkSession, metadata: str, conf: Mapping[str, str] = MappingProxyType({})
) -> Iterator[None]:
    with temporary_conf(spark, {USER_METADATA: metadata, **_EMPTY_COMMITS, **conf}):
        yield


def _merge(key: tuple[str, ...], source: DataFrame, condition: str, clauses: str, metadata: str) -> None:
    spark: SparkSession = source.sparkSession
    source, conf = prepare_merge(source)
    source.createOrReplaceTempView(_SOURCE_VIEW)
    try:
        with _commit_settings(spark, metadata, conf):
            spark.sql(
                f"MERGE INTO {quote_name(key)} t USING {_SOURCE_VIEW} s ON {condition} {clauses}"
            ).collect()
    finally:
        spark.catalog.dropTempView(_SOURCE_VIEW)

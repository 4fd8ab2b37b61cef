"""Writing changes into a target: one commit a batch, an append where nothing that is there changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.pipelines.appending import append_once
from lakeward.pipelines.cdc.shape import END, START, Shape
from lakeward.pipelines.names import quoted
from lakeward.pipelines.spark_settings import settings
from lakeward.pipelines.tables import stored_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Target", "Written"]

_CHANGES = "lakeward_changes"
# A source that is computed need not be written down before it is read twice.
_AS_IT_IS = {"spark.databricks.delta.merge.materializeSource": "none"}


@dataclass(frozen=True)
class Written:
    """Rows of the target that a batch wrote and removed."""

    upserted: int = 0
    deleted: int = 0

    def __add__(self, other: Written) -> Written:
        return Written(self.upserted + other.upserted, self.deleted + other.deleted)


@dataclass(frozen=True)
class Target:
    """The table `key` that gets the columns of `shape`."""

    key: tuple[str, ...]
    shape: Shape

    def rows(self, spark: SparkSession) -> DataFrame:
        """The rows of an SCD type 2 table as `scd2.revised` takes them."""
        from pyspark.sql import functions as F

        table = stored_rows(spark, self.key)
        known = {name.lower() for name in table.columns}
        row = [quoted([name]) for name in self.shape.columns if name.lower() in known]
        return table.select(
            F.struct(*[F.col(quoted([key])).alias(key) for key in self.shape.keys]).alias("__key"),
            F.col(START).alias("__start"),
            F.col(END).alias("__end"),
            F.struct(*map(F.col, row)).alias("__row"),
        )

    def write(self, changes: DataFrame, counts: Mapping[str, int], *, app: str, number: int) -> Written:
        """Carry out `changes` (__key, __row, __action, and for type 2 __start and __end); idempotent."""
        inserts, updates, deletes = (counts.get(action, 0) for action in ("insert", "update", "delete"))
        if updates or deletes:
            self.merge(
                changes.where("__action <> 'none'"),
                delete="s.__action = 'delete'",
                update="true",
                insert="s.__action <> 'delete'",
            )
        elif inserts:
            self._append(changes, app=app, number=number)
        return Written(inserts + updates, deletes)

    def _append(self, changes: DataFrame, *, app: str, number: int) -> None:
        rows = changes.where("__action = 'insert'").selectExpr(*self._values())
        append_once(rows, app=app, number=number).saveAsTable(quoted(self.key))

    def _values(self) -> list[str]:
        values = [f"__row.{quoted([name])} AS {quoted([name])}" for name in self.shape.columns]
        if self.shape.change.scd_type == 2:
            values += [f"__start AS {START}", f"__end AS {END}"]
        return values

    def merge(
        self, changes: DataFrame, *, delete: str, update: str, insert: str, equals: str = "<=>"
    ) -> Written:
        """One MERGE of `changes`, computed and a row a key, under these conditions; `t` is the target's row.

        `equals` is what compares keys: `=` is faster where `changes` have no NULL in one.
        """
        spark = changes.sparkSession
        keys = [f"t.{quoted([key])} {equals} s.__key.{quoted([key])}" for key in self.shape.keys]
        values = {quoted([name]): f"s.__row.{quoted([name])}" for name in self.shape.columns}
        if self.shape.change.scd_type == 2:
            keys.append(f"t.{START} <=> s.__start")
            values |= {START: "s.__start", END: "s.__end"}
        assignments = ", ".join(f"t.{name} = {value}" for name, value in values.items())
        merge = (
            f"MERGE INTO {quoted(self.key)} t USING {_CHANGES} s ON {' AND '.join(keys)} "  # noqa: S608  # quoted
            f"WHEN MATCHED AND {delete} THEN DELETE "
            f"WHEN MATCHED AND {update} THEN UPDATE SET {assignments} "
            f"WHEN NOT MATCHED AND {insert} THEN "
            f"INSERT ({', '.join(values)}) VALUES ({', '.join(values.values())})"
        )
        changes.createOrReplaceTempView(_CHANGES)
        try:
            with settings(spark, _AS_IT_IS):
                done = spark.sql(merge).first()
        finally:
            spark.catalog.dropTempView(_CHANGES)
        assert done is not None
        return Written(done["num_updated_rows"] + done["num_inserted_rows"], done["num_deleted_rows"])

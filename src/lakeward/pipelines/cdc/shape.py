"""From the rows of a change feed to events with one shape, and the columns that the target gets.

An event has the columns

    __key     struct of the keys                    __delete  whether it removes the key
    __seq     the sequence                          __tie     decides between equal sequences
    __row     struct of the target's columns; where updates may be partial, each is NULL (leave it as it is)
              or a struct with the value `v`

Keys are compared as structs, hence null-safely: there is one row for the NULL key (spec §3.2.7).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeward.errors import PipelineError
from lakeward.pipelines.cdc.change import Change
from lakeward.pipelines.names import quoted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructType

__all__ = ["END", "START", "Shape", "tie"]

START, END = "__START_AT", "__END_AT"
_UNORDERED = ("map", "variant", "void")


@dataclass(frozen=True)
class Shape:
    """A change resolved against the columns of its source. Names are those of the target's columns."""

    change: Change
    keys: tuple[str, ...]
    columns: tuple[str, ...]
    tracked: tuple[str, ...]
    optional: tuple[str, ...]

    @classmethod
    def of(cls, source: DataFrame, change: Change) -> Shape:
        """Raises PipelineError for keys that the target would lack and sequences without an order; what
        Spark raises for unknown columns goes through."""
        keys = tuple(source.select(*map(_column, change.keys)).columns)
        columns = _chosen(source, source.columns, change.columns, change.except_columns)
        lower = {name.lower(): name for name in columns}
        lost = [key for key in keys if key.lower() not in lower]
        if lost:
            raise PipelineError(
                "AUTOCDC_KEY_NOT_IN_SELECTED_SCHEMA",
                f"The keys {', '.join(lost)} are not among the target's columns {', '.join(columns)}.",
                next_step="Keep the keys in column_list, or out of except_column_list.",
            )
        keys = tuple(lower[key.lower()] for key in keys)
        sequence = source.select(_value(source, change.sequence_by)).schema[0].dataType
        if sequence.typeName() in _UNORDERED:
            raise PipelineError(
                "NON_ORDERABLE_SEQUENCE",
                f"sequence_by is of type {sequence.simpleString()}, which has no order.",
            )
        values = [name for name in columns if name not in keys]
        output = source.select(*[_name(name) for name in columns])
        tracked = _chosen(output, values, change.tracked, change.untracked)
        optional = (
            _chosen(output, values, change.ignore_null_columns, change.ignore_null_except)
            if change.ignore_null
            else values
        )
        return cls(
            change, keys, tuple(columns), tuple(name for name in tracked if name in values), tuple(optional)
        )

    def sequence_type(self, source: DataFrame) -> DataType:
        """The type of the sequence, and of __START_AT and __END_AT."""
        return source.select(_value(source, self.change.sequence_by)).schema[0].dataType

    def carrier(self, source: DataFrame, target: StructType) -> str | None:
        """The column of the target that holds each row's sequence as the event had it, None without one."""
        value = source.select(_value(source, self.change.sequence_by))
        for name in self.columns:
            if name.lower() == value.columns[0].lower():
                field = next(field for field in target.fields if field.name.lower() == name.lower())
                is_plain = _identity(value) == _identity(source.select(_name(name)))
                return name if is_plain and field.dataType == value.schema[0].dataType else None
        return None

    def output(self, source: DataFrame) -> DataFrame:
        """The source with the target's columns, those of SCD type 2 included (NULL)."""
        from pyspark.sql import functions as F

        selected = source.select(*[_name(name) for name in self.columns])
        if self.change.scd_type == 1:
            return selected
        empty = F.lit(None).cast(self.sequence_type(source))
        return selected.withColumns({START: empty, END: empty})

    def events(self, source: DataFrame, target: StructType) -> DataFrame:
        """The events of `source` (truncates are none of them), values in the types of `target`."""
        from pyspark.sql import functions as F

        change = self.change
        types = {field.name.lower(): field.dataType for field in target.fields}

        def typed(name: str) -> Column:
            return _name(name).cast(types[name.lower()]) if name.lower() in types else _name(name)

        row = [self._cell(source, name, typed(name)).alias(name) for name in self.columns]
        seq = _value(source, change.sequence_by)
        if START.lower() in types:
            seq = seq.cast(types[START.lower()])
        events = source.select(
            F.struct(*[typed(key).alias(key) for key in self.keys]).alias("__key"),
            seq.alias("__seq"),
            _holds(change.deletes).alias("__delete"),
            F.struct(*row).alias("__row"),
            _holds(change.truncates).alias("__truncate"),
        )
        events = events.where(~F.col("__truncate")).drop("__truncate")
        return events.withColumn("__tie", F.expr(tie(events.schema["__row"].dataType, "__row")))

    def truncates(self, source: DataFrame) -> DataFrame | None:
        """One row `__truncate`, a struct of the greatest sequence of a truncate event; None without any."""
        from pyspark.sql import functions as F

        if self.change.truncates is None:
            return None
        seq = _value(source, self.change.sequence_by)
        return source.where(_holds(self.change.truncates)).agg(
            F.max(F.struct(seq.alias("__seq"))).alias("__truncate")
        )

    def _cell(self, source: DataFrame, name: str, value: Column) -> Column:
        from pyspark.sql import functions as F

        if not self.change.partial:
            return value
        cell = F.struct(value.alias("v"))
        if name in self.keys or name not in self.optional:
            return cell
        if self.change.columns_to_update is not None:
            listed = _value(source, self.change.columns_to_update)
            return F.when(F.array_contains(listed, name), cell)
        return F.when(value.isNotNull(), cell)


def _name(name: str) -> Column:
    from pyspark.sql import functions as F

    return F.col(quoted([name]))


def _column(given: Any) -> Any:
    return _name(given) if isinstance(given, str) and "`" not in given else given


def _value(source: DataFrame, given: Any) -> Column:
    """A column, a column's name, or SQL text."""
    from pyspark.sql import functions as F

    if not isinstance(given, str):
        return given  # type: ignore[no-any-return]
    return _name(given) if given.lower() in (name.lower() for name in source.columns) else F.expr(given)


def _holds(condition: Any) -> Column:
    """Whether a condition is true; NULL is not (spec §3.6.4)."""
    from pyspark.sql import functions as F

    if condition is None:
        return F.lit(False)
    return F.coalesce(F.expr(condition) if isinstance(condition, str) else condition, F.lit(False))


def _chosen(
    source: DataFrame,
    names: list[str],
    listed: tuple[Any, ...] | None,
    excepted: tuple[Any, ...] | None,
) -> list[str]:
    if listed is not None:
        asked = source.select(*map(_column, listed)).columns
        known = {name.lower(): name for name in names}
        return [known.get(name.lower(), name) for name in asked]
    if excepted is not None:
        out = {name.lower() for name in source.select(*map(_column, excepted)).columns}
        return [name for name in names if name.lower() not in out]
    return list(names)


def _identity(single: DataFrame) -> str:
    """Tells a frame of a column of its source from one of an expression that has the column's name."""
    return str(single._jdf.queryExecution().analyzed().output().head().exprId())


def tie(row: DataType, whole: str) -> str:
    """SQL of a number that depends on the values of the struct `whole`, of type `row`, alone: equal sequences
    end the same in every order."""
    if any(word in row.simpleString() for word in ("map<", "variant")):
        whole = f"to_json({whole}, map('ignoreNullFields', 'false'))"
    return f"xxhash64({whole})"

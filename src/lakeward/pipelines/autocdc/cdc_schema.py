"""The schema of change events, resolved from the columns of the feed.

An event has the columns

    __key     struct of the keys                    __delete  whether it removes the key
    __seq     the sequence                          __tie     orders events with equal sequences
    __sys     the system sequence, for bitemporal tables
    __row     struct of the target's columns; with partial updates each is NULL (keep the current value)
              or a struct with the value `v`

Keys are compared as structs, hence null-safely: the NULL key has one row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeward.errors import PipelineError
from lakeward.nested_types import cast_by_name
from lakeward.pipelines.graph.elements import ChangeArgs
from lakeward.pipelines.graph.query_plans import class_name
from lakeward.quoting import quote_identifier
from lakeward.spark_internals import analyzed_plan, scala_list
from lakeward.suggestions import did_you_mean

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructType


class SourceColumns:
    """Resolves names and Columns that users list to the columns of `source`."""

    def __init__(self, source: DataFrame) -> None:
        self._source = source
        ids = [str(each.exprId()) for each in scala_list(analyzed_plan(source).output())]
        self._names = dict(zip(ids, source.columns, strict=True))
        self._literal = {name.lower(): name for name in source.columns}

    def choose(
        self, names: Iterable[str], listed: Iterable[Any] | None, excepted: Iterable[Any] | None
    ) -> list[str]:
        """Return those of `names` that a pair of lists selects, in the order of `listed` if given."""
        if listed is not None:
            available = set(names)
            return [name for name in self.names(listed) if name in available]
        left_out = set(self.names(excepted or ()))
        return [name for name in names if name not in left_out]

    def names(self, listed: Iterable[Any]) -> list[str]:
        """Return the names of the listed columns as the source spells them. Raises PipelineError."""
        return [self._name(given) for given in listed]

    def keys(self, listed: Iterable[Any]) -> list[str]:
        """Return the names of the keys. Raises PipelineError."""
        return [self._name(given, "AUTOCDC_KEY_NOT_IN_SELECTED_SCHEMA") for given in listed]

    def _name(self, given: Any, missing: str = "AUTOCDC_COLUMNS_NOT_FOUND_IN_SCHEMA") -> str:
        from pyspark.errors import AnalysisException

        # A string is a column's whole name before it is an identifier with parts.
        if isinstance(given, str) and given.lower() in self._literal:
            given = quote_identifier(given)
        try:
            selected = self._source.select(given)
        except AnalysisException as error:
            unknown = (error.getMessageParameters() or {}).get("objectName", "")
            # An expression of an unknown column keeps Spark's error.
            if not unknown or unknown.replace("`", "") != _shown(given).replace("`", ""):
                raise
            raise self._unknown(unknown, missing) from None
        name = self._names.get(expression_id(selected)) if len(selected.columns) == 1 else None
        if name is None:
            raise _not_a_column(given, selected)
        return name

    def _unknown(self, name: str, missing: str) -> PipelineError:
        plain, columns = name.strip("`"), self._source.columns
        if "`.`" in name:
            return PipelineError(
                "AUTOCDC_MULTIPART_COLUMN_IDENTIFIER",
                f"A column list of AUTO CDC has {name}, which has several parts.",
                next_step="List columns of the source by their name alone.",
            )
        near = did_you_mean(plain, columns)
        return PipelineError(
            missing,
            f"A column list of AUTO CDC has `{plain}`; the columns of the source are {', '.join(columns)}.",
            next_step=near or "Correct the name.",
        )


def expression_id(selected: DataFrame) -> str:
    """Return the identity of the first column: that of the source's column, or a new one for expressions."""
    return str(analyzed_plan(selected).output().head().exprId())


def _shown(given: object) -> str:
    return given if isinstance(given, str) else str(given).removeprefix("Column<'").removesuffix("'>")


def _not_a_column(given: object, selected: DataFrame) -> PipelineError:
    shown = _shown(given)
    expression = analyzed_plan(selected).expressions().head()
    is_field = class_name(expression) == "Alias" and class_name(expression.child()).startswith("Get")
    kind = "MULTIPART_COLUMN_IDENTIFIER" if is_field else "NON_COLUMN_IDENTIFIER"
    return PipelineError(
        f"AUTOCDC_{kind}",
        f"A column list of AUTO CDC has `{shown}`, which is {'a field' if is_field else 'an expression'}.",
        next_step="List columns of the source; select a field or an expression as a column of a view first.",
    )


START_AT, END_AT = "__START_AT", "__END_AT"
SYSTEM_START_AT, SYSTEM_END_AT = "__SYSTEM_START_AT", "__SYSTEM_END_AT"
VERSION_COLUMN, DELETED_COLUMN = "__lakeward_version", "__lakeward_gone"
"""Sequence and deletes of a feed of snapshots. Users do not name them, and the target does not have them."""
_PERIODS = ((START_AT, END_AT), (START_AT, END_AT, SYSTEM_START_AT, SYSTEM_END_AT))
_UNORDERED = ("map", "variant", "void")


def _reject_reserved(columns: Iterable[str], change_args: ChangeArgs) -> None:
    """Raise PipelineError for columns with the names of those that a history adds."""
    added = _PERIODS[change_args.bitemporal] if change_args.scd_type == 2 else ()
    reserved = {name.lower() for name in added}
    taken = [name for name in columns if name.lower() in reserved]
    if taken:
        raise PipelineError(
            "AUTOCDC_RESERVED_COLUMN_NAME_PREFIX_CONFLICT",
            f"The source has the columns {', '.join(taken)}, which a history of SCD type 2 adds itself.",
            next_step="Leave them out with except_column_list, or rename them.",
        )


@dataclass(frozen=True)
class CdcSchema:
    """AUTO CDC arguments resolved against the source. Names are those of the target's columns."""

    change_args: ChangeArgs
    keys: tuple[str, ...]
    columns: tuple[str, ...]
    tracked: tuple[str, ...]
    optional: tuple[str, ...]

    @classmethod
    def of(cls, source: DataFrame, change_args: ChangeArgs) -> CdcSchema:
        """Resolve the columns of `change_args`.

        Every list may name any column of the source. Lists about the target's columns ignore columns that
        are left out of the target. Raises PipelineError for keys that the target lacks, for list entries
        that are not columns, and for sequences without an order; Spark's error for an unknown column of an
        expression propagates.

        Source: https://docs.databricks.com/aws/en/error-messages/error-classes (AUTOCDC_…)
        """
        users = source.drop(VERSION_COLUMN, DELETED_COLUMN)
        listed = SourceColumns(users)
        keys = listed.keys(change_args.keys)
        columns = listed.choose(users.columns, change_args.columns, change_args.except_columns)
        _reject_reserved(columns, change_args)
        lost = [key for key in keys if key not in columns]
        if lost:
            raise PipelineError(
                "AUTOCDC_KEY_NOT_IN_SELECTED_SCHEMA",
                f"The keys {', '.join(lost)} are not among the target's columns {', '.join(columns)}.",
                next_step="Keep the keys in column_list, or out of except_column_list.",
            )
        for parameter in ("sequence_by", "system_sequence_by"):
            given = getattr(change_args, parameter)
            if given is None:
                continue
            sequence = source.select(_expression(source, given)).schema[0].dataType
            if sequence.typeName() in _UNORDERED:
                raise PipelineError(
                    "AUTOCDC_MICROBATCH_VALIDATION.NON_ORDERABLE_SEQUENCE",
                    f"{parameter} is of type {sequence.simpleString()}, which has no order.",
                    next_step="Name a column whose values have an order, such as a timestamp or a number.",
                )
        values = [name for name in columns if name not in keys]
        tracked = listed.choose(values, change_args.tracked, change_args.untracked)
        optional = (
            listed.choose(values, change_args.ignore_null_columns, change_args.ignore_null_except)
            if change_args.ignore_null
            else values
        )
        return cls(change_args, tuple(keys), tuple(columns), tuple(tracked), tuple(optional))

    @property
    def has_whole_history(self) -> bool:
        """Whether a row has the values of each event since its start: every change starts a new row."""
        return not self.change_args.partial and {*self.keys, *self.tracked} >= {*self.columns}

    def sequence_type(self, source: DataFrame) -> DataType:
        """Return the type of the sequence, and of __START_AT and __END_AT."""
        return source.select(_expression(source, self.change_args.sequence_by)).schema[0].dataType

    def target_sequence_column(self, source: DataFrame, target: StructType) -> str | None:
        """Return the target's column that contains each row's unchanged sequence, None if it has none."""
        value = source.select(_expression(source, self.change_args.sequence_by))
        for name in self.columns:
            if name.lower() == value.columns[0].lower():
                field = next(field for field in target.fields if field.name.lower() == name.lower())
                is_plain = expression_id(value) == expression_id(source.select(column(name)))
                return name if is_plain and field.dataType == value.schema[0].dataType else None
        return None

    def output(self, source: DataFrame) -> DataFrame:
        """Select the target's columns; system columns of SCD type 2 and bitemporal tables are NULL."""
        from pyspark.sql import functions as F

        selected = source.select(*[column(name) for name in self.columns])
        if self.change_args.scd_type == 1:
            return selected
        empty = F.lit(None).cast(self.sequence_type(source))
        selected = selected.withColumns({START_AT: empty, END_AT: empty})
        if not self.change_args.bitemporal:
            return selected
        system = source.select(_expression(source, self.change_args.system_sequence_by)).schema[0].dataType
        empty = F.lit(None).cast(system)
        return selected.withColumns({SYSTEM_START_AT: empty, SYSTEM_END_AT: empty})

    def events(self, source: DataFrame, target: StructType) -> DataFrame:
        """Return the events of `source` without truncates, with values in the types of `target`."""
        from pyspark.sql import functions as F

        change_args = self.change_args
        types = {field.name.lower(): field.dataType for field in target.fields}
        given = {field.name: field.dataType for field in source.schema.fields}

        def typed(name: str) -> Column:
            wanted = types.get(name.lower(), given[name])
            return cast_by_name(column(name), given[name], wanted)

        row = [self._cell(source, name, typed(name)).alias(name) for name in self.columns]
        seq = _expression(source, change_args.sequence_by)
        if START_AT.lower() in types:
            seq = seq.cast(types[START_AT.lower()])
        system = []
        if change_args.bitemporal:
            known = _expression(source, change_args.system_sequence_by)
            if SYSTEM_START_AT.lower() in types:
                known = known.cast(types[SYSTEM_START_AT.lower()])
            system = [known.alias("__sys")]
        events = source.select(
            F.struct(*[typed(key).alias(key) for key in self.keys]).alias("__key"),
            seq.alias("__seq"),
            _is_true(change_args.deletes).alias("__delete"),
            F.struct(*row).alias("__row"),
            _is_true(change_args.truncates).alias("__truncate"),
            *system,
        )
        events = events.where(~F.col("__truncate")).drop("__truncate")
        return events.withColumn("__tie", F.expr(tie_breaker(events.schema["__row"].dataType, "__row")))

    def truncates(self, source: DataFrame) -> DataFrame | None:
        """Return one row `__truncate`, a struct of the greatest truncate's sequence; None if not declared."""
        from pyspark.sql import functions as F

        if self.change_args.truncates is None:
            return None
        seq = _expression(source, self.change_args.sequence_by)
        return source.where(_is_true(self.change_args.truncates)).agg(
            F.max(F.struct(seq.alias("__seq"))).alias("__truncate")
        )

    def _cell(self, source: DataFrame, name: str, value: Column) -> Column:
        from pyspark.sql import functions as F

        if not self.change_args.partial:
            return value
        cell = F.struct(value.alias("v"))
        if name in self.keys or name not in self.optional:
            return cell
        if self.change_args.columns_to_update is not None:
            listed = _expression(source, self.change_args.columns_to_update)
            return F.when(F.array_contains(listed, name), cell)
        return F.when(value.isNotNull(), cell)


def column(name: str, of: str | None = None) -> Column:
    """Return the column `name`, or the field of this name in the struct at the path `of`."""
    from pyspark.sql import functions as F

    return F.col(f"{of}.{quote_identifier(name)}" if of else quote_identifier(name))


def _expression(source: DataFrame, given: Any) -> Column:
    """Convert a column, a column's name or SQL text."""
    from pyspark.sql import functions as F

    if not isinstance(given, str):
        return given  # type: ignore[no-any-return]
    return column(given) if given.lower() in (name.lower() for name in source.columns) else F.expr(given)


def _is_true(condition: Any) -> Column:
    """Return whether a condition is true; NULL is not (SDP-3.6.4)."""
    from pyspark.sql import functions as F

    if condition is None:
        return F.lit(False)
    return F.coalesce(F.expr(condition) if isinstance(condition, str) else condition, F.lit(False))


def tie_breaker(row: DataType, whole: str) -> str:
    """Return SQL of a number that depends only on the values of the struct `whole` of type `row`.

    It makes the result of equal sequences independent of the order of arrival.
    """
    if any(word in row.simpleString() for word in ("map<", "variant")):
        whole = f"to_json({whole}, map('ignoreNullFields', 'false'))"
    return f"xxhash64({whole})"

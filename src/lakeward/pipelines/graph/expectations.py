"""Expectations on a DataFrame: count, then fail, then drop, all on the same rows.

    query ── observe(counts) ── filter(fail: raise; drop: leave out) ── write

`observe` is below the filter, and the optimizer moves no filter past it: no constraint is evaluated on a row
that the query itself removes."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from lakeward.errors import ExpectationViolation, PipelineError
from lakeward.pipelines.graph.elements import Expectation
from lakeward.pipelines.graph.error_location import error_chain, error_message
from lakeward.quoting import quote_identifier
from lakeward.spark_internals import analyzed_plan, frame_from_plan, plan_below_filter

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from lakeward.pipelines.graph.elements import Dataset
_MARK = "\u241elakeward expectation\u241e"
# Messages contain the plan and with it the mark; only a violation has JSON directly after it.
_MARKED = re.compile(re.escape(_MARK) + r'(\{"flow":[^\n]*\})\n(\{.*?\})' + re.escape(_MARK), re.DOTALL)


@dataclass(frozen=True)
class ExpectationCounts:
    """Counts of the rows that reached the expectations of one dataset."""

    rows: int
    dropped: int
    failed: tuple[int, ...]

    def __add__(self, other: ExpectationCounts) -> ExpectationCounts:
        failed = tuple(a + b for a, b in zip(self.failed, other.failed, strict=True))
        return ExpectationCounts(self.rows + other.rows, self.dropped + other.dropped, failed)

    @property
    def kept(self) -> int:
        return self.rows - self.dropped

    @classmethod
    def none(cls, expectations: Sequence[Expectation]) -> ExpectationCounts:
        """Return zero counts."""
        return cls(0, 0, (0,) * len(expectations))

    @classmethod
    def of(cls, metrics: Sequence[int]) -> ExpectationCounts:
        """Convert the values of the metric columns, in their order."""
        return cls(int(metrics[0]), int(metrics[1]), tuple(int(value) for value in metrics[2:]))

    def results(self, expectations: Sequence[Expectation]) -> tuple[ExpectationResult, ...]:
        return tuple(
            ExpectationResult(expectation.name, self.rows - failed, failed)
            for expectation, failed in zip(expectations, self.failed, strict=True)
        )


@dataclass(frozen=True)
class ObservedExpectations:
    """A point of a plan that counts the expectations of `dataset` under the name `metric`."""

    metric: str
    dataset: str
    expectations: tuple[Expectation, ...]
    before: DataFrame


def _condition(expectation: Expectation) -> Column:
    from pyspark.sql import functions as F

    return F.expr(expectation.constraint) if expectation.column is None else expectation.column


def _is_satisfied(expectation: Expectation) -> Column:
    from pyspark.sql import functions as F

    # NULL does not satisfy an expectation (SDP-2.1.5).
    return F.coalesce(_condition(expectation), F.lit(False))


def _metric_columns(expectations: Sequence[Expectation]) -> list[Column]:
    from pyspark.sql import functions as F

    failed = [
        F.count_if(~_is_satisfied(expectation)).alias(f"failed_{i}")
        for i, expectation in enumerate(expectations)
    ]
    drops = [~_is_satisfied(expectation) for expectation in expectations if expectation.action == "drop"]
    dropped = F.count_if(_any_of(drops) if drops else F.lit(False)).alias("dropped")
    return [F.count(F.lit(1)).alias("rows"), dropped, *failed]


def _any_of(conditions: Sequence[Column]) -> Column:
    return reduce(operator.or_, conditions)


def apply_expectations(
    df: DataFrame, expectations: Sequence[Expectation], *, metric: str | None, flow: str
) -> DataFrame:
    """Count expectations on `df` under `metric`, filter by drop expectations, raise by fail expectations.

    Nothing is counted without a `metric`.
    """
    if not expectations:
        return df

    def apply(rows: DataFrame) -> DataFrame:
        counted = rows if metric is None else rows.observe(metric, *_metric_columns(expectations))
        return _enforce_expectations(counted, expectations, flow=flow, width=len(df.columns))

    return _with_columns_below(df, expectations, apply)


def _with_columns_below(
    df: DataFrame, expectations: Sequence[Expectation], function: Callable[[DataFrame], DataFrame]
) -> DataFrame:
    """Call `function` on `df`; with the columns that constraints name and the last projection of `df` leaves
    out, if they cannot be evaluated otherwise.

    A constraint is a filter on Databricks, and Spark lets a filter name the columns below a projection: after
    `withColumnRenamed("id", "key")` a constraint may name `id`.
    """
    from pyspark.errors import AnalysisException

    try:
        return function(df)
    except AnalysisException:
        below = _frame_with_columns_below(df, expectations)
        if below is None:
            raise
        rows, added = below
        return function(rows).drop(*added)


def _frame_with_columns_below(
    df: DataFrame, expectations: Sequence[Expectation]
) -> tuple[DataFrame, list[str]] | None:
    """Return `df` with the columns that Spark adds below a filter by all constraints, and their names."""
    plan = plan_below_filter(df.where(reduce(operator.and_, map(_condition, expectations))))
    if plan is None:
        return None
    rows = frame_from_plan(df.sparkSession, plan)
    count = len(df.columns)
    added = rows.columns[count:]
    known = {name.lower() for name in df.columns}
    if rows.columns[:count] != df.columns or not added or any(name.lower() in known for name in added):
        return None
    return rows, added


def kept_rows(df: DataFrame, expectations: Sequence[Expectation]) -> DataFrame:
    """Filter by drop expectations alone."""
    drops = [~_is_satisfied(expectation) for expectation in expectations if expectation.action == "drop"]
    return df.where(~_any_of(drops)) if drops else df


def split_dropped_keys(
    keys: DataFrame, names: Sequence[str], expectations: Sequence[Expectation]
) -> tuple[DataFrame, DataFrame | None]:
    """Separate the keys whose rows are all dropped, whatever the other columns of these rows are.

    Args:
        keys: Values of key columns.
        names: The names of these columns in the dataset.
        expectations: The dataset's expectations. One that fails the flow examines all rows of a group, so
            with such a one no key is separated.

    Returns:
        The other keys, and the dropped ones; None if there are none.
    """
    from pyspark.errors import AnalysisException

    # A group has one of several spellings of a float: -0.0 is 0.0.
    inexact = any("float" in kind or "double" in kind for _, kind in keys.dtypes)
    if inexact or any(each.action == "fail" for each in expectations):
        return keys, None
    named = keys.toDF(*names)
    drops = []
    for each in expectations:
        if each.action != "drop":
            continue
        try:
            plan: Any = analyzed_plan(named.where(_is_satisfied(each)))
        except AnalysisException:
            continue
        if plan.deterministic():
            drops.append(each)
    if not drops:
        return keys, None
    dropped = named.where(_any_of([~_is_satisfied(each) for each in drops]))
    if dropped.isEmpty():
        return keys, None
    return kept_rows(named, drops).toDF(*keys.columns), dropped.toDF(*keys.columns)


def _enforce_expectations(
    df: DataFrame, expectations: Sequence[Expectation], *, flow: str, width: int
) -> DataFrame:
    """Filter by drop expectations and raise by fail expectations.

    A violation shows the first `width` columns of the record.
    """
    from pyspark.sql import functions as F

    drops = [~_is_satisfied(expectation) for expectation in expectations if expectation.action == "drop"]
    fails = [expectation for expectation in expectations if expectation.action == "fail"]
    kept = ~_any_of(drops) if drops else F.lit(True)
    if fails:
        broken = _any_of([~_is_satisfied(expectation) for expectation in fails])
        names = df.columns
        shown = ["*"] if width == len(names) else [quote_identifier(name) for name in names[:width]]
        kept = F.when(broken, F.raise_error(_violation_report(fails, flow, shown))).otherwise(kept)
    return df.where(kept) if drops or fails else df


def _violation_report(fails: Sequence[Expectation], flow: str, shown: Sequence[str]) -> Column:
    from pyspark.sql import functions as F

    names = F.array_compact(
        F.array(*[F.when(~_is_satisfied(expectation), F.lit(expectation.name)) for expectation in fails])
    )
    head = F.to_json(F.struct(F.lit(flow).alias("flow"), names.alias("expectations")))
    record = F.to_json(F.struct(*shown), {"ignoreNullFields": "false"})
    return F.concat(F.lit(_MARK), head, F.lit("\n"), record, F.lit(_MARK))


def find_violation(error: BaseException) -> ExpectationViolation | None:
    """Return the violation that made a query fail, None if it failed for another reason (SDP-2.1.8)."""
    for message in error_chain(error):
        match = _MARKED.search(message)
        if match:
            named, record = json.loads(match[1]), match[2]
            expectations = ", ".join(named["expectations"])
            return ExpectationViolation(
                "EXPECTATION_VIOLATION.VERBOSITY_OUTPUT",
                f"Flow '{named['flow']}' failed to meet the expectation. "
                f"Violated expectations: '{expectations}'. Output record: '{record}'. SQLSTATE: 22000",
            )
    return None


def invalid_expectations(df: DataFrame, dataset: Dataset) -> list[PipelineError]:
    """Return an error with Spark's condition for each expectation that Spark cannot evaluate on `df`."""
    from pyspark.errors import PySparkException

    errors = []
    for expectation in dataset.expectations:
        try:
            df.where(_condition(expectation))
        except PySparkException as error:
            errors.append(
                PipelineError(
                    error.getCondition() or "INVALID_EXPECTATION",
                    f"{dataset.location}: the expectation '{expectation.name}' on `{dataset.name}` cannot be "
                    "evaluated: "
                    f"{expectation.constraint} — {error_message(error)}",
                    next_step="An expectation is a SQL condition over the dataset's columns.",
                )
            )
    return errors


def count_expectations(df: DataFrame, expectations: Sequence[Expectation]) -> ExpectationCounts:
    """Count expectations with a separate query, where no metric can be trusted."""
    counts = _with_columns_below(df, expectations, lambda rows: rows.agg(*_metric_columns(expectations)))
    row: Any = counts.collect()[0]
    return ExpectationCounts.of(list(row))


@dataclass(frozen=True)
class ExpectationResult:
    """Number of records that satisfied one expectation in this update, and of those that did not."""

    name: str
    passed: int
    failed: int


@dataclass
class CountedExpectations:
    """Counts of the expectations of `dataset`; None if no count can be trusted."""

    dataset: str
    expectations: tuple[Expectation, ...]
    counts: ExpectationCounts | None

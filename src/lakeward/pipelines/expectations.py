"""Expectations on a DataFrame: count, fail, drop (spec §2.1), in this order on the same rows.

    query ── observe(counts) ── filter(fail: raise; drop: leave out) ── write

`observe` stands below the filter and is a wall for the optimizer: no rule is ever evaluated on a row that
the query itself would have removed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeward.errors import ExpectationViolation, PipelineError
from lakeward.pipelines.blame import causes, clean
from lakeward.pipelines.elements import Rule
from lakeward.pipelines.model import ExpectationResult

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["Counts", "Observed", "apply", "count_now", "invalid", "violation"]

_MARK = "\u241elakeward expectation\u241e"
# Spark puts the plan into messages, and with it the mark; only a report has JSON right behind it.
_MARKED = re.compile(re.escape(_MARK) + r'(\{"flow":[^\n]*\})\n(\{.*?\})' + re.escape(_MARK), re.DOTALL)


@dataclass(frozen=True)
class Counts:
    """What was counted on the rows that reached the rules of one dataset."""

    rows: int
    dropped: int
    failed: tuple[int, ...]

    def __add__(self, other: Counts) -> Counts:
        failed = tuple(a + b for a, b in zip(self.failed, other.failed, strict=True))
        return Counts(self.rows + other.rows, self.dropped + other.dropped, failed)

    @property
    def kept(self) -> int:
        return self.rows - self.dropped

    @classmethod
    def none(cls, rules: Sequence[Rule]) -> Counts:
        """Nothing was evaluated."""
        return cls(0, 0, (0,) * len(rules))

    @classmethod
    def of(cls, metrics: Sequence[int]) -> Counts:
        """From the values of the metric columns, in their order."""
        return cls(int(metrics[0]), int(metrics[1]), tuple(int(value) for value in metrics[2:]))

    def results(self, rules: Sequence[Rule]) -> tuple[ExpectationResult, ...]:
        return tuple(
            ExpectationResult(rule.name, self.rows - failed, failed)
            for rule, failed in zip(rules, self.failed, strict=True)
        )


@dataclass(frozen=True)
class Observed:
    """One place in a plan where the rules of `dataset` are counted, under the metric name `metric`."""

    metric: str
    dataset: str
    rules: tuple[Rule, ...]
    before: DataFrame


def _satisfied(rule: Rule) -> Column:
    from pyspark.sql import functions as F

    # NULL is not satisfied (§2.1.5).
    return F.coalesce(F.expr(rule.constraint), F.lit(False))


def _metrics(rules: Sequence[Rule]) -> list[Column]:
    from pyspark.sql import functions as F

    failed = [F.count_if(~_satisfied(rule)).alias(f"failed_{i}") for i, rule in enumerate(rules)]
    drops = [~_satisfied(rule) for rule in rules if rule.action == "drop"]
    dropped = F.count_if(_any(drops) if drops else F.lit(False)).alias("dropped")
    return [F.count(F.lit(1)).alias("rows"), dropped, *failed]


def _any(conditions: Sequence[Column]) -> Column:
    whole = conditions[0]
    for condition in conditions[1:]:
        whole = whole | condition
    return whole


def apply(df: DataFrame, rules: Sequence[Rule], *, metric: str, flow: str) -> DataFrame:
    """`df` with its rules counted under `metric`, drop rules applied and fail rules armed."""
    from pyspark.sql import functions as F

    if not rules:
        return df
    df = df.observe(metric, *_metrics(rules))
    drops = [~_satisfied(rule) for rule in rules if rule.action == "drop"]
    fails = [rule for rule in rules if rule.action == "fail"]
    kept = ~_any(drops) if drops else F.lit(True)
    if fails:
        broken = _any([~_satisfied(rule) for rule in fails])
        kept = F.when(broken, F.raise_error(_report(fails, flow))).otherwise(kept)
    return df.where(kept) if drops or fails else df


def _report(fails: Sequence[Rule], flow: str) -> Column:
    from pyspark.sql import functions as F

    names = F.array_compact(F.array(*[F.when(~_satisfied(rule), F.lit(rule.name)) for rule in fails]))
    head = F.to_json(F.struct(F.lit(flow).alias("flow"), names.alias("rules")))
    record = F.to_json(F.struct("*"), {"ignoreNullFields": "false"})
    return F.concat(F.lit(_MARK), head, F.lit("\n"), record, F.lit(_MARK))


def violation(error: BaseException) -> ExpectationViolation | None:
    """The violation that made a query fail, None when it failed for another reason (§2.1.8)."""
    for message in causes(error):
        match = _MARKED.search(message)
        if match:
            named, record = json.loads(match[1]), match[2]
            rules = ", ".join(named["rules"])
            return ExpectationViolation(
                "EXPECTATION_VIOLATION.VERBOSITY_OUTPUT",
                f"Flow '{named['flow']}' failed to meet the expectation. "
                f"Violated expectations: '{rules}'. Output record: '{record}'. SQLSTATE: 22000",
            )
    return None


def invalid(df: DataFrame, rules: Sequence[Rule], dataset: str) -> list[PipelineError]:
    """The rules that Spark cannot evaluate on `df`, each with Spark's own condition."""
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as F

    errors = []
    for rule in rules:
        try:
            df.where(F.expr(rule.constraint))
        except PySparkException as error:
            errors.append(
                PipelineError(
                    error.getCondition() or "INVALID_EXPECTATION",
                    f"The expectation '{rule.name}' on `{dataset}` cannot be evaluated: "
                    f"{rule.constraint} — {clean(error)}",
                    next_step="An expectation is a SQL condition over the dataset's columns.",
                )
            )
    return errors


def count_now(df: DataFrame, rules: Sequence[Rule]) -> Counts:
    """Count by a query of its own: for where Spark gave no trustworthy metric."""
    row: Any = df.agg(*_metrics(rules)).collect()[0]
    return Counts.of(list(row))

"""The techniques of refreshing a view, the decision for one update, and what it depends on.

What a view's refresh policy demands of one update:

| policy | incremental possible | not possible in this update | first computation |
|---|---|---|---|
| AUTO | the cheaper one | recompute | recompute |
| INCREMENTAL | incremental | recompute | recompute; an error if the query cannot be incremental |
| INCREMENTAL STRICT | incremental | an error | recompute; an error if the query cannot be incremental |
| FULL | recompute | recompute | recompute |
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from lakeward.errors import PipelineError
from lakeward.pipelines.graph.elements import Dataset


@dataclass(frozen=True)
class Issue:
    """A reason why a view is not refreshed incrementally, with the names of the platform's event log.

    Attributes:
        type: The platform's `issue_type`.
        text: The reason for people, with the next step.
        sub_type: The detail of PLAN_NOT_INCREMENTALIZABLE and PLAN_NOT_DETERMINISTIC.
        operator: The operator that causes it.
        expression: The expression that causes it.
        table: The source that causes it.
        line: Line of the operator in the view's query.
    """

    type: str
    text: str
    sub_type: str | None = None
    operator: str | None = None
    expression: str | None = None
    table: str | None = None
    line: int | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the object of the event log."""
        sub_type = {
            "PLAN_NOT_INCREMENTALIZABLE": "plan_not_incrementalizable_sub_type",
            "PLAN_NOT_DETERMINISTIC": "plan_not_deterministic_sub_type",
        }.get(self.type, "sub_type")
        found = {
            "issue_type": self.type,
            "prevent_incrementalization": True,
            "operator_name": self.operator,
            "expression_name": self.expression,
            sub_type: self.sub_type,
            "table_information": {"table_name": self.table} if self.table else None,
            "line": self.line,
            "message": self.text,
        }
        return {key: value for key, value in found.items() if value is not None}


def unsupported_operator(operator: str, text: str, *, line: int | None, sub_type: str | None = None) -> Issue:
    """Return the issue of an operator that cannot be refreshed incrementally."""
    where = f" (line {line})" if line else ""
    return Issue(
        "PLAN_NOT_INCREMENTALIZABLE",
        f"{operator}{where}: {text}",
        sub_type=sub_type or "OPERATOR_NOT_SUPPORTED",
        operator=operator,
        line=line,
    )


def nondeterministic(operator: str, expression: str, sub_type: str, *, line: int | None) -> Issue:
    """Return the issue of an expression that gives a different value in every run."""
    where = f" (line {line})" if line else ""
    what = {
        "TIME_FUNCTION": "depends on when the update runs",
        "USER_DEFINED_FUNCTION": "is a function that is not deterministic",
    }.get(sub_type, "is not deterministic")
    return Issue(
        "PLAN_NOT_DETERMINISTIC",
        f"{expression}{where} {what}.",
        sub_type=sub_type,
        operator=operator,
        expression=expression,
        line=line,
    )


MaintenanceType = Literal[
    "NO_OP",
    "APPEND_ONLY",
    "ROW_BASED",
    "GROUP_AGGREGATE",
    "GENERIC_AGGREGATE",
    "WINDOW_FUNCTION",
    "PARTITION_OVERWRITE",
    "COMPLETE_RECOMPUTE",
]


@dataclass(frozen=True)
class Technique:
    """One way to refresh a view; `cost` is an estimate in bytes, None if it was not estimated."""

    type: MaintenanceType
    cost: float | None = None
    issues: tuple[Issue, ...] = ()


@dataclass
class RefreshPlan:
    """The technique that an update has chosen for a view, and the others that it considered."""

    chosen: MaintenanceType
    techniques: list[Technique] = field(default_factory=list)
    sources: list[dict[str, Any]] = field(default_factory=list)

    @property
    def is_incremental(self) -> bool:
        return self.chosen != "COMPLETE_RECOMPUTE"

    @property
    def issues(self) -> tuple[Issue, ...]:
        """Return the reasons that prevented an incremental refresh."""
        return tuple(dict.fromkeys(issue for each in self.techniques for issue in each.issues))

    @property
    def reason(self) -> str:
        """Return the first reason for a complete recomputation, empty for an incremental refresh."""
        return "" if self.is_incremental or not self.issues else self.issues[0].text

    def choose(self, technique: Technique) -> None:
        """Refresh the view with this technique instead of the chosen one."""
        self.chosen = technique.type
        self.techniques = [technique, *(each for each in self.techniques if each.type != technique.type)]

    def as_json(self) -> dict[str, Any]:
        """Return the details of the event `planning_information`."""
        return {
            "technique_information": [
                {
                    "maintenance_type": f"MAINTENANCE_TYPE_{each.type}",
                    "is_chosen": each.type == self.chosen,
                    "is_applicable": True,
                    **({"cost": each.cost} if each.cost is not None else {}),
                    **(
                        {"incrementalization_issues": [issue.as_json() for issue in each.issues]}
                        if each.issues
                        else {}
                    ),
                }
                for each in self.techniques
            ],
            "source_table_information": self.sources,
        }


def recompute(*issues: Issue, cost: float | None = None, sources: Any = ()) -> RefreshPlan:
    """Return the plan of a complete recomputation for these reasons."""
    technique = Technique("COMPLETE_RECOMPUTE", cost, issues)
    return RefreshPlan("COMPLETE_RECOMPUTE", [technique], list(sources))


@dataclass(frozen=True)
class ViewUpdate:
    """What the refresh of a view reads of its update.

    Attributes:
        owner: Name of the pipeline.
        update_id: Identifier of the update.
        code: Hash of the user's code.
        conf: Settings of the pipeline and the flow.
        full_refresh: Whether the view is written even if nothing changed.
        on_plan: Called once, with the technique that refreshes the view.
        now: Returns the time in seconds since 1970, for `current_date()` and the like.
        storage: Folder of the pipeline.
    """

    owner: str
    update_id: str
    code: str
    conf: Mapping[str, str]
    full_refresh: bool
    on_plan: Callable[[RefreshPlan], None] = lambda _: None
    now: Callable[[], float] = time.time
    storage: Path | None = None


_CONDITION = "MATERIALIZED_VIEW_NOT_INCREMENTALIZABLE"
_SUB_CONDITIONS = {
    "AGGREGATE_NOT_TOP_NODE": "AGGREGATE_NOT_TOP_NODE",
    "WINDOW_FUNCTION_NOT_TOP_LEVEL": "OPERATOR_NOT_INCREMENTALIZABLE",
    "WINDOW_FUNCTION_WITHOUT_PARTITION_BY": "WINDOW_WITHOUT_PARTITION_BY",
    "SUBQUERY_EXPRESSION": "SUBQUERY_EXPRESSION_NOT_INCREMENTALIZABLE",
    "USER_DEFINED_FUNCTION": "UDF_NOT_DETERMINISTIC",
    "TIME_FUNCTION": "EXPRESSION_NOT_DETERMINISTIC",
    "NON_DETERMINISTIC_EXPRESSION": "EXPRESSION_NOT_DETERMINISTIC",
}


def require_incremental(dataset: Dataset, issues: tuple[Issue, ...], *, is_eligible: bool) -> None:
    """Raise PipelineError if the policy of a view forbids its recomputation for these reasons.

    Args:
        dataset: The view.
        issues: Why it is recomputed.
        is_eligible: Whether its query can be refreshed incrementally at all.
    """
    policy = dataset.options.refresh_policy
    if policy not in ("incremental", "incremental_strict") or not issues:
        return
    is_first = any(issue.type in FIRST_COMPUTATION for issue in issues)
    if is_eligible and (policy == "incremental" or is_first):
        return
    issue = issues[0]
    detail = _SUB_CONDITIONS.get(issue.sub_type or "", "OPERATOR_NOT_INCREMENTALIZABLE")
    detail = issue.type if issue.type not in _PLAN_ISSUES else detail
    text = policy.replace("_", " ").upper()
    raise PipelineError(
        f"{_CONDITION}.{detail}",
        f"`{dataset.name}` has the policy {text}, but cannot be refreshed incrementally: {issue.text}",
        next_step="Change the query, or the policy to AUTO."
        if not is_eligible
        else "Refresh the view fully, or change the policy to INCREMENTAL.",
    )


_PLAN_ISSUES = ("PLAN_NOT_INCREMENTALIZABLE", "PLAN_NOT_DETERMINISTIC")
FIRST_COMPUTATION = frozenset(("CHANGE_SET_MISSING", "QUERY_FINGERPRINT_CHANGED", "CONFIGURATION_CHANGED"))
"""Issues after which a view is initialized again, whatever changed in its sources."""

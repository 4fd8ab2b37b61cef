"""What a view's refresh policy demands of one update.

| policy | incremental possible | not possible in this update | first computation |
|---|---|---|---|
| AUTO | the cheaper one | recompute | recompute |
| INCREMENTAL | incremental | recompute | recompute; an error if the query cannot be incremental |
| INCREMENTAL STRICT | incremental | an error | recompute; an error if the query cannot be incremental |
| FULL | recompute | recompute | recompute |
"""

from __future__ import annotations

from lakeward.errors import PipelineError
from lakeward.pipelines.graph.elements import Dataset
from lakeward.pipelines.incremental.issues import Issue

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

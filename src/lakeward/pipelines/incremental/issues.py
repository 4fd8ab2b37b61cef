"""Reasons why a view is not refreshed incrementally, with the names that the platform's event log has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Issue:
    """One reason.

    Attributes:
        type: The platform's `issue_type`.
        text: The reason for people, with the next step.
        sub_type: The detail of PLAN_NOT_INCREMENTALIZABLE and PLAN_NOT_DETERMINISTIC.
        operator: The operator that causes it.
        expression: The expression that causes it.
        table: The source that causes it.
        line: Line of the operator in the view's query.
        prevents: Whether it prevented the incremental refresh.
    """

    type: str
    text: str
    sub_type: str | None = None
    operator: str | None = None
    expression: str | None = None
    table: str | None = None
    line: int | None = None
    prevents: bool = True

    def as_json(self) -> dict[str, Any]:
        """Return the object of the event log."""
        sub_type = {
            "PLAN_NOT_INCREMENTALIZABLE": "plan_not_incrementalizable_sub_type",
            "PLAN_NOT_DETERMINISTIC": "plan_not_deterministic_sub_type",
        }.get(self.type, "sub_type")
        found = {
            "issue_type": self.type,
            "prevent_incrementalization": self.prevents,
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

"""Parameters of statements, without a session."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from lakeward.workspace.statement_process import arguments_of


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        ("2", "INT", 2),
        ("2", None, "2"),
        ("1.50", "DECIMAL(10,2)", Decimal("1.50")),
        ("2026-01-02", "DATE", date(2026, 1, 2)),
        ("FALSE", "BOOLEAN", False),
        (None, "INT", None),
    ],
)
def test_a_parameter_has_the_value_of_its_type(value: str | None, kind: str | None, expected: Any) -> None:
    assert arguments_of([{"name": "p", "value": value, "type": kind}]) == {"p": expected}


@pytest.mark.parametrize(("value", "kind"), [("x", "INT"), ("maybe", "BOOLEAN"), ("today", "DATE")])
def test_a_parameter_that_is_not_of_its_type_is_refused(value: str, kind: str) -> None:
    with pytest.raises(ValueError, match=value):
        arguments_of([{"name": "p", "value": value, "type": kind}])

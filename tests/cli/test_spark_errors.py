"""Spark's errors condensed: condition and message stay, plans and stacks go."""

from __future__ import annotations

import pytest

from lakeward.cli.spark_errors import condense_error, did_you_mean_table
from lakeward.seeds import missing_table

NOT_FOUND = (
    "[TABLE_OR_VIEW_NOT_FOUND] The table or view `bronz` cannot be found. "
    "Verify the spelling and correctness of the schema and catalog.\n"
    "Search path: [`system`.`builtin`, `system`.`session`, `main`.`default`].\n"
    "If you did not qualify the name with a schema, verify the current_schema() output, or qualify the name "
    "with the correct schema and catalog.\n"
    "To tolerate the error on drop use DROP VIEW IF EXISTS or DROP TABLE IF EXISTS. SQLSTATE: 42P01; "
    "line 1 pos 14;\n'Project [*]\n+- 'UnresolvedRelation [bronz], [], false\n"
)
PARSE = (
    "\n[PARSE_SYNTAX_ERROR] Syntax error at or near 'form'. SQLSTATE: 42601 (line 1, pos 9)\n\n"
    "== SQL ==\nselect * form t\n---------^^^\n"
)
JVM = (
    "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012\n\nJVM stacktrace:\n"
    "org.apache.spark.X\n\tat a.B.c(D:1)"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            NOT_FOUND,
            (
                "[TABLE_OR_VIEW_NOT_FOUND] The table or view `bronz` cannot be found. SQLSTATE: 42P01; "
                "line 1 pos 14"
            ),
        ),
        (PARSE, PARSE.strip()),
        (JVM, "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012"),
        (
            "org.apache.spark.SparkException: Job aborted.\n\tat org.apache.spark.X.y(Z.scala:1)",
            "Job aborted.",
        ),
        ("[X] two\nlines stay", "[X] two\nlines stay"),
    ],
)
def test_only_what_the_user_can_use_remains(text: str, expected: str) -> None:
    assert condense_error(text) == expected


def test_the_missing_name_has_its_parts() -> None:
    assert missing_table(NOT_FOUND) == ["bronz"]
    text = "[TABLE_OR_VIEW_NOT_FOUND] The table or view `a`.`b ``c`.`d.e` cannot be found."
    assert missing_table(text) == ["a", "b `c", "d.e"]
    assert missing_table(PARSE) is None


def test_near_misses_come_first_and_otherwise_what_there_is() -> None:
    assert did_you_mean_table("bronz", ["gold", "bronze"]).endswith("Did you mean bronze?")
    assert did_you_mean_table("zzz", ["gold", "bronze"]).endswith("There are: bronze, gold.")
    assert did_you_mean_table("zzz", []).endswith("There are no tables in this schema yet.")

"""CREATE POLICY: row filters and column masks of all tables with certain tags, for certain principals (ABAC).

A policy is stored with its catalog, schema or table. What of it holds is decided when a table is read
(`TagPolicies.java`). Sources: https://docs.databricks.com/aws/en/sql/language-manual/sql-ref-syntax-ddl-create-policy
and https://docs.databricks.com/aws/en/data-governance/unity-catalog/abac/policy-evaluation
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeward.errors import SqlError
from lakeward.sql.construct import Command, Construct, RewriteResult, Rows, in_area, syntax_error
from lakeward.sql.constructs.governance import Securable, read_securable
from lakeward.sql.constructs.policies import read_arguments
from lakeward.sql.constructs.tag_policy_evaluation import (
    POLICIES,
    ColumnMatch,
    TagPolicy,
    condition_holds,
    invalid_policy,
)
from lakeward.sql.session_context import metadata_levels
from lakeward.sql.token_cursor import TokenCursor, Unmatched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_KINDS = ("CATALOG", "SCHEMA", "DATABASE", "TABLE")


@dataclass(frozen=True)
class CreatePolicy(Command):
    """Adds or replaces a policy."""

    name: str
    securable: Securable
    policy: TagPolicy
    replaces: bool

    def run(self, spark: SparkSession) -> None:
        context, full = self.securable.require(spark)
        existing = context.metadata(self.securable.kind, full).get(POLICIES, {})
        if self.name.lower() in existing and not self.replaces:
            raise SqlError(
                "POLICY_ALREADY_EXISTS",
                f"Cannot create policy '{self.name}' because it already exists on {'.'.join(full)}.",
                sql_state="42000",
                next_step="Use CREATE OR REPLACE POLICY, or drop it first.",
            )
        _, function = Securable("FUNCTION", self.policy.function).require(spark)
        conditions = [self.policy.when, *(match.condition for match in self.policy.matches)]
        for condition in conditions:
            condition_holds(condition, {})
        known = self.policy.aliases()
        used = [self.policy.column, *(argument.column for argument in self.policy.arguments)]
        if unknown := [alias for alias in used if alias is not None and alias.lower() not in known]:
            raise invalid_policy(f"{unknown[0]} is no alias of MATCH COLUMNS")
        stored = {**self.policy.stored(self.name), "function": list(function)}
        self.securable.update(spark, **{POLICIES: {**existing, self.name.lower(): stored}})


@dataclass(frozen=True)
class DropPolicy(Command):
    """Removes a policy."""

    name: str
    securable: Securable

    def run(self, spark: SparkSession) -> None:
        existing = self.securable.metadata(spark).get(POLICIES, {})
        _require(existing, self.name, self.securable)
        kept = {name: policy for name, policy in existing.items() if name != self.name.lower()}
        self.securable.update(spark, **{POLICIES: kept})


@dataclass(frozen=True)
class ShowPolicies(Command):
    """Lists the policies of an object; with `effective` those of its schema and catalog, too."""

    securable: Securable
    effective: bool

    def run(self, spark: SparkSession) -> Rows:
        context, full = self.securable.require(spark)
        levels = metadata_levels(self.securable.kind, full)
        rows = [
            [policy["name"], policy["kind"], kind, ".".join(name)]
            for kind, name in (levels if self.effective else levels[-1:])
            for policy in context.metadata(kind, name).get(POLICIES, {}).values()
        ]
        if not self.effective:
            return Rows("`Policy Name` STRING, `Policy Type` STRING", [row[:2] for row in rows])
        columns = (
            "`Policy Name` STRING, `Policy Type` STRING, `On Securable Type` STRING, `On Securable` STRING"
        )
        return Rows(columns, rows)


@dataclass(frozen=True)
class DescribePolicy(Command):
    """Shows a policy as names and values; what is not set is left out."""

    name: str
    securable: Securable

    def run(self, spark: SparkSession) -> Rows:
        context, full = self.securable.require(spark)
        existing = context.metadata(self.securable.kind, full).get(POLICIES, {})
        stored = _require(existing, self.name, self.securable)
        policy = TagPolicy.of(stored)
        matches = [
            f"{match.condition} AS {match.alias}" if match.alias else match.condition
            for match in policy.matches
        ]
        arguments = [str(argument.column or argument.literal) for argument in policy.arguments]
        lines = [
            ("Name", stored["name"]),
            ("Comment", policy.comment),
            ("On Securable Type", self.securable.kind),
            ("On Securable", ".".join(full)),
            ("To Principals", ", ".join(policy.to)),
            ("Except Principals", ", ".join(policy.exempt)),
            ("For Securable Type", "TABLE"),
            ("When Condition", policy.when),
            ("Match Columns", ", ".join(matches)),
            ("Policy Type", policy.kind),
            ("Function Name", ".".join(policy.function)),
            ("On Column", policy.column),
            ("Using Columns", ", ".join(arguments)),
        ]
        return Rows("info_name STRING, info_value STRING", [[name, value] for name, value in lines if value])


def _require(existing: Mapping[str, Any], name: str, securable: Securable) -> Mapping[str, Any]:
    found: Mapping[str, Any] | None = existing.get(name.lower())
    if found is None:
        raise SqlError(
            "POLICY_NOT_FOUND",
            f"Policy '{name}' was not found on {securable.kind.lower()} {'.'.join(securable.name)}.",
            sql_state="22023",
            next_step="SHOW POLICIES lists those of an object.",
        )
    return found


def _create(cursor: TokenCursor) -> RewriteResult:
    cursor.need("CREATE")
    replaces = cursor.words("OR", "REPLACE")
    cursor.need("POLICY")
    try:
        return _definition(cursor, replaces=replaces)
    except Unmatched:
        return syntax_error(cursor, "CREATE POLICY")


def _definition(cursor: TokenCursor, *, replaces: bool) -> CreatePolicy:
    name, securable = _name_and_securable(cursor)
    comment = cursor.string() if cursor.words("COMMENT") else None
    kind = cursor.phrase("ROW FILTER", "COLUMN MASK")
    if kind is None:
        raise Unmatched("ROW FILTER", "COLUMN MASK")
    function = cursor.name(3)
    cursor.need("TO")
    to = cursor.separated(cursor.part_or_string)
    exempt = cursor.separated(cursor.part_or_string) if cursor.words("EXCEPT") else []
    cursor.need("FOR", "TABLES")
    when = _condition(cursor) if cursor.words("WHEN") else None
    matches = cursor.separated(lambda: _match(cursor)) if cursor.words("MATCH", "COLUMNS") else []
    column = None
    if kind == "COLUMN MASK":
        cursor.need("ON", "COLUMN")
        column = cursor.part()
    arguments = read_arguments(cursor) if cursor.words("USING", "COLUMNS") else []
    cursor.end()
    policy = TagPolicy(
        kind.replace(" ", "_"), function, to, exempt, when, matches, column, arguments, comment
    )
    return CreatePolicy(name, securable, policy, replaces)


def _name_and_securable(cursor: TokenCursor) -> tuple[str, Securable]:
    name = cursor.part()
    cursor.need("ON")
    return name, read_securable(cursor, _KINDS)


def _match(cursor: TokenCursor) -> ColumnMatch:
    condition = _condition(cursor)
    has_alias = cursor.words("AS") or (cursor.next is not None and cursor.next.is_name)
    is_clause = cursor.word in ("ON", "USING")
    return ColumnMatch(condition, cursor.part() if has_alias and not is_clause else None)


def _condition(cursor: TokenCursor) -> str:
    """Read a condition up to the next clause, comma or alias."""
    begin = cursor.at
    while (
        cursor.next is not None
        and cursor.next.text != ","
        and cursor.word not in ("AS", "MATCH", "ON", "USING")
    ):
        is_complete = cursor.at > begin and cursor.read(begin)[-1].text == ")"
        if is_complete and cursor.next.is_name and cursor.word not in ("AND", "OR"):
            break
        cursor.skip()
    if cursor.at == begin:
        raise Unmatched("a condition")
    return cursor.text(begin)


def _drop(cursor: TokenCursor) -> DropPolicy:
    cursor.need("DROP", "POLICY")
    name, securable = _name_and_securable(cursor)
    cursor.end()
    return DropPolicy(name, securable)


def _describe(cursor: TokenCursor) -> DescribePolicy:
    cursor.one_of("DESCRIBE", "DESC")
    cursor.need("POLICY")
    name, securable = _name_and_securable(cursor)
    cursor.end()
    return DescribePolicy(name, securable)


def _show(cursor: TokenCursor) -> ShowPolicies:
    cursor.need("SHOW")
    effective = cursor.words("EFFECTIVE")
    cursor.need("POLICIES", "ON")
    securable = read_securable(cursor, _KINDS)
    cursor.end()
    return ShowPolicies(securable, effective)


_TEST = "tests/sql/test_tag_policies.py"
CONSTRUCTS = in_area(
    "Governance",
    Construct(
        name="CREATE POLICY, CREATE OR REPLACE POLICY",
        example=(
            "CREATE POLICY hide ON SCHEMA main.default COLUMN MASK main.default.hidden "
            "TO `account users` FOR TABLES MATCH COLUMNS has_tag('pii') AS c ON COLUMN c"
        ),
        note=(
            "row filters and column masks of catalogs, schemas and tables by tags; enforced as SET ROW "
            "FILTER and SET MASK are. Groups come from `spark.lakeward.groups` or LAKEWARD_GROUPS; columns "
            "inherit no tags"
        ),
        statement=_create,
        test=_TEST,
    ),
    Construct(
        name="DROP POLICY",
        example="DROP POLICY hide ON SCHEMA main.default",
        statement=_drop,
        test=_TEST,
    ),
    Construct(
        name="SHOW POLICIES, SHOW EFFECTIVE POLICIES",
        example="SHOW EFFECTIVE POLICIES ON TABLE t",
        statement=_show,
        test=_TEST,
    ),
    Construct(
        name="DESCRIBE POLICY, DESC POLICY",
        example="DESCRIBE POLICY hide ON SCHEMA main.default",
        starts=("DESCRIBE", "DESC"),
        note="without the times and users of changes",
        statement=_describe,
        test=_TEST,
    ),
)

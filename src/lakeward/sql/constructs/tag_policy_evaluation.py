"""What the policies of catalogs, schemas and tables mean for a table and its reader.

Source: https://docs.databricks.com/aws/en/data-governance/unity-catalog/abac/policy-evaluation
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from lakeward.errors import SqlError
from lakeward.quoting import quote_identifier, quote_name
from lakeward.spark_internals import java_session
from lakeward.sql.construct import register_function
from lakeward.sql.constructs.functions import user_groups
from lakeward.sql.constructs.policies import Argument
from lakeward.sql.session_context import current_context, metadata_levels

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

POLICIES = "policies"
"""The key of the policies in an object's metadata."""

_HAS_TAG = ("has_tag", "hastag")
_HAS_VALUE = ("has_tag_value", "hastagvalue")


@dataclass(frozen=True)
class ColumnMatch:
    """A condition for columns, and the name by which other clauses mean the columns."""

    condition: str
    alias: str | None = None


@dataclass(frozen=True)
class TagPolicy:
    """One policy.

    Attributes:
        kind: ROW_FILTER or COLUMN_MASK.
        function: The full name of the function.
        to: Users and groups that the policy applies to.
        exempt: Users and groups that it does not apply to.
        when: The condition for tables, None for all.
        matches: The conditions for columns: each must match one.
        column: The alias of the columns that a mask is for.
        arguments: The function's arguments: aliases as columns, and literals.
        comment: The description.
    """

    kind: str
    function: list[str]
    to: list[str]
    exempt: list[str] = field(default_factory=list)
    when: str | None = None
    matches: list[ColumnMatch] = field(default_factory=list)
    column: str | None = None
    arguments: list[Argument] = field(default_factory=list)
    comment: str | None = None

    def stored(self, name: str) -> dict[str, Any]:
        """Return the policy as the metadata stores it, under the name that the user has written."""
        return {**asdict(self), "name": name}

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> TagPolicy:
        """Return the policy that `stored` has made."""
        import msgspec

        return msgspec.convert({key: value for key, value in stored.items() if key != "name"}, cls)

    def aliases(self) -> set[str]:
        """Return the aliases that columns are matched under, in lower case."""
        return {match.alias.lower() for match in self.matches if match.alias is not None}


def invalid_policy(reason: str) -> SqlError:
    """Return the error of a policy that can never be evaluated."""
    return SqlError("UC_INVALID_POLICY_CONDITION", f"Invalid policy: {reason}.", sql_state="22023")


def condition_holds(condition: str | None, tags: Mapping[str, str]) -> bool:
    """Return whether a condition over tags holds. Raises SqlError for another expression."""
    if condition is None:
        return True
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        parsed = sqlglot.parse_one(condition, read="databricks")
    except SqlglotError:
        raise _no_condition(condition) from None
    return _is_true(parsed, tags)


def _is_true(node: Any, tags: Mapping[str, str]) -> bool:
    """Evaluate a parsed condition. Raises SqlError for an expression that is not one over tags."""
    from sqlglot import exp

    if isinstance(node, exp.Paren):
        return _is_true(node.this, tags)
    if isinstance(node, exp.Not):
        return not _is_true(node.this, tags)
    if isinstance(node, exp.And | exp.Or):
        # Both sides, so that all of a condition is checked.
        sides = [_is_true(node.left, tags), _is_true(node.right, tags)]
        return all(sides) if isinstance(node, exp.And) else any(sides)
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Anonymous) and all(each.is_string for each in node.expressions):
        match str(node.this).lower(), [each.this for each in node.expressions]:
            case name, [tag] if name in _HAS_TAG:
                return tag in tags
            case name, [tag, value] if name in _HAS_VALUE:
                return bool(tags.get(tag) == value)
    raise _no_condition(node.sql(dialect="databricks"))


def _no_condition(text: str) -> SqlError:
    return invalid_policy(f"{text} is no condition over tags, such as has_tag('pii')")


@dataclass(frozen=True)
class TaggedTable:
    """A table that is read: its full name, its tags and those of its columns, and the columns' types."""

    name: tuple[str, ...]
    tags: Mapping[str, str]
    column_tags: Mapping[str, Mapping[str, str]]
    types: Mapping[str, str]

    @classmethod
    def of(
        cls, name: Sequence[str], levels: Sequence[Mapping[str, Any]], types: Mapping[str, str]
    ) -> TaggedTable:
        """Return the table with the metadata `levels` of its catalog, its schema and itself."""
        tags = {tag: value for level in levels for tag, value in level.get("tags", {}).items()}
        return cls(tuple(name), tags, levels[-1].get("column_tags", {}), types)

    def matched(self, policy: TagPolicy) -> dict[str, list[str]] | None:
        """Return the columns by alias, in lower case; None if the policy does not apply to the table."""
        if not condition_holds(policy.when, self.tags):
            return None
        found: dict[str, list[str]] = {}
        for match in policy.matches:
            columns = [
                column
                for column in self.types
                if condition_holds(match.condition, self.column_tags.get(column.lower(), {}))
            ]
            if not columns:
                return None
            if match.alias is not None:
                found[match.alias.lower()] = columns
        return found

    def call(self, policy: TagPolicy, matched: Mapping[str, list[str]], *first: str) -> dict[str, Any]:
        """Return the call of the policy's function as the metadata of tables stores it."""
        arguments, columns = [quote_identifier(column) for column in first], list(first)
        for argument in policy.arguments:
            if argument.column is None:
                arguments.append(str(argument.literal))
                continue
            named = matched[argument.column.lower()]
            if len(named) > 1:
                raise SqlError(
                    "UC_ABAC_AMBIGUOUS_COLUMN_MATCH",
                    f"Error evaluating ABAC policies on {'.'.join(self.name)}: the alias "
                    f"{argument.column} of USING COLUMNS matches the columns {', '.join(named)}.",
                    sql_state="42000",
                    next_step="Let the condition of the alias match one column.",
                )
            arguments.append(quote_identifier(named[0]))
            columns += named
        return {
            "function": policy.function,
            "columns": columns,
            "arguments": columns,
            "expression": f"{quote_name(policy.function)}({', '.join(arguments)})",
        }


def effective_policies(
    spark: SparkSession, *, catalog: str, schema: str, table: str, columns: Sequence[Sequence[str]]
) -> dict[str, Any]:
    """Return row filter and masks of a table that is read, its own and those of policies.

    Args:
        spark: The session of the query.
        catalog: The table's catalog.
        schema: Its schema.
        table: Its name.
        columns: Names and types of its columns.
    """
    context = current_context(spark)
    full = (catalog.lower(), schema.lower(), table.lower())
    levels = [context.metadata(kind, name) for kind, name in metadata_levels("TABLE", full)]
    read = TaggedTable.of(full, levels, {str(name): str(dtype) for name, dtype in columns})
    row_filter, masks = levels[-1].get("row_filter"), dict(levels[-1].get("masks") or {})
    for policy in _policies_of_user(spark, levels):
        matched = read.matched(policy)
        if matched is None:
            continue
        if policy.kind == "ROW_FILTER":
            found = read.call(policy, matched)
            row_filter = _single(row_filter, found, "row filters", full)
            continue
        for column in matched[str(policy.column).lower()]:
            mask = read.call(policy, matched, column)
            mask["expression"] = f"CAST({mask['expression']} AS {read.types[column]})"
            masks[column] = _single(masks.get(column), mask, f"masks of {column}", full)
    return {"row_filter": row_filter, "masks": masks}


def _single(
    present: Mapping[str, Any] | None, found: Mapping[str, Any], what: str, table: Sequence[str]
) -> Mapping[str, Any]:
    """Return `found`; raises SqlError if another policy is present."""
    if present is not None and present["expression"] != found["expression"]:
        raise SqlError(
            "UC_ABAC_MULTIPLE_ROW_FILTERS" if what == "row filters" else "COLUMN_MASKS_ABAC_MISMATCH",
            f"Error evaluating ABAC policies on {'.'.join(table)}: several {what} apply to the user.",
            sql_state="42000",
            next_step="Change the policies or the tags: SHOW EFFECTIVE POLICIES ON TABLE lists them.",
        )
    return found


def protection_of(
    name: Sequence[str], levels: Sequence[Mapping[str, Any]], columns: Iterable[str]
) -> tuple[bool, set[str]]:
    """Return whether policies filter the rows of a table, and the columns that they mask, for any reader.

    `levels` is the metadata of its catalog, its schema and itself.
    """
    read = TaggedTable.of(name, levels, dict.fromkeys(columns, ""))
    is_filtered, masked = False, set[str]()
    for policy in _policies(levels):
        matched = read.matched(policy)
        if matched is not None and policy.kind == "ROW_FILTER":
            is_filtered = True
        elif matched is not None:
            masked.update(matched[str(policy.column).lower()])
    return is_filtered, masked


def _policies(levels: Sequence[Mapping[str, Any]]) -> Iterator[TagPolicy]:
    for level in levels:
        yield from map(TagPolicy.of, level.get(POLICIES, {}).values())


def _policies_of_user(spark: SparkSession, levels: Sequence[Mapping[str, Any]]) -> Iterator[TagPolicy]:
    user = str(java_session(spark).sparkContext().sparkUser())
    principals = {name.lower() for name in (user, *user_groups(spark))}
    for policy in _policies(levels):
        is_meant = not principals.isdisjoint(name.lower() for name in policy.to)
        if is_meant and principals.isdisjoint(name.lower() for name in policy.exempt):
            yield policy


register_function("tag_policies", effective_policies)

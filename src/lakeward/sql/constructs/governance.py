"""Tags, owners, comments and grants: stored with the lakehouse and shown, not enforced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from lakeward.errors import SqlError
from lakeward.quoting import quote_name
from lakeward.session import is_information_schema
from lakeward.spark_internals import java_session, jvm_view
from lakeward.sql.construct import Command, Construct, RewriteResult, Rows, in_area, syntax_error
from lakeward.sql.constructs.external_locations import KIND as EXTERNAL_LOCATION
from lakeward.sql.constructs.external_locations import require_location
from lakeward.sql.constructs.privileges import ALL, require_applicable
from lakeward.sql.dataset_kinds import require_dataset
from lakeward.sql.procedures import find_procedure, require_procedure
from lakeward.sql.session_context import SessionContext, current_context, metadata_levels
from lakeward.sql.standalone_tables import DatasetKind
from lakeward.sql.token_cursor import TokenCursor, Unmatched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_KINDS = (
    *("CATALOG", "SCHEMA", "DATABASE", "TABLE", "VIEW", "MATERIALIZED VIEW", "STREAMING TABLE"),
    *("VOLUME", "FUNCTION", "PROCEDURE", EXTERNAL_LOCATION),
)
_STORED_AS = {"DATABASE": "SCHEMA", "VIEW": "TABLE", "MATERIALIZED VIEW": "TABLE", "STREAMING TABLE": "TABLE"}
_DATASETS: dict[str, DatasetKind] = {"MATERIALIZED": "materialized_view", "STREAMING": "streaming_table"}
_PARTS = {"METASTORE": 0, "ANY FILE": 0, "CATALOG": 1, EXTERNAL_LOCATION: 1, "SCHEMA": 2}
# Objects that a grant names by their kind; the catalog is the current one then.
_WITHOUT_NAME = ("METASTORE", "ANY FILE", "CATALOG")


@dataclass(frozen=True)
class Securable:
    """An object that can have an owner, tags and grants."""

    kind: str
    name: list[str]
    # What an ALTER statement calls the table.
    dataset: DatasetKind | None = None

    def require(self, spark: SparkSession) -> tuple[SessionContext, tuple[str, ...]]:
        """Return context and full name; raises SqlError or Spark's error if the object is missing."""
        context = current_context(spark)
        if self.kind == "CATALOG" and not self.name:
            return context, (context.catalog,)
        full = context.qualify(self.name, _PARTS.get(self.kind, 3))
        if not full:
            return context, full
        if self.kind == "CATALOG":
            context.require_catalog(full[0])
        elif self.kind == "TABLE":
            # Not what may be seen of it: policies that contradict each other are mended by such statements.
            jvm: Any = jvm_view(spark)
            jvm.lakeward.PolicyRules.rows(java_session(spark), quote_name(self.name))
            if self.dataset is not None:
                require_dataset(spark, self.name, self.dataset)
        elif self.kind == EXTERNAL_LOCATION:
            full = (require_location(context, full[0]),)
        elif self.kind == "PROCEDURE":
            require_procedure(context, full)
        elif self.kind == "FUNCTION":
            _require_function(spark, context, full)
        else:
            context.require_schema(*full[:2])
            if self.kind == "VOLUME":
                context.require_volume(*full)
        return context, full

    def metadata(self, spark: SparkSession) -> dict[str, Any]:
        """Return the object's metadata; raises as `require`."""
        context, full = self.require(spark)
        return context.metadata(self.kind, full)

    def update(self, spark: SparkSession, **values: Any) -> None:
        """Set values in the object's metadata; raises as `require`, and for what no user owns."""
        context, full = self.require(spark)
        if len(full) > 1 and is_information_schema(*full[:2]) and "grants" not in values:
            context.require_changeable_schema(*full[:2])
        context.update_metadata(self.kind, full, **values)


def _require_function(spark: SparkSession, context: SessionContext, full: tuple[str, ...]) -> None:
    """Raise SqlError for a function that does not exist; a procedure is one, too, as on the platform."""
    context.require_schema(*full[:2])
    if find_procedure(context, full) is None and not spark.catalog.functionExists(quote_name(full)):
        raise SqlError(
            "ROUTINE_NOT_FOUND",
            f"The function {quote_name(full)} cannot be found.",
            parameters={"routineName": quote_name(full)},
        )


@dataclass(frozen=True)
class DescribeSecurable(Command):
    """Sets the owner, or sets or removes the comment."""

    securable: Securable
    field: Literal["owner", "comment"]
    value: str | None

    def run(self, spark: SparkSession) -> None:
        self.securable.update(spark, **{self.field: self.value})


@dataclass(frozen=True)
class ChangeTags(Command):
    """Adds or replaces tags of the object, or of one of its columns, and removes tags."""

    securable: Securable
    column: str | None
    added: dict[str, str]
    removed: list[str]

    def run(self, spark: SparkSession) -> None:
        key = "tags" if self.column is None else "column_tags"
        all_tags: dict[str, Any] = self.securable.metadata(spark).get(key, {})
        tags = all_tags if self.column is None else all_tags.setdefault(self.column.lower(), {})
        tags.update(self.added)
        for tag in self.removed:
            tags.pop(tag, None)
        self.securable.update(spark, **{key: all_tags})


@dataclass(frozen=True)
class Grant(Command):
    """Adds privileges to those that a principal has."""

    securable: Securable
    privileges: list[str]
    principal: str

    def run(self, spark: SparkSession) -> None:
        grants = _grants(spark, self.securable, self.privileges)
        current = grants.get(self.principal, [])
        grants[self.principal] = sorted({*current, *self.privileges})
        self.securable.update(spark, grants=grants)


@dataclass(frozen=True)
class Revoke(Command):
    """Removes privileges of a principal; ALL PRIVILEGES removes all."""

    securable: Securable
    privileges: list[str]
    principal: str

    def run(self, spark: SparkSession) -> None:
        grants = _grants(spark, self.securable, self.privileges)
        current = grants.pop(self.principal, [])
        remaining = [] if ALL in self.privileges else [p for p in current if p not in self.privileges]
        if remaining:
            grants[self.principal] = remaining
        self.securable.update(spark, grants=grants)


def _grants(spark: SparkSession, securable: Securable, changed: Sequence[str]) -> dict[str, list[str]]:
    """Return the privileges on an object by principal; SqlError if it cannot have one of `changed`."""
    context, full = securable.require(spark)
    require_applicable(securable.kind, full, changed)
    grants: dict[str, list[str]] = context.metadata(securable.kind, full).get("grants", {})
    return grants


@dataclass(frozen=True)
class ShowGrants(Command):
    """Lists the privileges on the object, and on its schema and catalog."""

    securable: Securable
    principal: str | None

    def run(self, spark: SparkSession) -> Rows:
        context, full = self.securable.require(spark)
        rows = []
        for kind, name in metadata_levels(self.securable.kind, full):
            for principal, privileges in sorted(context.metadata(kind, name).get("grants", {}).items()):
                if self.principal in (None, principal):
                    rows += [[principal, privilege, kind, ".".join(name)] for privilege in privileges]
        return Rows("Principal STRING, ActionType STRING, ObjectType STRING, ObjectKey STRING", rows)


def read_securable(
    cursor: TokenCursor, kinds: Sequence[str] = _KINDS, *, needs_kind: bool = True
) -> Securable:
    """Read the kind and the name of an object; one without a kind is a table. Raises Unmatched."""
    kind = cursor.phrase(*kinds)
    if kind is None and needs_kind:
        raise Unmatched
    stored = _STORED_AS.get(kind, kind) if kind else "TABLE"
    return Securable(stored, cursor.name(_PARTS.get(stored, 3)))


def _tag_list(cursor: TokenCursor, *, with_values: bool) -> dict[str, str]:
    def tag() -> tuple[str, str]:
        return cursor.string(), cursor.string() if with_values and cursor.words("=") else ""

    cursor.need("(")
    tags = dict(cursor.separated(tag))
    cursor.need(")")
    return tags


def _alter(cursor: TokenCursor) -> RewriteResult:
    cursor.need("ALTER")
    kind = cursor.ahead(1)[0].word if cursor.next is not None else ""
    securable = replace(read_securable(cursor), dataset=_DATASETS.get(kind))
    column = None
    if securable.kind == "TABLE" and (cursor.words("ALTER", "COLUMN") or cursor.words("CHANGE", "COLUMN")):
        column = cursor.part()
    if cursor.words("SET", "TAGS"):
        tags = _tag_list(cursor, with_values=True)
        cursor.end()
        return ChangeTags(securable, column, tags, [])
    if cursor.words("UNSET", "TAGS"):
        names = list(_tag_list(cursor, with_values=False))
        cursor.end()
        return ChangeTags(securable, column, {}, names)
    if column is not None:
        raise Unmatched
    cursor.words("SET")
    cursor.need("OWNER", "TO")
    owner = cursor.part_or_string()
    cursor.end()
    return DescribeSecurable(securable, "owner", owner)


def _tag_on(cursor: TokenCursor) -> ChangeTags:
    """Parse SET TAG ON TABLE t key = value, UNSET TAG ON TABLE t key."""
    verb = cursor.one_of("SET", "UNSET")
    cursor.need("TAG", "ON")
    column = None
    if cursor.words("COLUMN"):
        *name, column = cursor.name(4)
        securable = Securable("TABLE", name)
    else:
        securable = read_securable(cursor)
    key = cursor.part_or_string()
    value = cursor.part_or_string() if verb == "SET" and cursor.words("=") else ""
    cursor.end()
    added, removed = ({key: value}, []) if verb == "SET" else ({}, [key])
    return ChangeTags(securable, column, added, removed)


def _privilege(cursor: TokenCursor) -> str:
    words = []
    while cursor.word.replace("_", "").isalpha() and cursor.word != "ON":
        words.append(cursor.word)
        cursor.at += 1
    if not words:
        raise Unmatched
    return " ".join(words)


def _object_of_grant(cursor: TokenCursor) -> Securable:
    """Read the object of a grant: one with a name, or the metastore, any file, the current catalog."""
    for kind in _WITHOUT_NAME:
        start = cursor.at
        if cursor.words(*kind.split()) and (cursor.next is None or cursor.next.word in ("TO", "FROM")):
            return Securable(kind, [])
        cursor.at = start
    return read_securable(cursor, needs_kind=False)


def _grant(cursor: TokenCursor) -> RewriteResult:
    verb = cursor.one_of("GRANT", "REVOKE")
    privileges = cursor.separated(lambda: _privilege(cursor))
    cursor.need("ON")
    securable = _object_of_grant(cursor)
    cursor.need("TO" if verb == "GRANT" else "FROM")
    if cursor.word == "RECIPIENT" and len(cursor.ahead(2)) == 2:
        raise Unmatched  # a statement of its own
    principal = cursor.part_or_string()
    if cursor.next is not None:
        # There is one principal, and no option after it.
        return syntax_error(cursor, verb)
    return (Grant if verb == "GRANT" else Revoke)(securable, privileges, principal)


def _show_grants(cursor: TokenCursor) -> ShowGrants:
    cursor.need("SHOW")
    cursor.one_of("GRANTS", "GRANT")
    principal = cursor.part_or_string() if cursor.word != "ON" else None
    cursor.need("ON")
    securable = _object_of_grant(cursor)
    cursor.end()
    return ShowGrants(securable, principal)


def _comment_on(cursor: TokenCursor) -> DescribeSecurable:
    cursor.need("COMMENT", "ON")
    securable = read_securable(cursor, ("CATALOG", "VOLUME", EXTERNAL_LOCATION))
    cursor.need("IS")
    comment = None if cursor.words("NULL") else cursor.string()
    cursor.end()
    return DescribeSecurable(securable, "comment", comment)


CONSTRUCTS = in_area(
    "Governance",
    Construct(
        name="SET TAGS, UNSET TAGS, OWNER TO",
        example="ALTER TABLE t SET TAGS ('pii' = 'yes')",
        note="on catalogs, schemas, tables, columns, views and volumes",
        statement=_alter,
    ),
    Construct(
        name="SET TAG ON",
        example="SET TAG ON TABLE t pii = yes",
        starts=("SET", "UNSET"),
        statement=_tag_on,
    ),
    Construct(
        name="GRANT",
        example="GRANT SELECT ON TABLE t TO `data team`",
        note="stored and shown, never enforced: anyone who can read the folder can read the tables; also on "
        "METASTORE, ANY FILE and the current CATALOG",
        statement=_grant,
    ),
    Construct(
        name="REVOKE",
        example="REVOKE SELECT ON TABLE t FROM `data team`",
        statement=_grant,
    ),
    Construct(
        name="SHOW GRANTS",
        example="SHOW GRANTS ON TABLE t",
        statement=_show_grants,
    ),
    Construct(
        name="COMMENT ON CATALOG, VOLUME, EXTERNAL LOCATION",
        example="COMMENT ON CATALOG main IS 'all'",
        statement=_comment_on,
    ),
)

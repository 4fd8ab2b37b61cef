"""Primary, foreign and unique keys: informational on the platform and here, enforced on neither."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, count
from typing import TYPE_CHECKING

from lakeward.errors import SqlError
from lakeward.quoting import names_path, quote_identifier, quote_name
from lakeward.sql.construct import BEGINNING, Command, Construct, Edit, in_area
from lakeward.sql.constructs.key_clauses import Key, implied_not_null, key_clauses, read_columns, read_key
from lakeward.sql.dataset_kinds import require_alterable
from lakeward.sql.key_references import release_primary_key
from lakeward.sql.session_context import current_context, run_with_delta
from lakeward.sql.token_cursor import Token, TokenCursor, Unmatched

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class AddKey(Command):
    """Adds a key to a table's metadata."""

    table: list[str]
    key: Key

    def run(self, spark: SparkSession) -> None:
        require_alterable(spark, self.table)
        keys = [*stored_keys(spark, self.table), self.key]
        if self.key.type == "PRIMARY KEY":
            self._require_not_null(spark)
        store_keys(spark, self.table, keys)

    def _require_not_null(self, spark: SparkSession) -> None:
        """Raise SqlError for a column that may be NULL, with the message of Unity Catalog."""
        frame = spark.table(quote_name(self.table))
        frame = frame.select(*map(quote_identifier, self.key.columns))
        nullable = [field.name for field in frame.schema.fields if field.nullable]
        if nullable:
            name = self.key.name or f"{self.table[-1].lower()}_pk"
            columns = ", ".join(map(quote_identifier, nullable))
            raise SqlError(
                "INVALID_PARAMETER_VALUE",
                f"Cannot create the primary key {quote_identifier(name)} because its child column(s) "
                f"{columns} is nullable. Please change the column nullability and retry.",
                next_step=f"ALTER TABLE … ALTER COLUMN {quote_identifier(nullable[0])} SET NOT NULL.",
            )


@dataclass(frozen=True)
class DropKey(Command):
    """Drops the primary key, or the foreign key of these columns."""

    table: list[str]
    type: str
    columns: list[str]
    if_exists: bool
    cascade: bool = False

    def run(self, spark: SparkSession) -> None:
        require_alterable(spark, self.table)
        keys = stored_keys(spark, self.table)
        remaining = [key for key in keys if not self._matches(key)]
        if len(remaining) == len(keys) and not self.if_exists:
            raise SqlError(
                "CONSTRAINT_DOES_NOT_EXIST",
                f"The table {'.'.join(self.table)} has no such {self.type}.",
                parameters={"constraintName": self.type, "tableName": quote_name(self.table)},
            )
        remaining = _release(spark, self.table, keys, remaining, cascade=self.cascade)
        store_keys(spark, self.table, remaining)

    def _matches(self, key: Key) -> bool:
        columns = [column.lower() for column in self.columns]
        return key.type == self.type and (not columns or [c.lower() for c in key.columns] == columns)


@dataclass(frozen=True)
class DropConstraint(Command):
    """Drops a key by its name, or else runs Delta's DROP CONSTRAINT."""

    table: list[str]
    constraint: str
    if_exists: bool
    cascade: bool = False

    def run(self, spark: SparkSession) -> DataFrame | None:
        require_alterable(spark, self.table)
        keys = stored_keys(spark, self.table)
        remaining = [key for key in keys if (key.name or "").lower() != self.constraint.lower()]
        if len(remaining) == len(keys):
            # Quoted, since Delta does not take all words as names.
            drop = "DROP CONSTRAINT IF EXISTS" if self.if_exists else "DROP CONSTRAINT"
            name = quote_identifier(self.constraint)
            return run_with_delta(spark, f"ALTER TABLE {quote_name(self.table)} {drop} {name}")
        remaining = _release(spark, self.table, keys, remaining, cascade=self.cascade)
        store_keys(spark, self.table, remaining)
        return None


def _release(
    spark: SparkSession, table: list[str], keys: Sequence[Key], remaining: list[Key], *, cascade: bool
) -> list[Key]:
    """Return the remaining keys; with a primary key, drop those that reference it, or raise SqlError."""
    if not any(key.type == "PRIMARY KEY" and key not in remaining for key in keys):
        return remaining
    own = current_context(spark).qualify(table)
    release_primary_key(spark, own, cascade=cascade)
    return [key for key in remaining if tuple(key.parent or ()) != own]


def store_keys(spark: SparkSession, table: list[str], keys: Sequence[Key]) -> None:
    """Replace a table's keys; those without a name get one. Raises what analyzing their columns raises."""
    frame = spark.table(quote_name(table))
    context = current_context(spark)
    for key in keys:
        frame.select(*map(quote_identifier, key.columns))
    own = context.qualify(table)
    # The parent of a stored key may have been dropped; a change of another key is still allowed.
    known = stored_keys(spark, table)
    completed: list[Key] = []
    for key in keys:
        full = key if key in known else _with_parent(spark, key, own, keys)
        completed.append(_with_own_name(full, own[-1], completed))
    _require_one_primary_key(completed)
    context.update_metadata("TABLE", own, keys=[asdict(key) for key in completed])


def _with_own_name(key: Key, table: str, before: Sequence[Key]) -> Key:
    """Return the key with a name that no key before it has; raise SqlError if the user chose such a name."""
    names = {(each.name or "").lower(): each for each in before}
    if key.name is None:
        base = _default_name(key, table.lower())
        numbered = (f"{base}_{number}" for number in count(1))
        return replace(key, name=next(name for name in chain([base], numbered) if name.lower() not in names))
    other = names.get(key.name.lower())
    if other is not None:
        raise SqlError(
            "CONSTRAINT_ALREADY_EXISTS",
            f"The table has the constraint {key.name} already.",
            parameters={"constraintName": key.name, "oldConstraint": other.text(quote_identifier)},
        )
    return key


def _default_name(key: Key, table: str) -> str:
    if key.type == "UNIQUE":
        return f"{table}_{'_'.join(column.lower() for column in key.columns)}_unique"
    return f"{table}_pk" if key.parent is None else f"{table}_{key.parent[-1]}_fk"


def _require_one_primary_key(keys: Sequence[Key]) -> None:
    primary = [f"({', '.join(key.columns)})" for key in keys if key.type == "PRIMARY KEY"]
    if len(primary) > 1:
        raise SqlError(
            "MULTIPLE_PRIMARY_KEYS",
            f"The table has the primary keys {' and '.join(primary)}.",
            parameters={"columns": ", ".join(primary)},
        )


def _with_parent(spark: SparkSession, key: Key, own: Sequence[str], keys: Sequence[Key]) -> Key:
    """Return a foreign key with the full name of its parent, and the columns of the parent's primary key.

    `keys` are those of the table `own`, which may be its own parent. Raises SqlError for a parent without
    that primary key, and what Spark raises for a missing parent.
    Source: https://docs.databricks.com/aws/en/error-messages/error-classes (FOREIGN_KEY_MISMATCH)
    """
    if key.parent is None:
        return key
    context = current_context(spark)
    parent = context.qualify(key.parent)
    if [part.lower() for part in parent] == [part.lower() for part in own]:
        known = list(keys)
    else:
        spark.table(quote_name(parent))
        known = stored_keys(spark, list(parent))
    primary = next((each.columns for each in known if each.type == "PRIMARY KEY"), [])
    columns = key.parent_columns or primary
    same = sorted(column.lower() for column in columns) == sorted(column.lower() for column in primary)
    if not primary or not same or len(columns) != len(key.columns):
        raise SqlError(
            "FOREIGN_KEY_MISMATCH",
            f"Foreign key parent columns {', '.join(columns) or '()'} do not match primary key child columns "
            f"{', '.join(key.columns)}. The primary key of {'.'.join(parent)} is ({', '.join(primary)}).",
            sql_state="42830",
            next_step="Reference the columns of the parent's primary key; add one if the parent has none.",
        )
    return replace(key, parent=list(parent), parent_columns=list(columns))


def stored_keys(spark: SparkSession, table: list[str]) -> list[Key]:
    """Return the keys of a table; a table that a path names has none."""
    if names_path(table):
        return []
    context = current_context(spark)
    return [Key(**key) for key in context.metadata("TABLE", context.qualify(table)).get("keys", [])]


def _remove_keys(tokens: Sequence[Token]) -> list[Edit]:
    """Replace keys with blanks in statements that Spark runs; primary keys are NOT NULL."""
    words = [t.word for t in tokens]
    if words[0] not in ("CREATE", "REPLACE") or "TABLE" not in words[:5]:
        return []
    try:
        keys, removed = key_clauses(tokens, "")
        added = implied_not_null(tokens, keys)
    except Unmatched:
        return []
    return [*(Edit(t.start, t.end, " " * len(t.text)) for t in removed), *added]


def _alter_key(cursor: TokenCursor) -> AddKey | DropKey:
    """Parse ADD [CONSTRAINT name] PRIMARY KEY or UNIQUE …, DROP PRIMARY KEY, DROP FOREIGN KEY (…)."""
    cursor.need("ALTER", "TABLE")
    table = cursor.name(3)
    if cursor.words("ADD"):
        key = read_key(cursor, None)
        cursor.finish()
        if not key.columns:
            raise Unmatched
        return AddKey(table, key)
    cursor.need("DROP")
    kind = f"{cursor.one_of('PRIMARY', 'FOREIGN')} KEY"
    cursor.need("KEY")
    if_exists = cursor.words("IF", "EXISTS")
    columns = read_columns(cursor)
    if_exists = cursor.words("IF", "EXISTS") or if_exists
    cascade = not cursor.words("RESTRICT") and cursor.words("CASCADE")
    cursor.end()
    return DropKey(table, kind, columns, if_exists, cascade)


def _drop_constraint(cursor: TokenCursor) -> DropConstraint:
    """Parse DROP CONSTRAINT name, which is a key's or one of Delta's."""
    cursor.need("ALTER", "TABLE")
    table = cursor.name(3)
    cursor.need("DROP", "CONSTRAINT")
    if_exists = cursor.words("IF", "EXISTS")
    name = cursor.part()
    cascade = not cursor.words("RESTRICT") and cursor.words("CASCADE")
    cursor.end()
    return DropConstraint(table, name, if_exists, cascade)


CONSTRUCTS = in_area(
    "Tables",
    Construct(
        name="PRIMARY KEY, FOREIGN KEY, UNIQUE in other CREATE statements",
        verdict="rewritten",
        example="CREATE EXTERNAL TABLE t (id INT NOT NULL PRIMARY KEY) LOCATION '/x'",
        note="removed: the platform does not enforce them either",
        edits=_remove_keys,
        trigger=r"\b(?:primary|foreign)\s+key\b|\breferences\b|\btable\b.*\bunique\b",
        test="tests/sql/test_rewrite.py",
    ),
    Construct(
        name="ALTER TABLE … ADD PRIMARY KEY, FOREIGN KEY, UNIQUE",
        example="ALTER TABLE t ADD CONSTRAINT pk PRIMARY KEY (id)",
        note="stored for the information schema; not enforced, as on the platform",
        statement=_alter_key,
        test="tests/sql/test_information_schema.py",
    ),
    Construct(
        name="ALTER TABLE … DROP CONSTRAINT",
        example="ALTER TABLE t DROP CONSTRAINT pk",
        note="a key, or else a constraint of Delta's",
        statement=_drop_constraint,
        trigger=BEGINNING + r"alter\s+table\s.*\bdrop\s+constraint\b",
        test="tests/sql/test_information_schema.py",
    ),
)

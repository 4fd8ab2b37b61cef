"""Catalogs: USE, SHOW, CREATE, DROP and DESCRIBE."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lakeward.errors import SqlError
from lakeward.object_metadata import OBJECTS
from lakeward.quoting import quote_name
from lakeward.session import PROVIDED_CATALOGS, ensure_catalog
from lakeward.spark_internals import catalog_manager
from lakeward.sql.construct import BEGINNING, Command, Construct, Rows, in_area, supported
from lakeward.sql.session_context import (
    SessionContext,
    current_context,
    folder_name,
    matches_pattern,
    remove_folder,
    run_with_delta,
)
from lakeward.sql.token_cursor import TokenCursor, Unmatched
from lakeward.volume_folders import volume_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class UseCatalog(Command):
    """Makes a catalog and its schema `default` the current ones."""

    catalog: str

    def run(self, spark: SparkSession) -> None:
        if self.catalog.lower() == "spark_catalog":
            name = "spark_catalog"
        else:
            name = current_context(spark).require_catalog(self.catalog)
            ensure_catalog(spark, name)
        catalog_manager(spark).setCurrentCatalog(name)


def _use_catalog(cursor: TokenCursor) -> UseCatalog:
    cursor.need("USE", "CATALOG")
    name = cursor.part_or_string()
    cursor.end()
    return UseCatalog(name)


@dataclass(frozen=True)
class UseSchema(Command):
    """Makes a schema the current one, and the catalog if its name has one."""

    name: tuple[str, ...]

    def run(self, spark: SparkSession) -> None:
        kind = "USE SCHEMA" if len(self.name) == 1 else "USE"
        run_with_delta(spark, f"{kind} {quote_name(self.name)}")


def _use_schema(cursor: TokenCursor) -> UseSchema:
    cursor.need("USE")
    cursor.one_of("SCHEMA", "DATABASE")
    name = cursor.name(2)
    cursor.end()
    return UseSchema(tuple(name))


@dataclass(frozen=True)
class ShowCatalogs(Command):
    """Lists the catalogs."""

    like: str | None

    def run(self, spark: SparkSession) -> Rows:
        names = current_context(spark).catalogs()
        return Rows("catalog STRING", [[name] for name in names if matches_pattern(self.like, name)])


def _show_catalogs(cursor: TokenCursor) -> ShowCatalogs:
    cursor.need("SHOW", "CATALOGS")
    like = like_pattern(cursor)
    cursor.end()
    return ShowCatalogs(like)


def like_pattern(cursor: TokenCursor) -> str | None:
    """Read `[LIKE] 'pattern'` if it comes next."""
    if cursor.words("LIKE"):
        return cursor.string()
    return cursor.string() if cursor.is_string else None


def listed_schema(cursor: TokenCursor) -> list[str] | None:
    """Read `IN schema` or `FROM schema` if it comes next."""
    return cursor.name(2) if cursor.words("IN") or cursor.words("FROM") else None


def schema_and_pattern(cursor: TokenCursor) -> tuple[list[str] | None, str | None]:
    """Read the rest of a SHOW statement: `[IN schema] [[LIKE] 'pattern']`."""
    schema = listed_schema(cursor)
    like = like_pattern(cursor)
    cursor.end()
    return schema, like


@dataclass(frozen=True)
class CreateCatalog(Command):
    """Creates a catalog with the schema `default`; `settings` are kept with its metadata."""

    catalog: str
    if_not_exists: bool
    comment: str | None
    settings: dict[str, str] = field(default_factory=dict)

    def run(self, spark: SparkSession) -> None:
        context, name = current_context(spark), folder_name(self.catalog)
        if name in PROVIDED_CATALOGS or (context.settings.warehouse / name).is_dir():
            if self.if_not_exists:
                return
            raise SqlError(
                "CATALOG_ALREADY_EXISTS",
                f"Cannot create catalog `{name}` because it already exists.",
                sql_state="42710",
                next_step="Choose a different name, drop the existing catalog, or add IF NOT EXISTS.",
            )
        if "default_collation" in self.settings:
            require_collation(spark, self.settings["default_collation"])
        about = {"owner": context.settings.user, "comment": self.comment, **self.settings}
        context.update_metadata("CATALOG", [name], **about)
        ensure_catalog(spark, name)


def _create_catalog(cursor: TokenCursor) -> CreateCatalog:
    cursor.need("CREATE")
    cursor.need("CATALOG")
    if_not_exists = cursor.words("IF", "NOT", "EXISTS")
    name = cursor.part()
    comment, settings = None, {}
    while cursor.next is not None:
        if cursor.words("COMMENT"):
            comment = cursor.string()
        elif cursor.words("MANAGED", "LOCATION"):
            cursor.string()
        elif cursor.words("DEFAULT", "COLLATION"):
            settings["default_collation"] = cursor.part_or_string()
        elif cursor.words("RETAIN", "DROPPED"):
            settings["retain_dropped"] = retention(cursor)
        else:
            raise Unmatched
    return CreateCatalog(name, if_not_exists, comment, settings)


def retention(cursor: TokenCursor) -> str:
    """Read `TO n unit` or `FOR n unit`, the rest of RETAIN DROPPED."""
    cursor.one_of("TO", "FOR")
    return f"{cursor.integer()} {cursor.part()}"


def require_collation(spark: SparkSession, name: str) -> None:
    """Raise COLLATION_INVALID_NAME for a collation that does not exist."""
    spark.sql(f"SELECT '' COLLATE {quote_name([name])}")


@dataclass(frozen=True)
class DropCatalog(Command):
    """Removes a catalog; CASCADE is required if it contains objects.

    A session whose current catalog it is keeps the name: statements with unqualified names fail until another
    USE.
    """

    catalog: str
    if_exists: bool
    cascade: bool

    def run(self, spark: SparkSession) -> None:
        context, name = current_context(spark), self.catalog.lower()
        if self.if_exists and name not in context.catalogs():
            return
        context.require_catalog(name)
        if not self.cascade and not _is_empty(context, name):
            raise SqlError(
                "CATALOG_NOT_EMPTY",
                f"Cannot drop catalog `{name}`: it has the schemas {', '.join(context.schemas(name))}.",
                sql_state="2BP01",
                next_step="Use DROP CATALOG … CASCADE to drop it with all that is in it.",
            )
        # Spark also forgets the functions of a schema that it drops: those that were called stay registered.
        for schema in context.schemas(name):
            run_with_delta(spark, f"DROP SCHEMA IF EXISTS {quote_name([name, schema])} CASCADE")
        for folder in (context.settings.warehouse / name, volume_folder(context.settings.volumes, name)):
            remove_folder(folder)


def _is_empty(context: SessionContext, catalog: str) -> bool:
    if context.schemas(catalog) not in ([], ["default"]) or context.volumes(catalog, "default"):
        return False
    folder = context.settings.warehouse / catalog / "default"
    return not any(p.name[0] != "." for p in folder.glob("*")) and all(
        p.name == ".schema.json" or ".about" in p.suffixes for p in folder.glob(f"{OBJECTS}/*")
    )


def _drop_catalog(cursor: TokenCursor) -> DropCatalog:
    cursor.need("DROP", "CATALOG")
    if_exists = cursor.words("IF", "EXISTS")
    name = cursor.part()
    cascade = cursor.words("CASCADE")
    cursor.words("RESTRICT")
    cursor.end()
    return DropCatalog(name, if_exists, cascade)


@dataclass(frozen=True)
class DescribeCatalog(Command):
    """Shows name, comment and owner of a catalog."""

    catalog: str
    extended: bool

    def run(self, spark: SparkSession) -> Rows:
        context = current_context(spark)
        name = context.require_catalog(self.catalog)
        metadata = context.metadata("CATALOG", [name])
        rows = [
            ("Catalog Name", name),
            ("Comment", metadata.get("comment") or ""),
            ("Owner", metadata.get("owner") or context.settings.user),
        ]
        if self.extended:
            rows.append(("Catalog Type", "MANAGED_CATALOG"))
        if metadata.get("default_collation"):
            rows.append(("Collation", str(metadata["default_collation"])))
        return Rows("info_name STRING, info_value STRING", rows)


def _describe_catalog(cursor: TokenCursor) -> DescribeCatalog:
    cursor.one_of("DESCRIBE", "DESC")
    cursor.need("CATALOG")
    extended = cursor.words("EXTENDED")
    name = cursor.part()
    cursor.end()
    return DescribeCatalog(name, extended)


CONSTRUCTS = in_area(
    "Catalogs and schemas",
    Construct(
        name="USE CATALOG",
        example="USE CATALOG main",
        statement=_use_catalog,
    ),
    Construct(
        name="USE SCHEMA with a catalog",
        example="USE SCHEMA main.default",
        note="sets the catalog, too, as `USE main.default` does",
        statement=_use_schema,
        trigger=BEGINNING + r"use\s+(?:schema|database)\b.*(?:\.|identifier)",
    ),
    Construct(
        name="SHOW CATALOGS",
        example="SHOW CATALOGS LIKE 'ma*'",
        note="the lakehouse's catalogs, including those that other processes created",
        statement=_show_catalogs,
        trigger=BEGINNING + r"show\s+catalogs\b",
    ),
    Construct(
        name="CREATE CATALOG",
        example="CREATE CATALOG IF NOT EXISTS dev COMMENT 'for developers'",
        note="MANAGED LOCATION is accepted and ignored: tables are stored in the state folder",
        statement=_create_catalog,
    ),
    Construct(
        name="DROP CATALOG",
        example="DROP CATALOG IF EXISTS dev CASCADE",
        statement=_drop_catalog,
    ),
    Construct(
        name="DESCRIBE CATALOG",
        example="DESCRIBE CATALOG main",
        starts=("DESCRIBE", "DESC"),
        statement=_describe_catalog,
        trigger=BEGINNING + r"desc(?:ribe)?\s+catalog\s+(?:extended\s+)?[\w`]",
    ),
    supported("Three-part names", "SELECT * FROM main.default.t"),
    supported("USE SCHEMA, USE c.s", "USE main.default"),
)

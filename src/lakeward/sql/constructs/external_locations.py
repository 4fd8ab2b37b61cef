"""External locations: name, URL and credential are stored with the lakehouse and shown.

Notebooks create them before the catalogs, volumes and tables at their URLs. Here `--mount` leads a URL to a
folder, with or without an external location, so nothing reads the object. Its owner, comment and grants are
those of `governance.py`.

Source: https://docs.databricks.com/aws/en/sql/language-manual/sql-ref-syntax-ddl-create-location
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.errors import SqlError
from lakeward.object_metadata import OBJECTS
from lakeward.sql.construct import BEGINNING, Command, Construct, Rows, in_area
from lakeward.sql.constructs.catalogs import like_pattern
from lakeward.sql.session_context import SessionContext, current_context, folder_name, matches_pattern
from lakeward.sql.token_cursor import TokenCursor, Unmatched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KIND = "EXTERNAL LOCATION"
_SUFFIX = ".external_location.about.json"
_COLUMNS = ("name", "url", "credential_name", "owner", "comment")


def location_names(context: SessionContext) -> list[str]:
    """Return the names of the external locations."""
    files = (context.settings.warehouse / OBJECTS).glob(f"*{_SUFFIX}")
    return sorted(file.name.removesuffix(_SUFFIX) for file in files)


def require_location(context: SessionContext, name: str) -> str:
    """Return the name as it is stored. Raises SqlError if no external location has it."""
    if name.lower() not in location_names(context):
        raise SqlError(
            "EXTERNAL_LOCATION_DOES_NOT_EXIST",
            f"External Location '{name}' does not exist.",
            sql_state="42704",
            next_step="SHOW EXTERNAL LOCATIONS lists the existing ones.",
        )
    return name.lower()


def _already_exists(name: str) -> SqlError:
    return SqlError(
        "EXTERNAL_LOCATION_ALREADY_EXISTS",
        f"External Location '{name}' already exists.",
        sql_state="42710",
        next_step="Choose a different name, drop the existing one, or add IF NOT EXISTS.",
    )


@dataclass(frozen=True)
class CreateLocation(Command):
    """Stores the URL under a name."""

    name: str
    if_not_exists: bool
    url: str
    credential: str | None
    comment: str | None

    def run(self, spark: SparkSession) -> None:
        context = current_context(spark)
        name = folder_name(self.name)
        if name in location_names(context):
            if self.if_not_exists:
                return
            raise _already_exists(self.name)
        context.update_metadata(
            KIND,
            (name,),
            url=self.url,
            credential_name=self.credential,
            comment=self.comment,
            owner=context.settings.user,
        )


def _create(cursor: TokenCursor) -> CreateLocation:
    cursor.need("CREATE", "EXTERNAL", "LOCATION")
    if_not_exists = cursor.words("IF", "NOT", "EXISTS")
    name = cursor.part()
    cursor.need("URL")
    url = cursor.string()
    credential = comment = None
    while cursor.next is not None:
        if cursor.words("WITH"):
            cursor.need("(")
            cursor.words("STORAGE")
            cursor.need("CREDENTIAL")
            credential = cursor.part()
            cursor.need(")")
        elif cursor.words("COMMENT"):
            comment = cursor.string()
        else:
            raise Unmatched
    return CreateLocation(name, if_not_exists, url, credential, comment)


@dataclass(frozen=True)
class ChangeLocation(Command):
    """Sets the URL or the credential, or renames the location."""

    name: str
    values: dict[str, str]

    def run(self, spark: SparkSession) -> None:
        context = current_context(spark)
        name = require_location(context, self.name)
        if (new := self.values.get("name")) is None:
            context.update_metadata(KIND, (name,), **self.values)
            return
        if folder_name(new) in location_names(context):
            raise _already_exists(new)
        context.metadata_file(KIND, (name,)).rename(context.metadata_file(KIND, (folder_name(new),)))


def _alter(cursor: TokenCursor) -> ChangeLocation:
    cursor.need("ALTER", "EXTERNAL", "LOCATION")
    name = cursor.part()
    if cursor.words("RENAME", "TO"):
        values = {"name": cursor.part()}
    elif cursor.words("SET", "URL"):
        values = {"url": cursor.string()}
        cursor.words("FORCE")
    else:
        cursor.need("SET", "STORAGE", "CREDENTIAL")
        values = {"credential_name": cursor.part()}
    cursor.end()
    return ChangeLocation(name, values)


@dataclass(frozen=True)
class DropLocation(Command):
    """Removes the name; the files at its URL stay."""

    name: str
    if_exists: bool

    def run(self, spark: SparkSession) -> None:
        context = current_context(spark)
        if not (self.if_exists and self.name.lower() not in location_names(context)):
            context.metadata_file(KIND, (require_location(context, self.name),)).unlink()


def _drop(cursor: TokenCursor) -> DropLocation:
    cursor.need("DROP", "EXTERNAL", "LOCATION")
    if_exists = cursor.words("IF", "EXISTS")
    name = cursor.part()
    cursor.words("FORCE")
    cursor.end()
    return DropLocation(name, if_exists)


@dataclass(frozen=True)
class ShowLocations(Command):
    """Lists the locations, or shows one with all that is stored of it."""

    like: str | None
    described: str | None

    def run(self, spark: SparkSession) -> Rows:
        context = current_context(spark)
        if self.described is None:
            names = [name for name in location_names(context) if matches_pattern(self.like, name)]
            columns: tuple[str, ...] = ("name", "url", "comment")
        else:
            names, columns = [require_location(context, self.described)], _COLUMNS
        rows = [{"name": name, **context.metadata(KIND, (name,))} for name in names]
        return Rows(
            ", ".join(f"{column} STRING" for column in columns),
            [[row.get(column) for column in columns] for row in rows],
        )


def _show(cursor: TokenCursor) -> ShowLocations:
    cursor.need("SHOW", "EXTERNAL", "LOCATIONS")
    like = like_pattern(cursor)
    cursor.end()
    return ShowLocations(like, None)


def _describe(cursor: TokenCursor) -> ShowLocations:
    cursor.one_of("DESCRIBE", "DESC")
    cursor.need("EXTERNAL", "LOCATION")
    name = cursor.part()
    cursor.end()
    return ShowLocations(None, name)


CONSTRUCTS = in_area(
    "Governance",
    Construct(
        name="CREATE EXTERNAL LOCATION",
        example="CREATE EXTERNAL LOCATION IF NOT EXISTS raw URL 's3://b/raw' WITH (STORAGE CREDENTIAL c)",
        note="stored and shown; `--mount` leads the URL to a folder",
        statement=_create,
    ),
    Construct(
        name="ALTER EXTERNAL LOCATION",
        example="ALTER EXTERNAL LOCATION raw SET URL 's3://b/landing'",
        note="also RENAME TO, SET STORAGE CREDENTIAL, OWNER TO",
        statement=_alter,
    ),
    Construct(name="DROP EXTERNAL LOCATION", example="DROP EXTERNAL LOCATION IF EXISTS raw", statement=_drop),
    Construct(name="SHOW EXTERNAL LOCATIONS", example="SHOW EXTERNAL LOCATIONS", statement=_show),
    Construct(
        name="DESCRIBE EXTERNAL LOCATION",
        example="DESCRIBE EXTERNAL LOCATION raw",
        statement=_describe,
        # Spark reads a table and its column.
        starts=("DESCRIBE", "DESC"),
        trigger=BEGINNING + r"desc(?:ribe)?\s+external\s+location\s+[\w`]",
    ),
)

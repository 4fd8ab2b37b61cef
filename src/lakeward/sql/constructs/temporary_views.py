"""CREATE TEMPORARY VIEW … USING with options that Spark's readers of files ignore.

`spark.read` with the same options has their columns. Source:
https://docs.databricks.com/aws/en/sql/language-manual/sql-ref-syntax-ddl-create-view
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.quoting import quote_identifier
from lakeward.sql.construct import BEGINNING, Command, Construct, in_area
from lakeward.sql.constructs.property_list import read_properties
from lakeward.sql.token_cursor import TokenCursor, Unmatched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_OPTIONS = ("rescueddatacolumn", "badrecordspath")


@dataclass(frozen=True)
class CreateTemporaryView(Command):
    """Creates a temporary view of files.

    Attributes:
        view: Its name.
        replace: Whether an existing view is replaced.
        is_global: Whether all sessions see it.
        columns: The text of the column list, empty without one.
        format_name: The format of the files.
        options: The options of the reader.
    """

    view: str
    replace: bool
    is_global: bool
    columns: str
    format_name: str
    options: dict[str, str]

    def run(self, spark: SparkSession) -> None:
        reader = spark.read.format(self.format_name).options(**self.options)
        frame = (reader.schema(self.columns) if self.columns else reader).load()
        name = quote_identifier(self.view)
        if self.is_global:
            (frame.createOrReplaceGlobalTempView if self.replace else frame.createGlobalTempView)(name)
        else:
            (frame.createOrReplaceTempView if self.replace else frame.createTempView)(name)


def _create_temporary_view(cursor: TokenCursor) -> CreateTemporaryView:
    cursor.need("CREATE")
    replace = cursor.words("OR", "REPLACE")
    is_global = cursor.words("GLOBAL")
    cursor.one_of("TEMPORARY", "TEMP")
    cursor.need("VIEW")
    name = cursor.part()
    begin = cursor.at
    columns = ""
    if cursor.word == "(":
        cursor.skip()
        columns = cursor.text(begin)[1:-1]
    cursor.need("USING")
    format_name = ".".join(cursor.name(4))
    cursor.need("OPTIONS")
    options = read_properties(cursor, equals_is_optional=True)
    cursor.end()
    if not any(key.lower() in _OPTIONS for key in options):
        raise Unmatched
    return CreateTemporaryView(name, replace, is_global, columns, format_name, options)


CONSTRUCTS = in_area(
    "Tables",
    Construct(
        name="CREATE TEMPORARY VIEW … USING",
        example="CREATE TEMPORARY VIEW v (id INT) USING csv OPTIONS (path '/x', rescuedDataColumn '_r')",
        note="`rescuedDataColumn` and `badRecordsPath` work as in `spark.read`; others are Spark's",
        statement=_create_temporary_view,
        trigger=BEGINNING + r"create\s+(?:or\s+replace\s+)?(?:global\s+)?temp(?:orary)?\s+view\b"
        rf"(?=.*\b(?:{'|'.join(_OPTIONS)})\b)",
        test="tests/autoloader/test_rescued_files.py",
    ),
)

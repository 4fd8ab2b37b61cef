"""Every option that Auto Loader knows and its status in this runtime (AL-1.2 to AL-1.5).

The table is the single source for parsing, the unknown-key check, warnings and the documentation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal

Verdict = Literal["supported", "accepted"]
Kind = Literal[
    "string",
    "bool",
    "int",
    "ratio",
    "bytes",
    "interval",
    "list",
    "ddl",
    "path",
    "choice",
    "mode",
    "timestamp",
]


@dataclass(frozen=True)
class Option:
    """One option.

    Attributes:
        key: The spelling of the documentation.
        kind: The type of the value.
        default: Default value as text, None for no default.
        verdict: `supported`, or `accepted`: no effect here, one warning unless the value is the default.
        note: Explanation on the options page and in the warning.
        choices: Values of a `choice`, or of a `mode`, for which the first one replaces unknown values.
        secret: Whether the value must not appear in messages.
        formats: Formats that support the option; empty for all.
    """

    key: str
    kind: Kind = "string"
    default: str | None = None
    verdict: Verdict = "supported"
    note: str = ""
    choices: tuple[str, ...] = ()
    secret: bool = False
    formats: tuple[str, ...] = ()

    def is_default(self, value: str) -> bool:
        """Return whether a value is that which the option has anyway."""
        return self.default is not None and value.strip().lower() == self.default.lower()


_CSV, _JSON, _XML, _RECORDS = ("csv",), ("json",), ("xml",), ("csv", "json", "xml")
_TEXTS = (*_RECORDS, "text")
_EXCEL = ("excel",)
_DATES = (*_RECORDS, *_EXCEL)

_RECORD_ROWS = (
    Option(
        "mode",
        "mode",
        "PERMISSIVE",
        choices=("PERMISSIVE", "DROPMALFORMED", "FAILFAST"),
        formats=_RECORDS,
        note="other values are PERMISSIVE, as in Spark",
    ),
    Option("columnNameOfCorruptRecord", "string", "_corrupt_record", formats=_RECORDS),
    Option("multiLine", "bool", "false", formats=("csv", "json")),
    Option(
        "badRecordsPath", "path", note="directory for malformed records, and for names of unreadable files"
    ),
    Option("dateFormat", formats=_DATES),
    Option("timestampFormat", formats=_DATES),
    Option("timestampNTZFormat", formats=_DATES),
    Option("timeZone", formats=_RECORDS, note="default: the session's"),
    Option(
        "locale", "string", "en-US", "accepted", "numbers and dates are parsed as en-US", formats=_RECORDS
    ),
    Option("encoding", "string", "UTF-8", formats=_TEXTS, note="of text files only that of `lineSep`"),
    Option("charset", formats=_TEXTS, note="alias of encoding"),
    Option("lineSep", formats=("csv", "json", "text")),
    Option(
        "inferSchema", "bool", None, "accepted", "use cloudFiles.inferColumnTypes", formats=("csv", "xml")
    ),
    Option(
        "samplingRatio", "ratio", "1.0", "accepted", "sampled files are read completely", formats=_RECORDS
    ),
    Option("prefersDecimal", "bool", "false", formats=("json", "xml")),
    Option("singleVariantColumn", formats=("json", "xml"), note="the whole record as one VARIANT column"),
)

_JSON_ROWS = (
    *(
        Option(name, "bool", default, formats=_JSON)
        for name, default in (
            ("primitivesAsString", "false"),
            ("inferTimestamp", "false"),
            ("dropFieldIfAllNull", "false"),
            ("allowSingleQuotes", "true"),
            ("allowNonNumericNumbers", "true"),
            ("allowComments", "false"),
            ("allowUnquotedFieldNames", "false"),
            ("allowNumericLeadingZeros", "false"),
            ("allowBackslashEscapingAnyCharacter", "false"),
            ("allowUnquotedControlChars", "false"),
        )
    ),
)

_CSV_ROWS = (
    Option("header", "bool", None, formats=_CSV, note="default: false; true for inferred schemas"),
    Option("sep", "string", ",", formats=_CSV),
    Option("delimiter", formats=_CSV, note="alias of sep"),
    Option("quote", "string", '"', formats=_CSV),
    Option("escape", "string", "\\", formats=_CSV),
    Option(
        "charToEscapeQuoteEscaping", "string", None, "accepted", "quotes are unescaped once", formats=_CSV
    ),
    Option("comment", formats=_CSV),
    Option("nullValue", "string", "", formats=("csv", "xml"), note="XML has no default"),
    Option("emptyValue", "string", "", formats=_CSV),
    Option("nanValue", "string", "NaN", formats=("csv", "xml")),
    Option("positiveInf", "string", "Inf", formats=("csv", "xml")),
    Option("negativeInf", "string", "-Inf", formats=("csv", "xml")),
    Option("ignoreLeadingWhiteSpace", "bool", "false", formats=_CSV),
    Option("ignoreTrailingWhiteSpace", "bool", "false", formats=_CSV),
    Option("skipRows", "int", "0", formats=_CSV),
    Option("maxColumns", "int", "20480", formats=_CSV),
    Option("maxCharsPerColumn", "int", "-1", formats=_CSV, note="-1: no maximum"),
    Option("preferDate", "bool", "true", formats=("csv", "xml"), note="dates are tried before timestamps"),
    Option(
        "unescapedQuoteHandling",
        "choice",
        "STOP_AT_DELIMITER",
        choices=(
            *("STOP_AT_DELIMITER", "STOP_AT_CLOSING_QUOTE", "BACK_TO_DELIMITER", "SKIP_VALUE"),
            "RAISE_ERROR",
        ),
        formats=_CSV,
        note="BACK_TO_DELIMITER is refused",
    ),
    Option(
        "parserCaseSensitive", "bool", None, "accepted", "deprecated; see readerCaseSensitive", formats=_CSV
    ),
    Option("enforceSchema", "bool", None, "accepted", "columns are matched by name", formats=_CSV),
)

_XML_ROWS = (
    Option("rowTag", note="required for XML: the element of a row", formats=_XML),
    Option("attributePrefix", "string", "_", formats=_XML),
    Option(
        "valueTag",
        "string",
        "_VALUE",
        formats=_XML,
        note="the text of an element with attributes or elements",
    ),
    Option("excludeAttribute", "bool", "false", formats=_XML),
    Option(
        "wildcardColName",
        "string",
        "xs_any",
        formats=_XML,
        note="the column (string or array of strings) of elements that the schema lacks",
    ),
    Option("ignoreNamespace", "bool", "false", formats=_XML),
    Option("ignoreSurroundingSpaces", "bool", "true", formats=_XML),
    Option("rowValidationXSDPath", "path", note="records that do not conform are malformed", formats=_XML),
)

_EXCEL_ROWS = (
    Option(
        "dataAddress",
        "string",
        "",
        formats=_EXCEL,
        note="a sheet, a range of cells or both: Sheet1, A1:C10, 'Sheet 1'!A1:C10; default: the first sheet",
    ),
    Option("headerRows", "choice", "0", choices=("0", "1"), formats=_EXCEL, note="rows with column names"),
    Option(
        "operation",
        "choice",
        "readSheet",
        choices=("readSheet", "listSheets"),
        formats=_EXCEL,
        note="listSheets: one row for each sheet, with sheetIndex and sheetName",
    ),
)

FORMAT_ROWS = (
    *_RECORD_ROWS,
    *_JSON_ROWS,
    *_CSV_ROWS,
    *_XML_ROWS,
    *_EXCEL_ROWS,
    Option("failOnUnknownFields", "bool", None, "accepted", "use cloudFiles.schemaEvolutionMode", formats=()),
    Option("mergeSchema", "bool", None, "accepted", "schemas of all sampled files are merged"),
    Option(
        "datetimeRebaseMode",
        "string",
        None,
        "accepted",
        "dates are read without rebasing",
        formats=("parquet", "avro"),
    ),
    Option(
        "int96RebaseMode", "string", None, "accepted", "dates are read without rebasing", formats=("parquet",)
    ),
    Option("avroSchema", formats=("avro",), note="reader schema as JSON"),
    Option(
        "recursiveFieldMaxDepth",
        "int",
        None,
        "accepted",
        "schemas that contain themselves are not read",
        formats=("avro",),
    ),
    Option("wholeText", "bool", "false", formats=("text",), note="one row per file"),
)


PREFIX = "cloudFiles."
FORMATS = ("avro", "binaryFile", "csv", "excel", "json", "orc", "parquet", "text", "xml")
READABLE_FORMATS = tuple(name.lower() for name in FORMATS)
MODES = ("addNewColumns", "addNewColumnsWithTypeWidening", "failOnNewColumns", "none", "rescue")


def _add_prefix(rows: Iterable[Option]) -> list[Option]:
    return [
        Option(PREFIX + r.key, r.kind, r.default, r.verdict, r.note, r.choices, r.secret, r.formats)
        for r in rows
    ]


_LISTING = "files are discovered by listing, with the same result"

_COMMON = _add_prefix(
    [
        Option("format", "choice", None, choices=FORMATS, note="required"),
        Option("schemaLocation", "path", note="directory of inferred schema versions"),
        Option("inferColumnTypes", "bool", "false", note="types instead of strings (JSON, CSV, XML, Excel)"),
        Option("inferSchema", "bool", None, note="old name of cloudFiles.inferColumnTypes"),
        Option("schemaHints", "ddl", note="types of single columns; not with a user schema"),
        Option(
            "schemaEvolutionMode",
            "choice",
            None,
            choices=MODES,
            note="default: addNewColumns; none with a user schema",
        ),
        Option("partitionColumns", "list", None, note='Hive partition columns; "" for none'),
        Option("includeExistingFiles", "bool", "true", note="applies to the first start of a checkpoint"),
        Option("allowOverwrites", "bool", "false", note="changed files are read again completely"),
        Option("maxFilesPerTrigger", "int", "1000", note="hard limit per batch"),
        Option("maxBytesPerTrigger", "bytes", None, note="soft limit per batch"),
        Option(
            "maxFileAge",
            "interval",
            None,
            note="state of older files expires once they are deleted from the source",
        ),
        Option(
            "cleanSource",
            "choice",
            "OFF",
            note="delete or move processed files",
            choices=("OFF", "DELETE", "MOVE"),
        ),
        Option("cleanSource.retentionDuration", "interval", "30 days", note="more than 7 days for DELETE"),
        Option("cleanSource.moveDestination", "path", None, note="for MOVE; not below the source"),
        Option("cleanSource.waitForCompletion", "bool", "false", note="true: a batch cleans all due files"),
        Option("backfillInterval", "interval", None, "accepted", "every listing is complete"),
        Option("useStrictGlobber", "bool", "false", note="Spark's glob semantics instead of lenient ones"),
        Option("validateOptions", "bool", "true", note="reject unknown cloudFiles keys"),
        Option("useIncrementalListing", "string", "auto", "accepted", "every listing is complete"),
        Option("listOnStart", "bool", None, "accepted", "every start lists"),
        Option("rescuedDataColumn", "string", None, note="as rescuedDataColumn"),
    ]
)

_DISCOVERY = _add_prefix(
    [
        Option("useNotifications", "bool", "false", "accepted", _LISTING),
        Option("useManagedFileEvents", "bool", "false", "accepted", _LISTING),
        Option("fetchParallelism", "int", "1", "accepted", _LISTING),
        Option(
            "resourceTag",
            "string",
            None,
            "accepted",
            "resourceTag.<name>: no cloud resources are created",
        ),
        Option("pathRewrites", "string", None, "accepted", _LISTING),
        Option("restrictNotificationSetupToSameAWSAccountId", "bool", "false", "accepted", _LISTING),
        Option("queueUrl", "string", None, "accepted", "the path is listed instead"),
        Option("queueName", "string", None, "accepted", "the path is listed instead"),
        Option("subscription", "string", None, "accepted", "the path is listed instead"),
        *(
            Option(name, "string", None, "accepted", "no cloud resources are created", secret=True)
            for name in (
                *(
                    "region",
                    "roleArn",
                    "roleExternalId",
                    "roleSessionName",
                    "stsEndpoint",
                    "awsAccessKey",
                    "awsSecretKey",
                ),
                *(
                    "resourceGroup",
                    "subscriptionId",
                    "tenantId",
                    "clientId",
                    "clientSecret",
                    "connectionString",
                ),
                *("projectId", "client", "clientEmail", "privateKey", "privateKeyId"),
            )
        ),
    ]
)

_FILES = [
    Option(
        "databricks.serviceCredential",
        "string",
        None,
        "accepted",
        "no cloud resources are created",
        secret=True,
    ),
    Option("pathGlobFilter", "string", None, note="a glob on the file name"),
    Option("fileNamePattern", "string", None, note="alias of pathGlobFilter"),
    Option("modifiedAfter", "timestamp"),
    Option("modifiedBefore", "timestamp"),
    Option(
        "recursiveFileLookup",
        "bool",
        "false",
        note="true: no partition columns; listings are always recursive",
    ),
    Option("ignoreCorruptFiles", "bool", "false", note="skip unreadable files"),
    Option("ignoreMissingFiles", "bool", "false", note="skip files deleted before they are read"),
    Option("ignoredPathSegmentRegex", "string", "^[._]", note="ignored names"),
    Option("rescuedDataColumn", "string", None, note="default: _rescued_data for inferred schemas"),
    Option("readerCaseSensitive", "bool", "true", note="false: names match case-insensitively"),
]

OPTIONS: tuple[Option, ...] = (*_COMMON, *_DISCOVERY, *_FILES, *FORMAT_ROWS)


@cache
def _index_options() -> dict[str, Option]:
    return {option.key.lower(): option for option in OPTIONS}


def find_option(key: str) -> Option | None:
    """Return the option of a key in any case (also `cloudFiles.resourceTag.<name>`), None if unknown."""
    lower = key.lower()
    if lower.startswith("cloudfiles.resourcetag."):
        lower = "cloudfiles.resourcetag"
    return _index_options().get(lower)

"""Every option that Auto Loader knows, with what this runtime does about it (auto-loader.md §1.2–§1.5).

The table is the one source: parsing, the unknown-key check, warnings and the documentation read it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal

__all__ = ["FORMATS", "MODES", "OPTIONS", "PREFIX", "Option", "Verdict", "declared"]

PREFIX = "cloudFiles."
FORMATS = ("avro", "binaryFile", "csv", "json", "orc", "parquet", "text", "xml")
MODES = ("addNewColumns", "addNewColumnsWithTypeWidening", "failOnNewColumns", "none", "rescue")

Verdict = Literal["supported", "accepted", "refused"]
Kind = Literal["string", "bool", "int", "bytes", "interval", "list", "ddl", "path", "choice", "timestamp"]


@dataclass(frozen=True)
class Option:
    """One row: `key` as the documentation spells it, `default` as text (None: no default).

    `verdict`: supported; accepted (does nothing here, one warning says so); refused (a clear error).
    `secret` values never appear in a message. `formats` names the formats that know the key; empty: all.
    """

    key: str
    kind: Kind = "string"
    default: str | None = None
    verdict: Verdict = "supported"
    note: str = ""
    choices: tuple[str, ...] = ()
    secret: bool = False
    formats: tuple[str, ...] = ()


def _prefixed(rows: Iterable[Option]) -> list[Option]:
    return [
        Option(PREFIX + r.key, r.kind, r.default, r.verdict, r.note, r.choices, r.secret, r.formats)
        for r in rows
    ]


_NOT_YET = "not yet supported"
_LISTING = "files are always found by listing; the data is the same"

_COMMON = _prefixed(
    [
        Option("format", "choice", None, choices=FORMATS, note="required"),
        Option("schemaLocation", "path", note="where inferred schema versions live"),
        Option("inferColumnTypes", "bool", "false", note="real types for JSON and CSV instead of strings"),
        Option("inferSchema", "bool", None, "accepted", note="an old name of cloudFiles.inferColumnTypes"),
        Option("schemaHints", "ddl", note="types of single columns; only without a given schema"),
        Option(
            "schemaEvolutionMode",
            "choice",
            None,
            choices=MODES,
            note="addNewColumns; none with a given schema",
        ),
        Option("partitionColumns", "list", None, note='Hive partition columns; "" for none'),
        Option("includeExistingFiles", "bool", "true", note="read only at the first start of a checkpoint"),
        Option("allowOverwrites", "bool", "false", note="a changed file is read again, whole"),
        Option("maxFilesPerTrigger", "int", "1000", note="hard limit of a batch"),
        Option("maxBytesPerTrigger", "bytes", None, note="soft limit of a batch"),
        Option("maxFileAge", "interval", None, "refused", _NOT_YET),
        Option(
            "cleanSource",
            "choice",
            "OFF",
            "refused",
            f"{_NOT_YET}, but for OFF",
            choices=("OFF", "DELETE", "MOVE"),
        ),
        Option("cleanSource.retentionDuration", "interval", "30 days", "accepted", "nothing is cleaned"),
        Option("cleanSource.moveDestination", "path", None, "accepted", "nothing is moved"),
        Option("cleanSource.waitForCompletion", "bool", "false", "accepted", "nothing is cleaned"),
        Option("backfillInterval", "interval", None, "accepted", "every listing is complete"),
        Option("useStrictGlobber", "bool", "false", note="Spark's globs instead of lenient ones"),
        Option("validateOptions", "bool", "true", note="unknown cloudFiles keys are errors"),
        Option("useIncrementalListing", "string", "auto", "accepted", "every listing is complete"),
        Option("listOnStart", "bool", None, "accepted", "every start lists"),
        Option("rescuedDataColumn", "string", None, note="as rescuedDataColumn"),
    ]
)

_DISCOVERY = _prefixed(
    [
        Option("useNotifications", "bool", "false", "accepted", _LISTING),
        Option("useManagedFileEvents", "bool", "false", "accepted", _LISTING),
        Option("fetchParallelism", "int", "1", "accepted", _LISTING),
        Option(
            "resourceTag",
            "string",
            None,
            "accepted",
            "resourceTag.<name>: nothing is set up that could be tagged",
        ),
        Option("pathRewrites", "string", None, "accepted", _LISTING),
        Option("restrictNotificationSetupToSameAWSAccountId", "bool", "false", "accepted", _LISTING),
        Option("queueUrl", "string", None, "accepted", "the path is listed instead of the queue"),
        Option("queueName", "string", None, "accepted", "the path is listed instead of the queue"),
        Option("subscription", "string", None, "accepted", "the path is listed instead of the queue"),
        *(
            Option(name, "string", None, "accepted", "nothing is set up in a cloud", secret=True)
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
        "nothing is set up in a cloud",
        secret=True,
    ),
    Option("pathGlobFilter", "string", None, note="a glob on the file name"),
    Option("fileNamePattern", "string", None, note="another name of pathGlobFilter"),
    Option("modifiedAfter", "timestamp"),
    Option("modifiedBefore", "timestamp"),
    Option(
        "recursiveFileLookup",
        "bool",
        "false",
        note="true: no partition columns; folders are always read whole",
    ),
    Option("ignoreCorruptFiles", "bool", "false", note="files that cannot be read are skipped"),
    Option(
        "ignoreMissingFiles", "bool", "false", note="files that are gone before they are read are skipped"
    ),
    Option("ignoredPathSegmentRegex", "string", "^[._]", note="names that are invisible"),
    Option("rescuedDataColumn", "string", None, note="_rescued_data when the schema is inferred"),
    Option("readerCaseSensitive", "bool", "true", note="false: names match whatever their case"),
]

_CSV, _JSON, _TEXTS = ("csv",), ("json",), ("csv", "json")
_FORMAT = [
    Option(
        "mode", "choice", "PERMISSIVE", choices=("PERMISSIVE", "DROPMALFORMED", "FAILFAST"), formats=_TEXTS
    ),
    Option("columnNameOfCorruptRecord", "string", "_corrupt_record", formats=_TEXTS),
    Option("multiLine", "bool", "false", formats=_TEXTS),
    Option("badRecordsPath", "path", None, "refused", _NOT_YET, formats=_TEXTS),
    Option("dateFormat", "string", None, formats=_TEXTS),
    Option("timestampFormat", "string", None, formats=_TEXTS),
    Option("timestampNTZFormat", "string", None, formats=_TEXTS),
    Option("timeZone", "string", None, formats=_TEXTS, note="default: the session's"),
    Option("locale", "string", "en-US", "accepted", "numbers and dates are read as en-US", formats=_TEXTS),
    Option("encoding", "string", "UTF-8", formats=_TEXTS),
    Option("charset", "string", None, formats=_TEXTS, note="another name of encoding"),
    Option("lineSep", "string", None, formats=_TEXTS),
    Option("primitivesAsString", "bool", "false", formats=_JSON),
    Option("prefersDecimal", "bool", "false", formats=_JSON),
    Option("inferTimestamp", "bool", "false", formats=_JSON),
    Option("dropFieldIfAllNull", "bool", "false", formats=_JSON),
    Option("allowSingleQuotes", "bool", "true", formats=_JSON),
    Option("allowNonNumericNumbers", "bool", "true", formats=_JSON),
    Option("singleVariantColumn", "string", None, "refused", _NOT_YET, formats=_JSON),
    *(
        Option(name, "bool", "false", "refused", _NOT_YET, formats=_JSON)
        for name in (
            *("allowComments", "allowUnquotedFieldNames", "allowNumericLeadingZeros"),
            *("allowBackslashEscapingAnyCharacter", "allowUnquotedControlChars"),
        )
    ),
    Option("header", "bool", None, formats=_CSV, note="false; true when the schema is inferred"),
    Option("sep", "string", ",", formats=_CSV),
    Option("delimiter", "string", None, formats=_CSV, note="another name of sep"),
    Option("quote", "string", '"', formats=_CSV),
    Option("escape", "string", "\\", formats=_CSV),
    Option(
        "charToEscapeQuoteEscaping", "string", None, "accepted", "quotes are unescaped once", formats=_CSV
    ),
    Option("comment", "string", None, formats=_CSV),
    Option("nullValue", "string", "", formats=_CSV),
    Option("emptyValue", "string", "", formats=_CSV),
    Option("nanValue", "string", "NaN", formats=_CSV),
    Option("positiveInf", "string", "Inf", formats=_CSV),
    Option("negativeInf", "string", "-Inf", formats=_CSV),
    Option("ignoreLeadingWhiteSpace", "bool", "false", formats=_CSV),
    Option("ignoreTrailingWhiteSpace", "bool", "false", formats=_CSV),
    Option("skipRows", "int", "0", formats=_CSV),
    Option("maxColumns", "int", "20480", "accepted", "rows may have any width", formats=_CSV),
    Option("maxCharsPerColumn", "int", "-1", "accepted", "values may have any length", formats=_CSV),
    Option("preferDate", "bool", "true", formats=_CSV, note="inference tries dates before timestamps"),
    Option("unescapedQuoteHandling", "string", "STOP_AT_DELIMITER", "accepted", "always so", formats=_CSV),
    Option(
        "parserCaseSensitive", "bool", None, "accepted", "deprecated; see readerCaseSensitive", formats=_CSV
    ),
    Option("enforceSchema", "bool", None, "accepted", "columns go by name", formats=_CSV),
    Option("failOnUnknownFields", "bool", None, "accepted", "see cloudFiles.schemaEvolutionMode"),
    Option("mergeSchema", "bool", None, "accepted", "the schemas of all sampled files are merged"),
    Option(
        "datetimeRebaseMode",
        "string",
        None,
        "accepted",
        "dates are read as written",
        formats=("parquet", "avro"),
    ),
    Option("int96RebaseMode", "string", None, "accepted", "dates are read as written", formats=("parquet",)),
    Option("avroSchema", "string", None, "refused", _NOT_YET, formats=("avro",)),
    Option("wholeText", "bool", "false", "refused", _NOT_YET, formats=("text",)),
    *(
        Option(name, "string", default, "refused", _NOT_YET, formats=("xml",))
        for name, default in (
            *(
                ("rowTag", None),
                ("attributePrefix", "_"),
                ("valueTag", "_VALUE"),
                ("rowValidationXSDPath", None),
            ),
            *(("excludeAttribute", "false"), ("ignoreNamespace", "false")),
        )
    ),
]

OPTIONS: tuple[Option, ...] = (*_COMMON, *_DISCOVERY, *_FILES, *_FORMAT)


@cache
def _by_key() -> dict[str, Option]:
    return {option.key.lower(): option for option in OPTIONS}


def declared(key: str) -> Option | None:
    """The row of a key in any case (`cloudFiles.resourceTag.<name>` too), None for an unknown one."""
    lower = key.lower()
    if lower.startswith("cloudfiles.resourcetag."):
        lower = "cloudfiles.resourcetag"
    return _by_key().get(lower)

"""Every option that Auto Loader knows, with what this runtime does about it (auto-loader.md §1.2–§1.5).

The table is the one source: parsing, the unknown-key check, warnings and the documentation read it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from lakeward.autoloader.options.format_rows import FORMAT_ROWS
from lakeward.autoloader.options.row import Option, Verdict

__all__ = ["FORMATS", "MODES", "OPTIONS", "PREFIX", "Option", "Verdict", "declared"]

PREFIX = "cloudFiles."
FORMATS = ("avro", "binaryFile", "csv", "json", "orc", "parquet", "text", "xml")
MODES = ("addNewColumns", "addNewColumnsWithTypeWidening", "failOnNewColumns", "none", "rescue")


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
        Option("inferColumnTypes", "bool", "false", note="types instead of strings (JSON, CSV, XML)"),
        Option("inferSchema", "bool", None, note="an old name of cloudFiles.inferColumnTypes"),
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
        Option(
            "maxFileAge",
            "interval",
            None,
            note="older files are forgotten once they are gone from the source",
        ),
        Option(
            "cleanSource",
            "choice",
            "OFF",
            note="what becomes of files that were read",
            choices=("OFF", "DELETE", "MOVE"),
        ),
        Option("cleanSource.retentionDuration", "interval", "30 days", note="at the least 7 days for DELETE"),
        Option("cleanSource.moveDestination", "path", None, note="for MOVE; not below the source"),
        Option("cleanSource.waitForCompletion", "bool", "false", note="true: a batch cleans all that is due"),
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

OPTIONS: tuple[Option, ...] = (*_COMMON, *_DISCOVERY, *_FILES, *FORMAT_ROWS)


@cache
def _by_key() -> dict[str, Option]:
    return {option.key.lower(): option for option in OPTIONS}


def declared(key: str) -> Option | None:
    """The row of a key in any case (`cloudFiles.resourceTag.<name>` too), None for an unknown one."""
    lower = key.lower()
    if lower.startswith("cloudfiles.resourcetag."):
        lower = "cloudfiles.resourcetag"
    return _by_key().get(lower)

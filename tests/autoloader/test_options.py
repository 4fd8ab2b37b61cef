"""The table of options and what follows from it (spec §1)."""

from __future__ import annotations

import re

import pytest

from lakeward.autoloader.options import OPTIONS, Options, as_markdown, check, declared, warnings_of
from lakeward.autoloader.options.values import as_bytes, as_interval
from lakeward.errors import CloudFilesError

JSON = {"cloudFiles.format": "json"}


def condition(given_schema: bool = True, **options: str) -> str | None:
    try:
        check(
            Options.of({**JSON, **{k.replace("cf_", "cloudFiles."): v for k, v in options.items()}}),
            given_schema=given_schema,
        )
    except CloudFilesError as error:
        return error.condition
    return None


def test_every_option_of_the_specification_is_declared() -> None:
    common = """
        format schemaLocation inferColumnTypes schemaHints schemaEvolutionMode partitionColumns
        includeExistingFiles allowOverwrites maxFilesPerTrigger maxBytesPerTrigger maxFileAge
        cleanSource cleanSource.retentionDuration cleanSource.moveDestination
        cleanSource.waitForCompletion backfillInterval useStrictGlobber validateOptions
        useIncrementalListing listOnStart useNotifications useManagedFileEvents fetchParallelism
        pathRewrites restrictNotificationSetupToSameAWSAccountId region roleArn roleExternalId
        roleSessionName stsEndpoint awsAccessKey awsSecretKey resourceGroup subscriptionId
        tenantId clientId clientSecret connectionString projectId client clientEmail privateKey
        privateKeyId queueUrl queueName subscription rescuedDataColumn inferSchema
    """
    plain = """
        databricks.serviceCredential pathGlobFilter fileNamePattern modifiedAfter modifiedBefore
        recursiveFileLookup ignoreCorruptFiles ignoreMissingFiles ignoredPathSegmentRegex
        rescuedDataColumn readerCaseSensitive header mergeSchema enforceSchema skipRows
        maxCharsPerColumn maxColumns unescapedQuoteHandling preferDate charToEscapeQuoteEscaping
        parserCaseSensitive inferTimestamp prefersDecimal primitivesAsString dropFieldIfAllNull
        allowSingleQuotes allowNonNumericNumbers badRecordsPath mode columnNameOfCorruptRecord
        multiLine dateFormat timestampFormat timeZone locale encoding charset lineSep
        singleVariantColumn rowTag datetimeRebaseMode int96RebaseMode avroSchema wholeText
    """
    keys = [f"cloudFiles.{key}" for key in common.split()] + plain.split()
    assert [key for key in keys if declared(key) is None] == []
    assert declared("CLOUDFILES.RESOURCETAG.team") is declared("cloudFiles.resourceTag")
    assert len({option.key.lower() for option in OPTIONS}) == len(OPTIONS)


def test_defaults_are_values_of_their_own_kind() -> None:
    for option in OPTIONS:
        if option.default is not None:
            Options.of({}).value(option.key)


@pytest.mark.parametrize(
    "key", ["pathGlobFilter", "fileNamePattern", "readerCaseSensitive", "caseSensitive", "checkpointLocation"]
)
def test_unknown_prefixed_keys_are_refused_lower_cased_and_only_with_validation(key: str) -> None:
    with pytest.raises(CloudFilesError, match=re.escape(f"cloudfiles.{key.lower()}")):
        check(Options.of({**JSON, f"cloudFiles.{key}": "x"}), given_schema=True)
    check(
        Options.of({**JSON, f"cloudFiles.{key}": "x", "cloudFiles.validateOptions": "false"}),
        given_schema=True,
    )


def test_unprefixed_unknown_keys_pass() -> None:
    assert condition(whatever="1") is None


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"cf_schemaEvolutionMode": "ADDNEWCOLUMNS"}, "CF_ADD_NEW_NOT_SUPPORTED"),
        ({"cf_schemaEvolutionMode": "odd"}, "CF_INVALID_SCHEMA_EVOLUTION_MODE"),
        ({"cf_format": "orc"}, "CF_UNSUPPORTED_FORMAT"),
        ({"cf_format": "excel"}, "CF_INVALID_OPTION_VALUE"),
        ({"cf_cleanSource": "DELETE"}, "CF_UNSUPPORTED_OPTION"),
        ({"cf_cleanSource": "off"}, None),
        ({"cf_maxFilesPerTrigger": "0"}, "CF_INVALID_OPTION_VALUE"),
        ({"cf_inferColumnTypes": "TRUE", "cf_useNotifications": "true"}, None),
    ],
)
def test_what_is_refused(options: dict[str, str], expected: str | None) -> None:
    assert condition(**options) == expected


def test_a_format_is_required() -> None:
    with pytest.raises(CloudFilesError, match="CF_FILE_FORMAT_REQUIRED"):
        check(Options.of({}), given_schema=True)


def test_accepted_options_warn_without_their_values() -> None:
    options = Options.of(
        {**JSON, "cloudFiles.clientSecret": "hunter2", "cloudFiles.useNotifications": "true"}
    )
    texts = warnings_of(options)
    assert len(texts) == 2
    assert "hunter2" not in "".join(texts)


def test_a_bad_value_of_a_secret_is_not_shown() -> None:
    row = declared("cloudFiles.awsSecretKey")
    assert row is not None
    assert row.secret


def test_sizes_and_intervals() -> None:
    assert [as_bytes(text) for text in ("10g", "500 MB", "7", "1b")] == [10 << 30, 500 << 20, 7, 1]
    assert as_interval("interval 1 week 2 days").days == 9
    for parse, text in ((as_bytes, "10 zb"), (as_interval, "soon"), (as_interval, "3 days x")):
        with pytest.raises(ValueError, match="such as"):
            parse(text)


def test_credentials_do_not_leave_the_process_that_was_given_them() -> None:
    options = Options.of({**JSON, "cloudFiles.clientSecret": "hunter2", "cloudFiles.maxFilesPerTrigger": "5"})
    kept = options.without_secrets()
    assert "hunter2" not in str(kept)
    assert kept.max_files == 5
    assert warnings_of(kept) == warnings_of(options)


def test_the_documented_table_has_a_row_for_every_option() -> None:
    lines = as_markdown().splitlines()
    assert len(lines) == len(OPTIONS) + 2
    assert (
        "| `cloudFiles.maxFilesPerTrigger` | int | `1000` | all | supported | hard limit of a batch |"
        in lines
    )
    assert {line.count(" | ") for line in lines[2:]} == {5}

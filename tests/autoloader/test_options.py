"""The option table, validation and warnings (AL-1)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lakeward.autoloader.options.option_parsing import parse_bytes, parse_interval
from lakeward.autoloader.options.option_table import FORMATS, OPTIONS, Option, find_option
from lakeward.autoloader.options.option_validation import option_warnings, validate_options
from lakeward.autoloader.options.option_values import Options
from lakeward.errors import CloudFilesError
from tests.autoloader.reader_harness import rows_of, schema_of

JSON = {"cloudFiles.format": "json"}


def condition(has_user_schema: bool = True, **options: str) -> str | None:
    try:
        validate_options(
            Options.of({**JSON, **{k.replace("cf_", "cloudFiles."): v for k, v in options.items()}}),
            has_user_schema=has_user_schema,
        )
    except CloudFilesError as error:
        return error.condition
    return None


# Name, default and status of every option that the documentation lists (AL-1.2 to AL-1.5): supported, or
# accepted with one warning. A dash is no default, `''` is the empty text.
PREFIXED = """
format - supported            | schemaLocation - supported        | inferColumnTypes false supported
schemaHints - supported       | schemaEvolutionMode - supported   | partitionColumns - supported
includeExistingFiles true supported | allowOverwrites false supported | maxFilesPerTrigger 1000 supported
maxBytesPerTrigger - supported | useStrictGlobber false supported | validateOptions true supported
backfillInterval - accepted   | useIncrementalListing auto accepted | listOnStart - accepted
useNotifications false accepted | useManagedFileEvents false accepted | fetchParallelism 1 accepted
resourceTag - accepted        | pathRewrites - accepted
restrictNotificationSetupToSameAWSAccountId false accepted
region - accepted             | roleArn - accepted                | roleExternalId - accepted
roleSessionName - accepted    | stsEndpoint - accepted            | awsAccessKey - accepted
awsSecretKey - accepted       | resourceGroup - accepted          | subscriptionId - accepted
tenantId - accepted           | clientId - accepted               | clientSecret - accepted
connectionString - accepted   | projectId - accepted              | client - accepted
clientEmail - accepted        | privateKey - accepted             | privateKeyId - accepted
queueUrl - accepted           | queueName - accepted              | subscription - accepted
rescuedDataColumn - supported | inferSchema - supported
"""
PLAIN = r"""
databricks.serviceCredential - accepted | pathGlobFilter - supported | fileNamePattern - supported
modifiedAfter - supported     | modifiedBefore - supported        | recursiveFileLookup false supported
ignoreCorruptFiles false supported | ignoreMissingFiles false supported
ignoredPathSegmentRegex ^[._] supported | rescuedDataColumn - supported | readerCaseSensitive true supported
header - supported            | mergeSchema - accepted            | enforceSchema - accepted
skipRows 0 supported          | maxCharsPerColumn -1 supported    | maxColumns 20480 supported
unescapedQuoteHandling STOP_AT_DELIMITER supported | preferDate true supported
charToEscapeQuoteEscaping - accepted | parserCaseSensitive - accepted
inferTimestamp false supported | prefersDecimal false supported   | primitivesAsString false supported
dropFieldIfAllNull false supported | allowSingleQuotes true supported | allowNonNumericNumbers true supported
badRecordsPath - supported    | mode PERMISSIVE supported
columnNameOfCorruptRecord _corrupt_record supported | multiLine false supported
dateFormat - supported        | timestampFormat - supported       | timeZone - supported
locale en-US accepted         | encoding UTF-8 supported          | charset - supported
lineSep - supported           | singleVariantColumn - supported   | rowTag - supported
attributePrefix _ supported   | valueTag _VALUE supported         | rowValidationXSDPath - supported
samplingRatio 1.0 accepted    | excludeAttribute false supported  | ignoreNamespace false supported
datetimeRebaseMode - accepted | int96RebaseMode - accepted        | avroSchema - supported
wholeText false supported     | wildcardColName xs_any supported  | timestampNTZFormat - supported
inferSchema - accepted        | failOnUnknownFields - accepted    | ignoreSurroundingSpaces true supported
allowComments false supported | allowUnquotedFieldNames false supported
allowNumericLeadingZeros false supported | allowBackslashEscapingAnyCharacter false supported
allowUnquotedControlChars false supported | sep , supported       | delimiter - supported
quote " supported             | escape \ supported                | comment - supported
nullValue '' supported        | emptyValue '' supported           | nanValue NaN supported
positiveInf Inf supported     | negativeInf -Inf supported
ignoreLeadingWhiteSpace false supported | ignoreTrailingWhiteSpace false supported
recursiveFieldMaxDepth - accepted
dataAddress '' supported      | headerRows 0 supported            | operation readSheet supported
"""
STATE = """
maxFileAge cleanSource cleanSource.retentionDuration cleanSource.moveDestination cleanSource.waitForCompletion
"""


def listed(text: str, prefix: str = "") -> list[tuple[str, str | None, str]]:
    rows = [cell.split() for line in text.strip().splitlines() for cell in line.split("|")]
    defaults = {"-": None, "''": ""}
    return [(prefix + key, defaults.get(default, default), verdict) for key, default, verdict in rows]


@pytest.mark.rule("1.2", "1.3", "1.4", "1.5")
@pytest.mark.parametrize(("key", "default", "verdict"), [*listed(PREFIXED, "cloudFiles."), *listed(PLAIN)])
def test_every_option_of_the_specification_has_its_default_and_its_verdict(
    key: str, default: str | None, verdict: str
) -> None:
    row = find_option(key.upper())
    assert row is not None
    assert (row.key, row.default, row.verdict) == (key, default, verdict)


@pytest.mark.rule("1.2", "1.3", "1.4", "1.5")
def test_every_option_of_the_table_is_listed_here() -> None:
    listed_keys = {key for key, _, _ in [*listed(PREFIXED, "cloudFiles."), *listed(PLAIN)]}
    listed_keys |= {f"cloudFiles.{key}" for key in STATE.split()}
    assert {option.key for option in OPTIONS} == listed_keys


def test_options_of_the_state_are_declared_and_no_key_twice() -> None:
    assert [key for key in STATE.split() if find_option(f"cloudFiles.{key}") is None] == []
    assert find_option("CLOUDFILES.RESOURCETAG.team") is find_option("cloudFiles.resourceTag")
    assert len({option.key.lower() for option in OPTIONS}) == len(OPTIONS)


def test_defaults_are_values_of_their_own_kind() -> None:
    for option in OPTIONS:
        if option.default is not None:
            Options.of({}).value(option.key)


@pytest.mark.rule("1.1.2", "1.1.3", "1.1.6", "1.1.8")
@pytest.mark.parametrize(
    "key", ["pathGlobFilter", "fileNamePattern", "readerCaseSensitive", "caseSensitive", "checkpointLocation"]
)
def test_unknown_prefixed_keys_are_refused_lower_cased_and_only_with_validation(key: str) -> None:
    with pytest.raises(CloudFilesError, match=re.escape(f"cloudfiles.{key.lower()}")):
        validate_options(Options.of({**JSON, f"cloudFiles.{key}": "x"}), has_user_schema=True)
    validate_options(
        Options.of({**JSON, f"cloudFiles.{key}": "x", "cloudFiles.validateOptions": "false"}),
        has_user_schema=True,
    )


@pytest.mark.rule("1.1.3")
def test_unprefixed_unknown_keys_pass() -> None:
    assert condition(whatever="1") is None


@pytest.mark.rule("1.1.5")
@pytest.mark.parametrize("name", FORMATS)
def test_known_keys_do_not_depend_on_the_format(name: str) -> None:
    """An option of another format is no error, an unknown key is one with every format."""
    assert condition(cf_format=name, rowTag="r", skipRows="1", wholeText="true") is None
    assert condition(cf_format=name, rowTag="r", cf_odd="1") == "CF_UNKNOWN_OPTION_KEYS_ERROR"


@pytest.mark.rule("1.1.7")
def test_two_prefixed_keys_of_the_platforms_own_repositories_are_known() -> None:
    options = Options.of({**JSON, "cloudFiles.rescuedDataColumn": "r", "cloudFiles.inferSchema": "true"})
    validate_options(options, has_user_schema=True)
    assert (options.rescued_column, options.infer_types) == ("r", True)
    assert not option_warnings(options)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"cf_schemaEvolutionMode": "ADDNEWCOLUMNS"}, "CF_ADD_NEW_NOT_SUPPORTED"),
        ({"cf_schemaEvolutionMode": "odd"}, "CF_INVALID_SCHEMA_EVOLUTION_MODE"),
        ({"cf_format": "orc"}, None),
        ({"cf_format": "BINARYfile"}, None),
        ({"cf_format": "xml"}, "XML_ROW_TAG_MISSING"),
        ({"cf_format": "text", "cf_schemaEvolutionMode": "rescue"}, "CF_UNSUPPORTED_SCHEMA_EVOLUTION_MODE"),
        ({"cf_format": "binaryFile", "cf_schemaEvolutionMode": "none"}, None),
        ({"cf_format": "excel", "cf_schemaEvolutionMode": "rescue"}, "CF_UNSUPPORTED_SCHEMA_EVOLUTION_MODE"),
        ({"cf_format": "excel", "cf_schemaEvolutionMode": "None"}, None),
        ({"cf_format": "excel", "headerRows": "2"}, "CF_INVALID_OPTION_VALUE"),
        ({"cf_format": "Delta"}, "CF_USE_DELTA_FORMAT"),
        ({"cf_cleanSource": "off"}, None),
        ({"cf_maxFilesPerTrigger": "0"}, "CF_MAX_MUST_BE_POSITIVE"),
        ({"cf_maxFilesPerTrigger": "-3"}, "CF_MAX_MUST_BE_POSITIVE"),
        ({"cf_maxBytesPerTrigger": "0"}, "CF_MAX_MUST_BE_POSITIVE"),
        ({"cf_maxBytesPerTrigger": "0g"}, "CF_MAX_MUST_BE_POSITIVE"),
        ({"cf_maxBytesPerTrigger": "1b"}, None),
        ({"cf_cleanSource": "PURGE"}, "CF_INVALID_CLEAN_SOURCE_MODE"),
        ({"cf_cleanSource": ""}, "CF_INVALID_CLEAN_SOURCE_MODE"),
        ({"cf_cleanSource": "DELETE", "cf_maxFileAge": "20 days"}, "CF_RETENTION_GREATER_THAN_MAX_FILE_AGE"),
        (
            {
                "cf_cleanSource": "DELETE",
                "cf_maxFileAge": "20 days",
                "cf_cleanSource.retentionDuration": "20 days",
            },
            None,
        ),
        ({"cf_maxFileAge": "20 days", "cf_cleanSource.retentionDuration": "21 days"}, None),
        ({"cf_maxFileAge": "13 days"}, "CF_INVALID_OPTION_VALUE"),
        ({"cf_maxFileAge": "14 days"}, None),
        ({"cf_inferColumnTypes": "TRUE", "cf_useNotifications": "true"}, None),
        *(
            ({"cf_format": name, "lineSep": ""}, "INVALID_LINE_SEPARATOR.EMPTY")
            for name in ("csv", "json", "TEXT")
        ),
        ({"cf_format": "CSV", "lineSep": "abc"}, "INVALID_LINE_SEPARATOR.TOO_LONG"),
        ({"cf_format": "csv", "lineSep": "ab"}, None),
        ({"cf_format": "text", "lineSep": "abc"}, None),
        ({"cf_format": "parquet", "lineSep": ""}, None),
    ],
)
def test_what_is_refused(options: dict[str, str], expected: str | None) -> None:
    assert condition(**options) == expected


_INVALID = {
    "encoding": ("nope", "INVALID_PARAMETER_VALUE.CHARSET", ("csv", "json", "text", "xml")),
    "charset": ("nope", "INVALID_PARAMETER_VALUE.CHARSET", ("csv", "json", "text", "xml")),
    "timeZone": ("Nowhere", "INVALID_TIMEZONE", ("csv", "json", "xml")),
    "dateFormat": ("yyyy-bb", "INVALID_DATETIME_PATTERN.ILLEGAL_CHARACTER", ("csv", "json", "xml")),
    "timestampFormat": ("yyyy-qq", "CF_INVALID_OPTION_VALUE", ("csv", "json", "xml")),
    "header": ("maybe", "CF_INVALID_OPTION_VALUE", ("csv",)),
    "sep": ("", "CF_INVALID_OPTION_VALUE", ("csv",)),
    "multiLine": ("x", "CF_INVALID_OPTION_VALUE", ("csv", "json")),
    "lineSep": ("", "INVALID_LINE_SEPARATOR.EMPTY", ("csv", "json", "text")),
    "skipRows": ("x", "CF_INVALID_OPTION_VALUE", ("csv",)),
    **dict.fromkeys(("quote", "escape", "comment"), ("ab", "OPTION_VALUE_EXCEEDS_ONE_CHARACTER", ("csv",))),
}
_TEXTS = {"csv": "a\n1\n", "json": '{"a": "1"}\n', "text": "1\n", "xml": "<r><a>1</a></r>"}


@pytest.mark.parametrize(
    ("key", "cf_format"), [(key, name) for key, (*_, formats) in _INVALID.items() for name in formats]
)
def test_a_value_that_a_reader_refuses_has_its_condition(tmp_path: Path, key: str, cf_format: str) -> None:
    value, condition, _ = _INVALID[key]
    path = tmp_path / "a"
    path.write_text(_TEXTS[cf_format])
    more = {"rowTag": "r"} if cf_format == "xml" else {"header": True} if cf_format == "csv" else {}
    column = "value" if cf_format == "text" else "a"
    with pytest.raises(CloudFilesError) as error:
        rows_of([path], schema_of(**{column: "string"}), cf_format=cf_format, **(more | {key: value}))
    assert error.value.condition == condition
    assert repr(value) in str(error.value)


AUTH = {"cf_clientSecret": "hunter2", "cf_tenantId": "t"}
MANAGED = "CF_INVALID_MANAGED_FILE_EVENTS_OPTION_KEYS"


@pytest.mark.rule("1.3")
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (AUTH, "CF_AMBIGUOUS_AUTH_OPTIONS_ERROR"),
        ({**AUTH, "cf_useNotifications": "true"}, None),
        ({**AUTH, "cf_useManagedFileEvents": "true"}, None),
        ({**AUTH, "cf_validateOptions": "false"}, None),
        (
            {"cf_useNotifications": "true", "cf_useIncrementalListing": "true"},
            "CF_AMBIGUOUS_INCREMENTAL_LISTING_MODE_ERROR",
        ),
        ({"cf_useNotifications": "true", "cf_useIncrementalListing": "false"}, None),
        ({"cf_useManagedFileEvents": "true", "cf_backfillInterval": "1 day"}, MANAGED),
        ({"cf_useManagedFileEvents": "true", "cf_resourceTag.team": "x"}, MANAGED),
        (
            {"cf_cleanSource": "DELETE", "cf_allowOverwrites": "true"},
            "CF_CLEAN_SOURCE_ALLOW_OVERWRITES_BOTH_ON",
        ),
    ],
)
def test_options_that_are_refused_together(options: dict[str, str], expected: str | None) -> None:
    assert condition(**options) == expected


@pytest.mark.rule("1.3")
def test_the_error_for_credentials_names_the_keys_and_no_value() -> None:
    with pytest.raises(CloudFilesError) as error:
        validate_options(Options.of({**JSON, "cloudFiles.clientSecret": "hunter2"}), has_user_schema=True)
    assert "cloudFiles.clientSecret" in str(error.value)
    assert "hunter2" not in str(error.value)


def test_a_format_is_required() -> None:
    with pytest.raises(CloudFilesError, match="CF_FILE_FORMAT_REQUIRED"):
        validate_options(Options.of({}), has_user_schema=True)


def test_accepted_options_warn_without_their_values() -> None:
    options = Options.of(
        {**JSON, "cloudFiles.clientSecret": "hunter2", "cloudFiles.useNotifications": "true"}
    )
    texts = option_warnings(options)
    assert len(texts) == 2
    assert "hunter2" not in "".join(texts)


@pytest.mark.parametrize("row", [row for row in OPTIONS if row.verdict == "accepted" and row.default])
def test_an_option_with_its_default_is_no_warning(row: Option) -> None:
    assert not option_warnings(Options.of({**JSON, row.key: str(row.default)}))
    assert not option_warnings(Options.of({**JSON, row.key: f" {str(row.default).upper()} "}))
    assert option_warnings(Options.of({**JSON, row.key: "7"}))


def test_a_bad_value_of_a_secret_is_not_shown() -> None:
    row = find_option("cloudFiles.awsSecretKey")
    assert row is not None
    assert row.secret


def test_sizes_and_intervals() -> None:
    assert [parse_bytes(text) for text in ("10g", "500 MB", "7", "1b")] == [10 << 30, 500 << 20, 7, 1]
    assert parse_interval("interval 1 week 2 days").days == 9
    for parse, text in ((parse_bytes, "10 zb"), (parse_interval, "soon"), (parse_interval, "3 days x")):
        with pytest.raises(ValueError, match="such as"):
            parse(text)


def test_credentials_do_not_leave_the_process_that_was_given_them() -> None:
    secrets = {"cloudFiles.clientSecret": "hunter2", "fs.s3a.secret.key": "hunter2"}
    options = Options.of({**JSON, **secrets, "cloudFiles.maxFilesPerTrigger": "5"})
    kept = options.without_secrets()
    assert "hunter2" not in str(kept)
    assert kept.max_files == 5
    assert option_warnings(kept) == option_warnings(options)


@pytest.mark.rule("3.4")
@pytest.mark.parametrize(("value", "expected"), [("false", "CF_UNSUPPORTED_OPTION"), ("true", None)])
def test_types_that_widen_need_exact_numbers(value: str, expected: str | None) -> None:
    mode = {"cf_schemaEvolutionMode": "addNewColumnsWithTypeWidening"}
    assert condition(has_user_schema=False, prefersDecimal=value, **mode) == expected

"""The grammar of COPY INTO, without Spark (AL-8)."""

from __future__ import annotations

from typing import Any

import pytest

from lakeward.copy_into.request import CopyIntoRequest
from lakeward.errors import SqlError
from lakeward.sql import CopyInto, Refusal, rewrite


def parsed(text: str) -> dict[str, Any]:
    outcome = rewrite(text)
    assert isinstance(outcome, CopyInto), outcome
    return vars(outcome)


def refused(text: str) -> Refusal:
    outcome = rewrite(text)
    assert isinstance(outcome, Refusal), outcome
    return outcome


def test_every_clause_in_one_statement() -> None:
    assert parsed(
        """copy into main.s.`t t` (a, b)  -- a list
        FROM 's3://b/x' WITH (CREDENTIAL (AWS_ACCESS_KEY = 'a', AWS_SECRET_KEY = 'b')
            ENCRYPTION (TYPE = 'AWS_SSE_C', MASTER_KEY = 'c'))
        FILEFORMAT = CSV VALIDATE 15 ROWS FILES = ('1.csv', '2.csv')
        FORMAT_OPTIONS ('header' = 'false', 'sep'=';', multiLine = true)
        COPY_OPTIONS ('force' = 'true');"""
    ) == {
        "target": ["main", "s", "t t"],
        "by_position": False,
        "columns": ["a", "b"],
        "source": "s3://b/x",
        "select": None,
        "file_format": "CSV",
        "validate": 15,
        "files": ["1.csv", "2.csv"],
        "pattern": None,
        "format_options": {"header": "false", "sep": ";", "multiLine": "true"},
        "copy_options": {"force": "true"},
    }


_KEYS = "AWS_ACCESS_KEY = 'a', 'aws_secret_key' = 'b'"
_SSE = "TYPE = 'aws_sse_c', MASTER_KEY = 'c'"


@pytest.mark.parametrize("query", ["{}", "(SELECT a FROM {})", "(SELECT a FROM {} AS f)"])
@pytest.mark.parametrize(
    ("path", "clause", "condition"),
    [
        ("/Volumes/x", "CREDENTIAL c", None),
        ("s3://b/x", "CREDENTIAL `c`", None),
        ("s3a://b/x", f"CREDENTIAL ({_KEYS}, AWS_SESSION_TOKEN = 't')", None),
        ("abfss://c@a/x", "CREDENTIAL (AZURE_SAS_TOKEN = 't')", None),
        ("abfss://c@a/x", "CREDENTIAL c ENCRYPTION (TYPE = 'x')", None),
        ("S3N://b/x", f"ENCRYPTION ({_SSE})", None),
        *(
            (path, f"CREDENTIAL ({_KEYS})", "COPY_INTO_CREDENTIALS_NOT_ALLOWED_ON")
            for path in ("/Volumes/x", "dbfs:/x", "gs://b/x", "file:///x")
        ),
        ("s3://b/x", "CREDENTIAL ()", "COPY_INTO_CREDENTIALS_REQUIRED"),
        ("s3://b/x", "CREDENTIAL (AWS_ACCESS_KEY = 'a')", "COPY_INTO_CREDENTIALS_REQUIRED"),
        ("wasbs://c@a/x", f"CREDENTIAL ({_KEYS})", "COPY_INTO_CREDENTIALS_REQUIRED"),
        *(
            (path, f"ENCRYPTION ({_SSE})", "COPY_INTO_ENCRYPTION_NOT_ALLOWED_ON")
            for path in ("/Volumes/x", "gs://b/x")
        ),
        ("wasbs://c@a/x", f"ENCRYPTION ({_SSE})", "COPY_INTO_ENCRYPTION_NOT_SUPPORTED_FOR_AZURE"),
        ("s3://b/x", "ENCRYPTION (MASTER_KEY = 'c')", "COPY_INTO_ENCRYPTION_REQUIRED"),
        ("s3://b/x", "ENCRYPTION (TYPE = 'AWS_SSE_C')", "COPY_INTO_ENCRYPTION_REQUIRED"),
        (
            "s3://b/x",
            f"CREDENTIAL ({_KEYS}) ENCRYPTION (TYPE = 'X', MASTER_KEY = 'c')",
            "COPY_INTO_ENCRYPTION_REQUIRED_WITH_EXPECTED",
        ),
        ("s3://b/x", "NONSENSE", "PARSE_SYNTAX_ERROR"),
    ],
)
def test_credentials_and_encryption_of_the_source(
    query: str, path: str, clause: str, condition: str | None
) -> None:
    source = query.format(f"'{path}' WITH ({clause})")
    statement = f"COPY INTO t FROM {source} FILEFORMAT = CSV"
    found = refused(statement).condition if condition else parsed(statement)["source"]
    assert found == (condition or path)


@pytest.mark.parametrize("source", ["''", "(SELECT a FROM '')"])
def test_an_empty_path_is_not_the_current_folder(source: str) -> None:
    refusal = refused(f"COPY INTO t FROM {source} FILEFORMAT = CSV")
    assert (refusal.condition, refusal.sql_state) == ("INVALID_EMPTY_LOCATION", "42K05")


@pytest.mark.parametrize(
    ("query", "before", "behind"),
    [
        ("SELECT * FROM 's3://b/x'", "SELECT * FROM", ""),
        ("SELECT a, trim(both ' ' FROM b) FROM 's3://b/x'", "SELECT a, trim(both ' ' FROM b) FROM", ""),
        ("SELECT _metadata.file_path p FROM 's3://b/x' AS f", "SELECT _metadata.file_path p FROM", "AS f"),
        ("SELECT (SELECT max(x) FROM u) m FROM 's3://b/x'", "SELECT (SELECT max(x) FROM u) m FROM", ""),
    ],
)
def test_a_query_is_the_text_around_the_path(query: str, before: str, behind: str) -> None:
    found = parsed(f"COPY INTO delta.`/t` FROM ({query}) FILEFORMAT = JSON PATTERN = '*.json'")
    assert (found["source"], found["select"]) == ("s3://b/x", [before, behind])
    assert (found["target"], found["pattern"]) == (["delta", "/t"], "*.json")


@pytest.mark.parametrize(
    ("clause", "expected"), [("VALIDATE", "all"), ("VALIDATE ALL", "all"), ("VALIDATE 3 ROWS", 3), ("", None)]
)
def test_what_is_to_be_validated(clause: str, expected: object) -> None:
    assert parsed(f"COPY INTO t FROM '/x' FILEFORMAT = JSON {clause}")["validate"] == expected


@pytest.mark.parametrize("rows", ["0", "-1"])
def test_validating_no_rows_is_a_mistake(rows: str) -> None:
    refusal = refused(f"COPY INTO t FROM '/x' FILEFORMAT = JSON VALIDATE {rows} ROWS")
    assert refusal.condition == "COPY_INTO_SYNTAX_ERROR.VALIDATE_INVALID_ROWS"


@pytest.mark.parametrize(
    ("statement", "near"),
    [
        ("COPY INTO t", "end of input"),
        ("COPY INTO t FROM x FILEFORMAT = CSV", "'x'"),
        ("COPY INTO t FROM '/x'", "end of input"),
        ("COPY INTO t FROM '/x' FILEFORMAT = 'csv'", "''csv''"),
        ("COPY INTO t FROM '/x' FILEFORMAT =", "end of input"),
        ("COPY INTO t FROM '/x' FILEFORMAT = CSV NONSENSE", "'NONSENSE'"),
        ("COPY INTO t FROM '/x' FILEFORMAT = CSV FORMAT_OPTIONS ('a' 'b')", "''b''"),
        ("COPY INTO t FROM (SELECT a FROM '/x' GROUP BY a) FILEFORMAT = CSV", "'BY'"),
        ("COPY INTO t VERSION AS OF 1 FROM '/x' FILEFORMAT = CSV", "'VERSION'"),
    ],
)
def test_a_syntax_error_names_the_token(statement: str, near: str) -> None:
    refusal = refused(statement)
    assert (refusal.condition, refusal.parameters) == ("PARSE_SYNTAX_ERROR", {"error": near, "hint": ""})


@pytest.mark.parametrize("source", ["'/x'", "(SELECT a FROM '/x')"])
@pytest.mark.parametrize("name", ["DELTA", "iceberg"])
def test_a_format_that_copy_into_lacks_is_refused_by_name(source: str, name: str) -> None:
    refusal = refused(f"COPY INTO t FROM {source} FILEFORMAT = {name} COPY_OPTIONS ('force' = 'true')")
    expected = ("COPY_INTO_SOURCE_FILE_FORMAT_NOT_SUPPORTED", "0A000")
    assert (refusal.condition, refusal.sql_state) == expected
    assert name.lower() in refusal.message.lower()


def test_at_most_a_thousand_files_and_not_with_a_pattern() -> None:
    names = ", ".join(f"'{n}'" for n in range(1001))
    many = refused(f"COPY INTO t FROM '/x' FILEFORMAT = CSV FILES = ({names})")
    both = refused("COPY INTO t FROM '/x' FILEFORMAT = CSV FILES = ('a') PATTERN = '*'")
    assert (many.condition, both.condition) == ("COPY_INTO_SYNTAX_ERROR", "COPY_INTO_SYNTAX_ERROR")


@pytest.mark.parametrize("key", ["force", "mergeSchema", "MERGESCHEMA"])
@pytest.mark.parametrize(
    ("value", "found"), [("true", True), (" FALSE ", False), ("maybe", None), ("1", None), ("", None)]
)
def test_a_copy_option_is_true_or_false(key: str, value: str, found: bool | None) -> None:
    command = rewrite(f"COPY INTO t FROM '/x' FILEFORMAT = CSV COPY_OPTIONS ('{key}' = '{value}')")
    assert isinstance(command, CopyInto)
    if found is None:
        with pytest.raises(SqlError, match="COPY_INTO_SYNTAX_ERROR"):
            CopyIntoRequest.of(command)
        return
    request = CopyIntoRequest.of(command)
    assert (request.force, request.merge_schema) == ((found, False) if key == "force" else (False, found))


@pytest.mark.rule("8.15")
@pytest.mark.parametrize(
    ("file_format", "option", "is_supported"),
    [
        ("JSON", "rescuedDataColumn", False),
        ("CSV", "RESCUEDDATACOLUMN", False),
        ("CSV", "columnNameOfCorruptRecord", False),
        ("JSON", "columnNameOfCorruptRecord", True),
    ],
)
def test_columns_for_rescued_and_malformed_data(file_format: str, option: str, is_supported: bool) -> None:
    command = CopyInto(
        target=["t"],
        by_position=False,
        columns=None,
        source="/x",
        select=None,
        file_format=file_format,
        format_options={option: "_other"},
    )
    if is_supported:
        assert CopyIntoRequest.of(command).options == {option.lower(): "_other"}
        return
    with pytest.raises(SqlError) as caught:
        CopyIntoRequest.of(command)
    assert caught.value.condition == "COPY_INTO_UNSUPPORTED_FEATURE"

"""read_files, STREAM read_files and cloud_files in SQL (AL-9)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from lakeward.session import condition_of, temporary_conf
from tests.autoloader.conftest import Landing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@pytest.fixture
def files(landing: Landing) -> Landing:
    """Two files of JSON."""
    landing.put("a.json", {"id": 1, "at": {"x": 1.5}})
    landing.put("day=2024-01-02/b.json", {"id": 2})
    return landing


@pytest.mark.rule("9.4")
def test_types_are_inferred_from_all_files_and_the_rest_is_rescued(files: Landing) -> None:
    frame = files.spark.sql(f"SELECT * FROM read_files('{files.folder}')")
    assert frame.schema.simpleString() == "struct<at:struct<x:double>,id:bigint,_rescued_data:string>"
    assert sorted(row.id for row in frame.collect()) == [1, 2]


def test_metadata_is_there_when_it_is_named_also_through_an_alias_and_a_join(files: Landing) -> None:
    names = files.spark.sql(
        f"SELECT a._metadata.file_name AS n FROM read_files('{files.folder}') AS a "
        f"JOIN read_files('{files.folder}') AS b ON a.id = b.id ORDER BY n"
    )
    assert [row.n for row in names.collect()] == ["a.json", "b.json"]


@pytest.mark.slow
def test_a_view_reads_the_current_files_and_a_table_keeps_its_rows(files: Landing) -> None:
    spark = files.spark
    spark.sql(f"CREATE VIEW {files.table}_v AS SELECT id FROM read_files('{files.folder}')")
    without = f"read_files('{files.folder}', schemaEvolutionMode => 'none')"
    spark.sql(f"CREATE TABLE {files.table} AS SELECT * FROM {without}")
    files.put("c.json", {"id": 3})
    assert spark.table(f"{files.table}_v").count() == 3
    assert files.rows("id") == [(1,), (2,)]
    assert spark.table(files.table).columns == ["at", "id"]


def test_options_are_arguments_by_name(files: Landing) -> None:
    files.put("csv/x.csv", text="1;a\n2;b\n")
    rows = files.spark.sql(
        f"""SELECT * FROM read_files('{files.folder}', fileNamePattern => '*.csv', sep => ';',
            format => concat('c', 'sv'), header => false, schema => 'n INT, s STRING')"""
    )
    assert sorted(rows.collect()) == [(1, "a"), (2, "b")]


# `cloud_files` is a source of pipelines.
_PIPELINE = {"pipelines.id": "tests"}
_CALLS = ("read_files", "STREAM read_files")
_TWICE = "DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT"
_EMPTY = ("''", "NULL", "path => ''", "path => NULL", "'', format => 'csv'")


@pytest.mark.parametrize(
    ("call", "condition"),
    [
        ("read_files('{0}/nothing')", "CF_PATH_DOES_NOT_EXIST_FOR_READ_FILES"),
        ("read_files('{0}', fileNamePattern => 'x')", "CF_UNABLE_TO_DETECT_FILE_FORMAT"),
        ("read_files('{0}', format => 'json', fileNamePattern => 'x')", "CF_EMPTY_DIR_FOR_SCHEMA_INFERENCE"),
        ("read_files('{0}', format => 'xml')", "XML_ROW_TAG_MISSING"),
        ("read_files('{0}', format => 'xml', schema => 'a INT')", "XML_ROW_TAG_MISSING"),
        ("read_files('{0}', format => 'XML', schemaHints => 'a INT')", "XML_ROW_TAG_MISSING"),
        (
            "read_files('{0}', format => 'xml', schema => 'a INT', fileNamePattern => 'x')",
            "XML_ROW_TAG_MISSING",
        ),
        ("read_files('{0}', format => 'json', encoding => 'nope')", "INVALID_PARAMETER_VALUE.CHARSET"),
        ("read_files('{0}', format => 'csv', sep => '')", "CF_INVALID_OPTION_VALUE"),
        ("read_files('{0}', format => 'csv', header => 'maybe')", "CF_INVALID_OPTION_VALUE"),
        (
            "read_files('{0}', format => 'csv', dateFormat => 'yyyy-bb')",
            "INVALID_DATETIME_PATTERN.ILLEGAL_CHARACTER",
        ),
        ("read_files()", "WRONG_NUM_ARGS.WITHOUT_SUGGESTION"),
        *(
            (f"{call}('{{0}}', {given})", condition)
            for call in _CALLS
            for given, condition in {
                "format => 'json', schema => ''": "PARSE_EMPTY_STATEMENT",
                "format => 'json', schema => 'id foo'": "UNSUPPORTED_DATATYPE",
                "format => 'foo', schema => 'id INT'": "CF_INVALID_OPTION_VALUE",
                "format => 'json', format => 'csv'": f"{_TWICE}.DOUBLE_NAMED_ARGUMENT_REFERENCE",
                "format => 'json', Format => 'json'": f"{_TWICE}.DOUBLE_NAMED_ARGUMENT_REFERENCE",
                "path => '{0}'": f"{_TWICE}.BOTH_POSITIONAL_AND_NAMED",
                "format => 'json', schema => 'id INT', schemaEvolutionMode => 'foo'": (
                    "CF_INVALID_SCHEMA_EVOLUTION_MODE"
                ),
            }.items()
        ),
        *(
            (
                f"read_files('{{0}}', format => '{name}', lineSep => ''{schema})",
                "INVALID_LINE_SEPARATOR.EMPTY",
            )
            for name in ("csv", "json", "text")
            for schema in ("", ", schema => 'value STRING'")
        ),
        ("read_files('{0}', format => 'csv', lineSep => 'abc')", "INVALID_LINE_SEPARATOR.TOO_LONG"),
        ("read_files('{0}', format => 'json', rescuedDataColumn => 'id')", "COLUMN_ALREADY_EXISTS"),
        *((f"{call}({path})", "CF_SOURCE_DIRECTORY_PATH_REQUIRED") for call in _CALLS for path in _EMPTY),
        *((f"{name}.``", "INVALID_EMPTY_LOCATION") for name in ("csv", "json", "orc", "parquet")),
        ("cloud_files('{0}')", "CF_INCORRECT_SQL_PARAMS"),
        ("cloud_files('{0}', 'json', 'header')", "CF_INCORRECT_SQL_PARAMS"),
        ("cloud_files('{0}', 'json', map(), 1)", "CF_INCORRECT_SQL_PARAMS"),
        ("STREAM cloud_files('{0}', 'json')", "CF_UNSUPPORTED_CLOUD_FILES_SQL_FUNCTION"),
        ("cloud_files('{0}', 'json', map('header', 'true'))", "CF_UNSUPPORTED_CLOUD_FILES_SQL_FUNCTION"),
        ("cloud_files_state()", "CF_STATE_INCORRECT_SQL_PARAMS"),
        ("cloud_files_state('{0}', 1, 2)", "CF_STATE_INCORRECT_SQL_PARAMS"),
        ("cloud_files_state('{0}/nothing')", "CF_STATE_INVALID_CHECKPOINT_PATH"),
    ],
)
def test_conditions_of_failed_reads(
    files: Landing, failing: Callable[[Callable[[], Any]], BaseException], call: str, condition: str
) -> None:
    error = failing(lambda: files.spark.sql(f"SELECT * FROM {call.format(files.folder)}"))
    assert condition_of(error) == condition


@pytest.mark.parametrize(
    "call",
    [
        *(f"{call}('{{0}}'{given})" for call in _CALLS for given in ("", ", format => 'parquet'")),
        "cloud_files('{0}', 'parquet')",
        "cloud_files('{0}', 'parquet', map('cloudFiles.schemaLocation', '{0}/s'))",
        "cloud_files('{0}', 'delta')",
        "read_files('{0}', format => 'delta')",
    ],
)
def test_a_delta_table_is_not_read_as_files(
    files: Landing, failing: Callable[[Callable[[], Any]], BaseException], call: str
) -> None:
    """Its folder has files of earlier versions."""
    spark = files.spark
    folder = files.folder / "table"
    spark.range(3).write.format("delta").save(str(folder))
    with temporary_conf(spark, _PIPELINE):
        error = failing(lambda: spark.sql(f"SELECT * FROM {call.format(folder)}"))
    assert condition_of(error) == "CF_USE_DELTA_FORMAT"
    reader = spark.readStream.format("cloudFiles").option("cloudFiles.format", "parquet")
    assert (
        condition_of(failing(lambda: reader.schema("id BIGINT").load(str(folder)))) == "CF_USE_DELTA_FORMAT"
    )


@pytest.mark.parametrize(
    "call", ["read_files('{0}', fileNamePattern => 'x')", "STREAM read_files('{0}/nothing')"]
)
def test_a_format_that_no_file_implies_names_the_missing_files(
    files: Landing, failing: Callable[[Callable[[], Any]], BaseException], call: str
) -> None:
    error = failing(lambda: files.spark.sql(f"SELECT * FROM {call.format(files.folder)}"))
    assert condition_of(error) == "CF_UNABLE_TO_DETECT_FILE_FORMAT"
    assert "There are no files in" in str(error)


def _streams(files: Landing) -> list[DataFrame]:
    folder, schemas = files.folder, files.schemas
    texts = [
        f"STREAM read_files('{folder}', format => 'json', schemaLocation => '{schemas}')",
        f"STREAM(read_files('{folder}', schema => 'id BIGINT', schemaEvolutionMode => 'none'))",
        f"cloud_files('{folder}', 'json', map('cloudFiles.schemaLocation', '{schemas}'))",
    ]
    with temporary_conf(files.spark, _PIPELINE):
        return [files.spark.sql(f"SELECT id, _metadata.file_name FROM {text}") for text in texts]


@pytest.mark.slow
def test_a_stream_takes_each_file_once(files: Landing) -> None:
    first, *others = _streams(files)
    assert all(frame.isStreaming for frame in (first, *others))
    files.ingest(first)
    files.put("c.json", {"id": 3})
    for frame in others:
        files.ingest(frame)
    assert files.rows() == [(1, "a.json"), (2, "b.json"), (3, "c.json")]
    paths = files.spark.sql(f"SELECT path FROM cloud_files_state('{files.checkpoint}')").collect()
    assert sorted(row.path.rpartition("/")[2] for row in paths) == ["a.json", "b.json", "c.json"]

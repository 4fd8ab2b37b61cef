"""Results of statements: types, formats, dispositions, limits, parameters, links. One JVM for all tests."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
import requests

from tests.workspace.server import Server, until

pa = pytest.importorskip("pyarrow")

CLIENT = "http/statements"

pytestmark = pytest.mark.process

WAREHOUSE = "1a6e3a4d00000001"
STATEMENTS = "/api/2.0/sql/statements"
EXTERNAL = {"disposition": "EXTERNAL_LINKS"}


def execute(server: Server, statement: str, **options: Any) -> Any:
    """A statement once it has ended."""
    body = {"statement": statement, "warehouse_id": WAREHOUSE, "wait_timeout": "20s", **options}
    found = server.post(STATEMENTS, body)
    path = f"{STATEMENTS}/{found['statement_id']}"
    return until(lambda: each if (each := server.get(path))["status"]["state"] not in ACTIVE else None)


ACTIVE = ("PENDING", "RUNNING")


def succeed(server: Server, statement: str, **options: Any) -> Any:
    found = execute(server, statement, **options)
    assert found["status"]["state"] == "SUCCEEDED", found["status"]
    return found


def chunks(server: Server, found: Any) -> list[bytes]:
    """The content of all chunks of a result with external links, by following `next_chunk_internal_link`."""
    contents = []
    (link,) = found["result"]["external_links"]
    while True:
        # No token: links carry their own credentials.
        answer = requests.get(link["external_link"], timeout=120)
        assert answer.status_code == 200, answer.text
        assert len(answer.content) == link["byte_count"]
        contents.append(answer.content)
        if "next_chunk_internal_link" not in link:
            return contents
        (link,) = server.get(link["next_chunk_internal_link"])["external_links"]


# SQL, type_name, type_text, text
TYPES = [
    ("CAST(1 AS TINYINT)", "BYTE", "TINYINT", "1"),
    ("CAST(1 AS SMALLINT)", "SHORT", "SMALLINT", "1"),
    ("1", "INT", "INT", "1"),
    ("1L", "LONG", "BIGINT", "1"),
    ("CAST(1.5 AS FLOAT)", "FLOAT", "FLOAT", "1.5"),
    ("1e10D", "DOUBLE", "DOUBLE", "1.0E10"),
    ("CAST('NaN' AS DOUBLE)", "DOUBLE", "DOUBLE", "NaN"),
    ("1.50BD", "DECIMAL", "DECIMAL(3,2)", "1.50"),
    ("CAST(0 AS DECIMAL(38,10))", "DECIMAL", "DECIMAL(38,10)", "0.0000000000"),
    ("true", "BOOLEAN", "BOOLEAN", "true"),
    ("'ä\"\\n'", "STRING", "STRING", 'ä"\n'),
    ("X'00FF'", "BINARY", "BINARY", "AP8="),
    ("DATE'2026-01-02'", "DATE", "DATE", "2026-01-02"),
    ("TIMESTAMP'2026-01-02 03:04:05.678901'", "TIMESTAMP", "TIMESTAMP", "2026-01-02T03:04:05.678Z"),
    ("TIMESTAMP_NTZ'2026-01-02 03:04:05'", "TIMESTAMP_NTZ", "TIMESTAMP_NTZ", "2026-01-02T03:04:05.000"),
    ("NULL", "NULL", "VOID", None),
    ("array(1, NULL)", "ARRAY", "ARRAY<INT>", '["1",null]'),
    ("map('k', 1.5D)", "MAP", "MAP<STRING, DOUBLE>", '{"k":"1.5"}'),
    (
        "named_struct('Ab', CAST(NULL AS INT), 'd', DATE'2026-01-02')",
        "STRUCT",
        "STRUCT<Ab: INT, d: DATE NOT NULL>",
        '{"Ab":null,"d":"2026-01-02"}',
    ),
    ("array(TIMESTAMP'2026-01-02 03:04:05')", "ARRAY", "ARRAY<TIMESTAMP>", '["2026-01-02T03:04:05.000Z"]'),
    ("parse_json('{\"a\":1}')", "VARIANT", "VARIANT", '{"a":1}'),
    ("INTERVAL '1-2' YEAR TO MONTH", "INTERVAL", "INTERVAL YEAR TO MONTH", "INTERVAL '1-2' YEAR TO MONTH"),
    ("st_point(1, 2, 4326)", "GEOMETRY", "GEOMETRY(4326)", "SRID=4326;POINT(1 2)"),
    ("st_geogfromtext('POINT(1 2)')", "GEOGRAPHY", "GEOGRAPHY(4326)", "SRID=4326;POINT(1 2)"),
]  # fmt: skip


def test_values_of_every_type_are_the_texts_of_the_platform(server: Server) -> None:
    found = succeed(server, "SELECT " + ", ".join(f"{each[0]} AS same" for each in TYPES))
    columns = found["manifest"]["schema"]["columns"]
    (row,) = found["result"]["data_array"]
    for (sql, name, text, value), column, given in zip(TYPES, columns, row, strict=True):
        assert (column["type_name"], given) == (name, value), sql
        assert text is None or column["type_text"] == text, sql
        assert column["name"] == "same"
    by_text = {column["type_text"]: column for column in columns}
    assert (by_text["DECIMAL(3,2)"]["type_precision"], by_text["DECIMAL(3,2)"]["type_scale"]) == (3, 2)
    assert by_text["INTERVAL YEAR TO MONTH"]["type_interval_type"] == "YEAR TO MONTH"


def test_values_of_every_type_are_read_with_arrow(server: Server) -> None:
    statement = "SELECT " + ", ".join(f"{each[0]} AS c{n}" for n, each in enumerate(TYPES))
    (content,) = chunks(server, succeed(server, statement, format="ARROW_STREAM", **EXTERNAL))
    table = pa.ipc.open_stream(content).read_all()
    (row,) = table.to_pylist()
    assert (row["c2"], row["c3"], row["c5"], row["c11"]) == (1, 1, 1e10, b"\x00\xff")
    assert (row["c16"], dict(row["c17"])) == ([1, None], {"k": 1.5})
    assert row["c22"] == row["c23"] == "SRID=4326;POINT(1 2)"
    assert str(table.schema.field("c13").type).startswith("timestamp[us, tz=")


@pytest.mark.parametrize("layout", ["JSON_ARRAY", "ARROW_STREAM", "CSV"])
def test_a_result_of_several_chunks_is_complete_and_in_order(server: Server, layout: str) -> None:
    statement = (
        "SELECT id, repeat('x', 1000) AS text, CAST(NULL AS INT) AS nothing FROM range(40000) ORDER BY id"
    )
    found = succeed(server, statement, format=layout, **EXTERNAL)
    manifest = found["manifest"]
    contents = chunks(server, found)
    assert (manifest["total_row_count"], manifest["truncated"]) == (40000, False)
    assert manifest["total_chunk_count"] == len(contents) == len(manifest["chunks"]) > 1
    assert manifest["total_byte_count"] == sum(map(len, contents))
    ids: list[int] = []
    for chunk, content in zip(manifest["chunks"], contents, strict=True):
        assert chunk["row_offset"] == len(ids)
        ids += read_ids(layout, content, chunk["chunk_index"])
        assert len(ids) == chunk["row_offset"] + chunk["row_count"]
    assert ids == list(range(40000))


def read_ids(layout: str, content: bytes, index: int) -> list[int]:
    if layout == "ARROW_STREAM":
        return list(pa.ipc.open_stream(content).read_all().column("id").to_pylist())
    if layout == "JSON_ARRAY":
        assert b", " not in content
        return [int(row[0]) for row in json.loads(content)]
    rows = list(csv.reader(io.StringIO(content.decode(), newline="")))
    if index == 0:
        assert rows.pop(0) == ["id", "text", "nothing"]
    assert rows[0][2] == "null"
    return [int(row[0]) for row in rows]


def test_inline_results_come_in_chunks_too(server: Server) -> None:
    found = succeed(server, "SELECT id, repeat('x', 1000) FROM range(10000) ORDER BY id")
    rows = found["result"]["data_array"]
    result = found["result"]
    while "next_chunk_internal_link" in result:
        result = server.get(result["next_chunk_internal_link"])
        rows += result["data_array"]
    assert [int(row[0]) for row in rows] == list(range(10000))
    assert found["manifest"]["total_chunk_count"] > 1
    assert "total_byte_count" not in found["manifest"]


@pytest.mark.parametrize("layout", ["JSON_ARRAY", "ARROW_STREAM", "CSV"])
@pytest.mark.parametrize(
    "statement", ["SELECT id FROM range(5) WHERE id > 9", "CREATE SCHEMA IF NOT EXISTS empty"]
)
def test_an_empty_result_has_one_chunk_without_rows(server: Server, layout: str, statement: str) -> None:
    found = succeed(server, statement, format=layout, **EXTERNAL)
    assert (found["manifest"]["total_row_count"], found["manifest"]["total_chunk_count"]) == (0, 1)
    (content,) = chunks(server, found)
    if layout == "ARROW_STREAM":
        assert pa.ipc.open_stream(content).read_all().num_rows == 0
    elif layout == "JSON_ARRAY":
        assert content == b"[]"


@pytest.mark.parametrize("options", [{"row_limit": 3}, {"byte_limit": 30}])
@pytest.mark.parametrize("disposition", ["INLINE", "EXTERNAL_LINKS"])
def test_limits_truncate(server: Server, options: dict[str, int], disposition: str) -> None:
    found = succeed(server, "SELECT id FROM range(10)", disposition=disposition, **options)
    assert found["manifest"]["truncated"]
    assert 0 < found["manifest"]["total_row_count"] < 10
    whole = succeed(server, "SELECT id FROM range(3)", disposition=disposition, row_limit=3)
    assert (whole["manifest"]["truncated"], whole["manifest"]["total_row_count"]) == (False, 3)


def test_a_result_that_is_too_large_for_inline_fails_with_the_platforms_message(server: Server) -> None:
    statement = "SELECT repeat('x', 1000) FROM range(0, 1000000000, 1, 4)"
    status = execute(server, statement)["status"]
    assert status["state"] == "FAILED"
    assert status["error"]["error_code"] == "BAD_REQUEST"
    assert status["error"]["message"].startswith("Inline byte limit exceeded. Statements executed with")
    assert succeed(server, "SELECT 1")["result"]["data_array"] == [["1"]]


@pytest.mark.parametrize(
    ("kind", "value", "type_of", "expected"),
    [
        (None, "2", "string", "2"),
        ("INT", "2", "int", "2"),
        ("SMALLINT", "2", "smallint", "2"),
        ("LONG", "9000000000", "bigint", "9000000000"),
        # Spark binds a decimal with the precision of its digits.
        ("DECIMAL(10,2)", "1.50", "decimal(3,2)", "1.50"),
        ("DATE", "2026-01-02", "date", "2026-01-02"),
        ("TIMESTAMP", "2026-01-02 03:04:05", "timestamp", "2026-01-02T03:04:05.000Z"),
        ("BOOLEAN", "FALSE", "boolean", "false"),
        ("FLOAT", "1.5", "float", "1.5"),
        ("INT", None, "int", None),
    ],
)
def test_a_parameter_has_the_value_and_the_type_that_cast_gives(
    server: Server, kind: str | None, value: str | None, type_of: str, expected: str | None
) -> None:
    parameters = [{"name": "p", "value": value, "type": kind}]
    found = succeed(server, "SELECT :p, typeof(:p)", parameters=parameters)
    assert found["result"]["data_array"] == [[expected, type_of]]


def test_parameters_with_positions_have_their_order(server: Server) -> None:
    """As the JDBC driver sends them: without names."""
    parameters = [{"ordinal": at, "value": str(at), "type": "INT"} for at in (3, 1, 6, 5, 2, 4)]
    found = succeed(server, "SELECT array(?, ?, ?, ?, ?, ?)", parameters=parameters)
    assert found["result"]["data_array"] == [['["1","2","3","4","5","6"]']]


@pytest.mark.parametrize(
    ("kind", "value", "condition"),
    [
        ("INT", "x", "CAST_INVALID_INPUT"),
        ("DATE", "today?", "CAST_INVALID_INPUT"),
        ("NONSENSE", "1", "UNSUPPORTED_DATATYPE"),
        ("ARRAY<INT>", "1", "not supported"),
        ("INT) FROM range(3) --", "1", "PARSE_SYNTAX_ERROR"),
    ],
)
def test_a_parameter_that_is_not_of_its_type_fails(
    server: Server, kind: str, value: str, condition: str
) -> None:
    status = execute(server, "SELECT :p", parameters=[{"name": "p", "value": value, "type": kind}])["status"]
    assert status["state"] == "FAILED"
    assert condition in status["error"]["message"]


def test_a_link_is_valid_for_its_chunk_alone_and_takes_no_token(server: Server) -> None:
    found = succeed(server, "SELECT 1", **EXTERNAL)
    (link,) = found["result"]["external_links"]
    url = link["external_link"]
    assert requests.get(url, timeout=60).json() == [["1"]]
    other = succeed(server, "SELECT 2", **EXTERNAL)["statement_id"]
    for wrong in (
        url.replace(found["statement_id"], other),
        url.replace("/0?", "/1?"),
        url.replace("expires=", "expires=9"),
        url[:-1] + ("0" if url[-1] != "0" else "1"),
        url.partition("?")[0],
    ):
        answer = requests.get(wrong, timeout=60)
        assert (answer.status_code, answer.json()["error_code"]) == (403, "PERMISSION_DENIED"), wrong
    assert server.answer("GET", url.removeprefix(server.host)).status_code == 400
    logged = json.dumps(server.requests())
    assert "signature=" not in logged
    folder = server.state / "server" / "results" / found["statement_id"]
    assert {oct(file.stat().st_mode)[-3:] for file in folder.iterdir()} == {"600"}
    assert oct(folder.stat().st_mode)[-3:] == "700"


BAD: list[tuple[dict[str, Any], str]] = [
    ({"statement": ""}, "statement"),
    ({"wait_timeout": "51s"}, "wait_timeout"),
    ({"wait_timeout": "3s"}, "wait_timeout"),
    ({"wait_timeout": "-5s"}, "wait_timeout"),
    ({"wait_timeout": "1m"}, "wait_timeout"),
    ({"on_wait_timeout": "STOP"}, "on_wait_timeout"),
    ({"disposition": "MAIL"}, "disposition"),
    ({"format": "XML"}, "format"),
    ({"format": "ARROW_STREAM"}, "The format field must be JSON_ARRAY when the disposition field is INLINE."),
    ({"format": "CSV"}, "The format field must be JSON_ARRAY when the disposition field is INLINE."),
    ({"row_limit": 0}, "row_limit"),
    ({"byte_limit": -1}, "byte_limit"),
    ({"row_limit": "x"}, "row_limit"),
    ({"parameters": {"a": 1}}, "parameters"),
    ({"parameters": [{"value": "1"}]}, "name"),
    ({"parameters": [{"name": "a"}, {"name": "a"}]}, "twice"),
    ({"parameters": [{"ordinal": 1}, {"ordinal": 1}]}, "The parameter 1 is given twice"),
    ({"parameters": [{"ordinal": 1, "value": 2}]}, "The value of the parameter 1 must be a string"),
    ({"parameters": [{"ordinal": 1}, {"name": "a"}]}, "with a name"),
    ({"parameters": ["a"]}, "must be an object"),
    ({"statement": "SELECT '" + "x" * (16 * 2**20) + "'"}, "16777216"),
]


@pytest.mark.parametrize(("change", "named"), BAD, ids=lambda each: str(each)[:40])
def test_a_request_that_the_platform_refuses_is_refused(
    server: Server, change: dict[str, Any], named: str
) -> None:
    answer = server.answer("POST", STATEMENTS, {"statement": "SELECT 1", "warehouse_id": WAREHOUSE, **change})
    assert (answer.status_code, answer.json()["error_code"]) in (
        (400, "INVALID_PARAMETER_VALUE"),
        (400, "MALFORMED_REQUEST"),
    )
    assert named in answer.json()["message"]


def test_the_official_client_reads_arrow_through_its_links(server: Server) -> None:
    sdk = pytest.importorskip("databricks.sdk")
    from databricks.sdk.service.sql import Disposition, Format

    client = sdk.WorkspaceClient(host=server.host, token=server.token).statement_execution
    found = client.execute_statement(
        "SELECT id FROM range(100)",
        WAREHOUSE,
        disposition=Disposition.EXTERNAL_LINKS,
        format=Format.ARROW_STREAM,
        wait_timeout="50s",
    )
    chunk = client.get_statement_result_chunk_n(found.statement_id, 0)
    content = requests.get(chunk.external_links[0].external_link, timeout=60).content
    assert pa.ipc.open_stream(content).read_all().num_rows == chunk.external_links[0].row_count == 100


@pytest.mark.slow
def test_standalone_materialized_views_are_created_refreshed_and_dropped(server: Server) -> None:
    """Each statement has a session of its own."""
    succeed(server, "CREATE TABLE main.default.mv_source AS SELECT 1 AS id")
    succeed(
        server,
        "CREATE MATERIALIZED VIEW main.default.mv AS SELECT sum(id) AS total FROM main.default.mv_source",
    )
    succeed(server, "INSERT INTO main.default.mv_source VALUES (41)")
    assert succeed(server, "SELECT * FROM main.default.mv")["result"]["data_array"] == [["1"]]
    succeed(server, "REFRESH MATERIALIZED VIEW main.default.mv")
    assert succeed(server, "SELECT * FROM main.default.mv")["result"]["data_array"] == [["42"]]
    succeed(server, "DROP MATERIALIZED VIEW main.default.mv")
    gone = execute(server, "SELECT * FROM main.default.mv")
    assert "TABLE_OR_VIEW_NOT_FOUND" in gone["status"]["error"]["message"]

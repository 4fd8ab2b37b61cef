"""databricks-sql-connector with the local workspace: sessions, statements, results, metadata."""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
import requests

from tests.processes import until
from tests.workspace.server import WAREHOUSE, Server

sql = pytest.importorskip("databricks.sql", reason="databricks-sql-connector is not installed")
from databricks.sql.thrift_api.TCLIService import ttypes  # noqa: E402

pytestmark = pytest.mark.process
CLIENT = "sql"

Connect = Callable[..., Any]
ENDLESS = "SELECT count(*) FROM range(0, 1000000000000, 1, 1)"


@pytest.fixture
def cursor(connect: Connect) -> Any:
    return connect().cursor()


def rows(cursor: Any, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
    cursor.execute(statement, *parameters)
    return [tuple(row) for row in cursor.fetchall()]


def failure(cursor: Any, statement: str, *parameters: Any) -> Any:
    with pytest.raises(sql.exc.ServerOperationError) as raised:
        cursor.execute(statement, *parameters)
    return raised.value


VALUES = (
    ("true", "boolean", True),
    ("1Y", "tinyint", 1),
    ("1S", "smallint", 1),
    ("1", "int", 1),
    ("1L", "bigint", 1),
    ("CAST(1.5 AS FLOAT)", "float", 1.5),
    ("1.5D", "double", 1.5),
    ("2.50", "decimal", Decimal("2.50")),
    ("'ä'", "string", "ä"),
    ("X'41'", "binary", b"A"),
    ("DATE'2024-02-29'", "date", dt.date(2024, 2, 29)),
    (
        "TIMESTAMP_NTZ'2024-01-01 00:00:00.5'",
        "timestamp",
        dt.datetime.fromisoformat("2024-01-01T00:00:00.500000"),
    ),
    ("NULL", "null", None),
    ("named_struct('x', 1)", "struct", {"x": 1}),
    ("map('a', 1)", "map", [("a", 1)]),
    ("""parse_json('{"a":1}')""", "variant", '{"a":1}'),
    ("INTERVAL '1' DAY", "interval_day_time", "1 00:00:00.000000000"),
    ("INTERVAL '-1 02:03:04.5' DAY TO SECOND", "interval_day_time", "-1 02:03:04.500000000"),
    ("INTERVAL '0.000001' SECOND", "interval_day_time", "0 00:00:00.000001000"),
    ("INTERVAL '-61' MINUTE", "interval_day_time", "-0 01:01:00.000000000"),
    ("INTERVAL '26' MONTH", "interval_year_month", "2-2"),
    ("INTERVAL '-1' YEAR", "interval_year_month", "-1-0"),
    ("CAST(NULL AS INTERVAL DAY)", "interval_day_time", None),
)


def test_values_of_every_type_in_arrow(cursor: Any) -> None:
    cursor.execute(f"SELECT {', '.join(text for text, _, _ in VALUES)}, array(1, 2), TIMESTAMP'2024-01-01'")
    *found, array, timestamp = cursor.fetchone()
    assert found == [value for _, _, value in VALUES]
    assert list(array) == [1, 2]
    assert timestamp.utcoffset() == dt.timedelta(0)
    assert [each[1] for each in cursor.description][:-2] == [kind for _, kind, _ in VALUES]


def test_types_that_the_client_does_not_read_from_arrow_are_strings(connect: Connect) -> None:
    flags = ("_use_arrow_native_complex_types", "_use_arrow_native_decimals", "_use_arrow_native_timestamps")
    cursor = connect(**dict.fromkeys(flags, False)).cursor()
    cursor.execute(
        "SELECT array(1, NULL), named_struct('x', 1, 'y', NULL), 2.50, TIMESTAMP'2024-01-01 01:02:03'"
    )
    table = cursor.fetchall_arrow()
    assert [str(field.type) for field in table.schema] == ["string", "string", "decimal128(3, 2)", "string"]
    assert [column[0].as_py() for column in table.columns] == [
        "[1,null]",
        '{"x":1,"y":null}',
        Decimal("2.50"),
        "2024-01-01 01:02:03",
    ]


def test_values_of_every_type_in_columns(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client without pyarrow gets values of Thrift, dates and decimals as text."""
    from databricks.sql import result_set
    from databricks.sql.backend import thrift_backend

    connection = connect()
    monkeypatch.setattr(thrift_backend, "pyarrow", None)
    monkeypatch.setattr(result_set, "pyarrow", None)
    cursor = connection.cursor()
    cursor.execute(
        "SELECT * FROM VALUES (true, 1Y, 1S, 1, 1L, 1.5D, 'a', X'41', DATE'2024-02-29', 2.50, array(1)), "
        "(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)"
    )
    first, second = cursor.fetchall()
    assert list(first)[:8] == [True, 1, 1, 1, 1, 1.5, "a", b"A"]
    assert [str(value) for value in first[8:]] == ["2024-02-29", "2.50", "[1]"]
    assert list(second) == [None] * 11


def test_a_session_keeps_schema_views_variables_and_settings(cursor: Any, connect: Connect) -> None:
    for statement in (
        "CREATE SCHEMA IF NOT EXISTS main.kept",
        "USE CATALOG main",
        "USE kept",
        "CREATE TEMPORARY VIEW mine AS SELECT 1 AS a",
        "DECLARE VARIABLE x INT DEFAULT 5",
        "SET spark.sql.session.timeZone = Asia/Tokyo",
    ):
        cursor.execute(statement)
    found = rows(cursor, "SELECT current_catalog(), current_schema(), a, x, current_timezone() FROM mine")
    assert found == [("main", "kept", 1, 5, "Asia/Tokyo")]
    other = connect().cursor()
    assert rows(other, "SELECT current_schema()") == [("default",)]
    assert "[TABLE_OR_VIEW_NOT_FOUND]" in str(failure(other, "SELECT * FROM mine"))


def test_catalog_schema_and_configuration_of_a_connection(connect: Connect, cursor: Any) -> None:
    cursor.execute("CREATE SCHEMA IF NOT EXISTS main.Initial")
    settings = {"ANSI_MODE": "false", "timezone": "America/New_York", "use_cached_result": "false"}
    given = connect(catalog="main", schema="Initial", session_configuration=settings).cursor()
    found = rows(given, "SELECT current_catalog(), current_schema(), 1 / 0, current_timezone()")
    assert found == [("main", "initial", None, "America/New_York")]


def test_a_parameter_that_a_statement_sets_holds_for_the_session(connect: Connect) -> None:
    cursor = connect().cursor()
    assert "CAST_INVALID_INPUT" in str(failure(cursor, "SELECT CAST('x' AS INT)"))
    assert rows(cursor, "SET ansi_mode = false") == [("ansi_mode", "false")]
    assert rows(cursor, "SELECT CAST('x' AS INT)") == [(None,)]
    cursor.execute("RESET ansi_mode")
    assert "CAST_INVALID_INPUT" in str(failure(cursor, "SELECT CAST('x' AS INT)"))


@pytest.mark.parametrize("by_statement", [False, True])
def test_a_statement_ends_after_the_timeout_of_its_session(connect: Connect, *, by_statement: bool) -> None:
    given = {} if by_statement else {"session_configuration": {"STATEMENT_TIMEOUT": "1"}}
    cursor = connect(**given).cursor()
    if by_statement:
        assert rows(cursor, "SET STATEMENT_TIMEOUT = 1") == [("STATEMENT_TIMEOUT", "1")]
    began = time.monotonic()
    assert "[QUERY_EXECUTION_TIMEOUT_EXCEEDED]" in str(failure(cursor, ENDLESS + " -- timeout"))
    assert time.monotonic() - began < 30
    assert rows(cursor, "SELECT 1") == [(1,)]


def test_the_schema_of_a_connection_may_be_created_later(connect: Connect) -> None:
    """dbt creates the schema that it connects to."""
    cursor = connect(catalog="main", schema="later").cursor()
    assert rows(cursor, "SELECT current_schema()") == [("later",)]
    assert "[TABLE_OR_VIEW_NOT_FOUND]" in str(failure(cursor, "SELECT * FROM t"))
    cursor.execute("CREATE SCHEMA main.later")
    cursor.execute("CREATE TABLE t AS SELECT 1 AS a")
    assert rows(cursor, "SELECT a FROM main.later.t") == [(1,)]


def test_a_session_that_cannot_be_opened_has_the_condition(connect: Connect) -> None:
    with pytest.raises(sql.exc.DatabaseError, match=r"\[NO_SUCH_CATALOG_EXCEPTION\]"):
        connect(catalog="nope")


@pytest.mark.parametrize(
    ("statement", "condition", "state"),
    [
        ("SELECT * FROM nope", "TABLE_OR_VIEW_NOT_FOUND", "42P01"),
        ("SELEC 1", "PARSE_SYNTAX_ERROR", "42601"),
        ("SELECT 1 / 0", "DIVIDE_BY_ZERO", "22012"),
        ("SELECT CAST('a' AS INT)", "CAST_INVALID_INPUT", "22018"),
        ("SELECT raise_error('mine')", "USER_RAISED_EXCEPTION", "P0001"),
    ],
)
def test_errors_have_condition_and_state(cursor: Any, statement: str, condition: str, state: str) -> None:
    error = failure(cursor, statement)
    assert f"[{condition}]" in str(error)
    assert f"SQLSTATE: {state}" in str(error)
    assert error.context["diagnostic-info"]


@pytest.mark.parametrize(
    ("statement", "parameters", "expected"),
    [
        ("SELECT ?, ?", [1, "a'b"], (1, "a'b")),
        ("SELECT :a, :b", {"a": dt.date(2024, 1, 1), "b": Decimal("1.50")}, None),
        ("SELECT typeof(?)", [2**40], ("bigint",)),
        ("SELECT ?", [None], (None,)),
        ("SELECT ?", [True], (True,)),
        ("SELECT to_json(?)", [[1, 2]], ("[1,2]",)),
        ("SELECT to_json(?)", [{"a": [1]}], ('{"a":[1]}',)),
    ],
)
def test_parameters(cursor: Any, statement: str, parameters: Any, expected: Any) -> None:
    wanted = expected or (dt.date(2024, 1, 1), Decimal("1.50"))
    assert rows(cursor, statement, parameters) == [wanted]


def test_a_value_that_its_type_does_not_have_is_refused(cursor: Any) -> None:
    from databricks.sql.parameters import IntegerParameter

    assert "[CAST_INVALID_INPUT]" in str(failure(cursor, "SELECT ?", [IntegerParameter("x")]))  # type: ignore[arg-type,unused-ignore]


def test_results_are_fetched_in_parts_and_in_order(connect: Connect) -> None:
    cursor = connect().cursor(arraysize=7_000)
    cursor.execute("SELECT id, repeat('x', 100) FROM range(30000)")
    assert [row[0] for row in cursor.fetchmany(10)] == list(range(10))
    assert cursor.fetchone()[0] == 10
    assert [row[0] for row in cursor.fetchall()] == list(range(11, 30_000))
    assert cursor.fetchall() == []


def test_a_small_buffer_gives_at_least_one_row_at_a_time(connect: Connect) -> None:
    cursor = connect().cursor(buffer_size_bytes=1)
    assert len(rows(cursor, "SELECT repeat('x', 1000) FROM range(5)")) == 5


def test_dml_reports_the_changed_rows(cursor: Any) -> None:
    cursor.execute("CREATE OR REPLACE TABLE main.default.changed (id INT)")
    assert cursor.fetchall() == []
    cursor.execute("INSERT INTO main.default.changed VALUES (1), (2), (3)")
    assert cursor.rowcount == 3
    cursor.execute("DELETE FROM main.default.changed WHERE id > 1")
    assert (cursor.rowcount, cursor.fetchall()[0][0]) == (2, 2)
    assert rows(cursor, "SELECT * FROM main.default.changed") == [(1,)]


def test_an_asynchronous_statement(cursor: Any) -> None:
    cursor.execute_async("SELECT sum(id) FROM range(1000)")
    while cursor.is_query_pending():
        time.sleep(0.05)
    cursor.get_async_execution_result()
    assert [tuple(row) for row in cursor.fetchall()] == [(499_500,)]


def test_a_statement_can_be_canceled_by_its_cursor(cursor: Any, server: Server) -> None:
    failed: list[Exception] = []

    def run() -> None:
        try:
            cursor.execute(ENDLESS)
        except Exception as error:  # noqa: BLE001  # looked at below
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    until(lambda: cursor.query_id)  # known once the server has answered that the statement runs
    cursor.cancel()
    thread.join(60)
    assert not thread.is_alive()
    states = [
        q["status"] for q in server.get("/api/2.0/sql/history/queries")["res"] if q["query_text"] == ENDLESS
    ]
    assert states == ["CANCELED"]


def test_a_statement_can_be_canceled_by_the_rest_api(cursor: Any, server: Server) -> None:
    cursor.execute_async(ENDLESS + " -- rest")
    server.post(f"/api/2.0/sql/statements/{cursor.query_id}/cancel")
    with pytest.raises(Exception, match=r"(?i)cancel|not available|pending"):
        cursor.get_async_execution_result()


def test_statements_are_in_the_history_of_queries(cursor: Any, server: Server) -> None:
    rows(cursor, "SELECT 'in the history'")
    cursor.tables(catalog_name="main", schema_name="default")
    found = {q["query_text"]: q["status"] for q in server.get("/api/2.0/sql/history/queries")["res"]}
    assert found["SELECT 'in the history'"] == "FINISHED"
    assert found["Listing tables"] == "FINISHED"


def test_closing_the_connection_ends_session_and_statements(connect: Connect, server: Server) -> None:
    connection = connect()
    cursor = connection.cursor()
    cursor.execute_async(ENDLESS + " -- closed")
    connection.close()
    (state,) = [
        q["status"]
        for q in server.get("/api/2.0/sql/history/queries")["res"]
        if q["query_text"] == ENDLESS + " -- closed"
    ]
    assert state == "CANCELED"


def test_an_ended_session_is_an_invalid_handle(connect: Connect, server: Server) -> None:
    cursor = connect().cursor()
    rows(cursor, "SELECT 1")
    server.post("/api/2.0/sql/warehouses/1a6e3a4d00000001/stop")
    with pytest.raises(sql.exc.DatabaseError, match="Invalid SessionHandle"):
        cursor.execute("SELECT 1")
    assert rows(connect().cursor(), "SELECT 1") == [(1,)]


def test_metadata(cursor: Any) -> None:
    cursor.execute("CREATE SCHEMA IF NOT EXISTS main.meta_x")
    cursor.execute(
        "CREATE OR REPLACE TABLE main.meta_x.t_1 (id INT NOT NULL, d DECIMAL(20, 3) COMMENT 'price')"
    )
    cursor.execute("CREATE OR REPLACE TABLE main.meta_x.t31 (id INT)")
    cursor.execute("CREATE OR REPLACE VIEW main.meta_x.v AS SELECT 1 AS one")

    def listed(*names: str) -> list[tuple[Any, ...]]:
        positions = [[each[0] for each in cursor.description].index(name) for name in names]
        return [tuple(row[at] for at in positions) for row in cursor.fetchall()]

    cursor.catalogs()
    assert ("main",) in listed("TABLE_CAT")
    cursor.schemas(catalog_name="main", schema_name="meta%")
    assert listed("TABLE_CATALOG", "TABLE_SCHEM") == [("main", "meta_x")]
    cursor.tables(catalog_name="main", schema_name="meta\\_x", table_name="t_1")
    assert listed("TABLE_NAME", "TABLE_TYPE") == [("t31", "TABLE"), ("t_1", "TABLE")]
    cursor.tables(catalog_name="main", schema_name="meta_x", table_name="t\\_1")
    assert listed("TABLE_NAME") == [("t_1",)]
    cursor.tables(schema_name="meta_x", table_types=["VIEW"])
    assert listed("TABLE_CAT", "TABLE_NAME", "TABLE_TYPE") == [("main", "v", "VIEW")]
    cursor.columns(catalog_name="main", schema_name="meta_x", table_name="t\\_1")
    wanted = ("COLUMN_NAME", "DATA_TYPE", "TYPE_NAME", "COLUMN_SIZE", "DECIMAL_DIGITS", "NULLABLE", "REMARKS")
    assert listed(*wanted) == [
        ("id", 4, "INT", 4, 0, 0, ""),
        ("d", 3, "DECIMAL(20,3)", 16, 3, 1, "price"),
    ]


@pytest.mark.parametrize(
    "path",
    [
        "/sql/1.0/warehouses/1a6e3a4d00000001",
        "sql/1.0/warehouses/1a6e3a4d00000001",
        "/sql/1.0/endpoints/1a6e3a4d00000001",
        "/sql/1.0/warehouses/warehouse:Serverless Starter Warehouse",
        "/sql/1.0/endpoints/warehouse:a",
        "/sql/protocolv1/o/0/cluster:shared cluster",
        "/sql/protocolv1/o/0/lakeward-local",
    ],
)
def test_every_http_path(connect: Connect, server: Server, path: str) -> None:
    server.get("/api/2.1/clusters/list")
    assert rows(connect(http_path=path).cursor(), "SELECT 1") == [(1,)]


@pytest.mark.parametrize(
    "spelling",
    [
        "lakeward.localhost",
        "https://lakeward.localhost",
        "https://lakeward.localhost/",
        "LAKEWARD.localhost",
        "{host}",
        "{host}/",
        "{netloc}",
        "{hostname}",
    ],
)
def test_every_spelling_of_the_host(connect: Connect, server: Server, spelling: str) -> None:
    """`workspaceUrl`, `Config.host`, `Config.hostname`, DATABRICKS_HOST, with and without the scheme."""
    netloc = server.host.removeprefix("http://")
    host = spelling.format(host=server.host, netloc=netloc, hostname=netloc.partition(":")[0])
    assert rows(connect(server_hostname=host).cursor(), "SELECT 1") == [(1,)]


def test_credentials_of_the_sdk(connect: Connect, server: Server) -> None:
    from databricks.sdk.core import Config

    config = Config(host=server.host, token=server.token)
    cursor = connect(access_token=None, credentials_provider=lambda: config.authenticate).cursor()
    assert rows(cursor, "SELECT 1") == [(1,)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"access_token": "wrong"}, "Invalid access token"),
        ({"http_path": "/sql/1.0/warehouses/nope"}, "SQL warehouse nope does not exist"),
        ({"http_path": "/sql/protocolv1/o/0/nope"}, "Cluster nope does not exist"),
    ],
)
def test_refused_connections_name_the_reason(connect: Connect, options: Any, message: str) -> None:
    with pytest.raises(sql.exc.Error, match=message):
        connect(**options)


def test_sessions_belong_to_their_user(connect: Connect, server: Server) -> None:
    body = {"application_id": "robot", "lifetime_seconds": 86400, "comment": ""}
    robot = server.post("/api/2.0/token-management/on-behalf-of/tokens", body)["token_value"]
    cursor = connect().cursor()
    rows(cursor, "SELECT 1")
    other = connect(access_token=robot)
    other.session._session_id = cursor.connection.session._session_id
    with pytest.raises(sql.exc.DatabaseError, match="Invalid SessionHandle"):
        other.cursor().execute("SELECT 1")


@pytest.mark.parametrize("body", [b"", b"\x00", b"{}", b"\xff" * 40, b"\x80\x01\x00\x01\xff\xff\xff\xff"])
def test_a_body_that_is_not_thrift_is_refused(server: Server, body: bytes) -> None:
    headers = {"Authorization": f"Bearer {server.token}"}
    answer = requests.post(server.host + WAREHOUSE, data=body, headers=headers, timeout=30)
    assert (answer.status_code, answer.json()["error_code"]) == (400, "MALFORMED_REQUEST")
    assert answer.headers["X-Databricks-Reason-Phrase"].startswith("The body is not a message")


@pytest.mark.parametrize("use_sea", [False, True], ids=["thrift", "rest"])
@pytest.mark.parametrize("trusted", ["parameter", "variable"])
def test_a_client_of_another_process_uses_tls(
    server: Server, monkeypatch: pytest.MonkeyPatch, trusted: str, use_sea: bool
) -> None:
    """Without the routing of a run: the secure port, and the workspace's authority."""
    known = server.connection()
    authority: dict[str, str] = {}
    if trusted == "parameter":
        authority["_tls_trusted_ca_file"] = known["ca_file"]
    else:
        monkeypatch.setenv("SSL_CERT_FILE", known["ca_file"])
    with sql.connect(
        server_hostname="127.0.0.1",
        http_path=WAREHOUSE,
        access_token=server.token,
        _port=int(known["https_host"].rpartition(":")[2]),
        enable_telemetry=False,
        use_sea=use_sea,
        **authority,
    ) as connection:
        assert rows(connection.cursor(), "SELECT 1") == [(1,)]


def test_a_client_of_another_process_names_the_address(server: Server) -> None:
    """Without the routing of a run: `_connection_uri` takes an address without TLS."""
    with sql.connect(
        server_hostname="127.0.0.1",
        http_path=WAREHOUSE,
        access_token=server.token,
        _connection_uri=server.host + WAREHOUSE,
        enable_telemetry=False,
    ) as connection:
        assert rows(connection.cursor(), "SELECT 1") == [(1,)]


def test_the_rest_api_in_place_of_thrift(connect: Connect) -> None:
    """`use_sea=True`: sessions and statements of the REST API."""
    cursor = connect(use_sea=True, catalog="main", schema="default").cursor()
    assert rows(cursor, "SELECT current_catalog(), current_schema()") == [("main", "default")]
    cursor.execute("CREATE TEMPORARY VIEW kept AS SELECT id FROM range(3)")
    assert rows(cursor, "SELECT count(*), :a FROM kept", {"a": 5}) == [(3, 5)]
    with pytest.raises(sql.exc.Error, match="TABLE_OR_VIEW_NOT_FOUND"):
        cursor.execute("SELECT * FROM nope")
    cursor.connection.close()
    with pytest.raises(sql.exc.Error, match="status 400"):
        connect(use_sea=True, catalog="nope")


def requested(connection: Any, method: str, **fields: Any) -> Any:
    """The answer to a request that the connector itself does not send in this form."""
    backend = connection.session.backend
    handle = connection.session.session_id.to_thrift_handle()
    direct = ttypes.TSparkGetDirectResults(maxRows=100, maxBytes=2**20)
    request = getattr(ttypes, f"T{method}Req")(sessionHandle=handle, getDirectResults=direct, **fields)
    answer = backend.make_request(getattr(backend._client, method), request)
    assert answer.directResults.operationStatus.operationState == 2, answer.directResults.operationStatus
    return answer.directResults


def test_metadata_is_sent_in_columns(connect: Connect) -> None:
    """The JDBC driver reads nothing else."""
    connection = connect()
    connection.cursor().execute("CREATE OR REPLACE TABLE main.default.sent (id INT, n INT)")
    catalogs = requested(connection, "GetCatalogs").resultSet.results
    assert {"hive_metastore", "main", "samples", "system"} <= {*catalogs.columns[0].stringVal.values}
    name = {"catalogName": "main", "schemaName": "default", "tableName": "sent"}
    found = requested(connection, "GetColumns", **name)
    names = [each.columnName for each in found.resultSetMetadata.schema.columns]
    columns = dict(zip(names, found.resultSet.results.columns, strict=True))
    assert columns["COLUMN_NAME"].stringVal.values == ["id", "n"]
    assert columns["ORDINAL_POSITION"].i32Val.values == [0, 1], "the driver adds one"


def test_intervals_of_clients_that_read_them_from_arrow(connect: Connect) -> None:
    """Days are durations; years are strings, since PySpark does not write them to Arrow."""
    statement = "SELECT INTERVAL '-1 02:03:04.5' DAY TO SECOND AS d, INTERVAL '26' MONTH AS m"
    types = ttypes.TSparkArrowTypes(intervalTypesAsArrow=True)
    found = requested(
        connect(), "ExecuteStatement", statement=statement, canReadArrowResult=True, useArrowNativeTypes=types
    )
    batches = [found.resultSetMetadata.arrowSchema, *(b.batch for b in found.resultSet.results.arrowBatches)]
    table = pa.ipc.open_stream(b"".join(batches)).read_all()
    assert table.to_pylist() == [{"d": -dt.timedelta(days=1, hours=2, minutes=3, seconds=4.5), "m": "2-2"}]
    names = [field.metadata[b"Spark:DataType:SqlName"] for field in table.schema]
    assert names == [b"INTERVAL DAY TO SECOND", b"STRING"]


def test_parameters_have_the_order_of_their_ordinals(connect: Connect) -> None:
    values = [ttypes.TSparkParameterValue(stringValue=str(number)) for number in range(1, 8)]
    sent = [ttypes.TSparkParameter(ordinal=at, type="INT", value=value) for at, value in enumerate(values, 1)]
    statement = "SELECT array(?, ?, ?, ?, ?, ?, ?)::STRING"
    for parameters in (sent, sent[::-1]):
        found = requested(connect(), "ExecuteStatement", statement=statement, parameters=parameters)
        assert found.resultSet.results.columns[0].stringVal.values == ["[1, 2, 3, 4, 5, 6, 7]"]


@pytest.mark.parametrize("use_sea", [False, True], ids=["thrift", "rest"])
def test_metadata_of_both_protocols(connect: Connect, use_sea: bool) -> None:
    cursor = connect(use_sea=use_sea).cursor()
    cursor.execute("CREATE SCHEMA IF NOT EXISTS main.of_both")
    cursor.execute("CREATE OR REPLACE TABLE main.of_both.t (id INT NOT NULL, n STRING)")
    cursor.execute("CREATE OR REPLACE VIEW main.of_both.v AS SELECT 1 AS one")
    listed = {}
    for method in (cursor.catalogs, cursor.schemas, cursor.tables, cursor.columns):
        names = {} if method == cursor.catalogs else {"catalog_name": "main"}
        if method in (cursor.tables, cursor.columns):
            names["schema_name"] = "of_both"
        method(**names)
        listed[method.__name__] = {value for row in cursor.fetchall() for value in row}
    assert {"main", "hive_metastore"} <= listed["catalogs"]
    assert {"default", "of_both", "information_schema"} <= listed["schemas"]
    assert {"main", "of_both", "t", "v", "TABLE", "VIEW"} <= listed["tables"]
    assert {"main", "of_both", "t", "v", "id", "n", "one"} <= listed["columns"]


def test_transactions_of_the_db_api(connect: Connect) -> None:
    other = connect().cursor()
    other.execute("CREATE OR REPLACE TABLE main.default.moved AS SELECT 1 AS id")
    count = "SELECT count(*) FROM main.default.moved"
    connection = connect(ignore_transactions=False, fetch_autocommit_from_server=True)
    assert connection.autocommit
    connection.autocommit = False
    assert not connection.autocommit
    for end, left in ((connection.rollback, 1), (connection.commit, 2), (connection.close, 2)):
        cursor = connection.cursor()
        cursor.execute("INSERT INTO main.default.moved VALUES (2)")
        assert rows(cursor, count) == [(left + (end != connection.commit),)]
        cursor.close()
        end()
        until(lambda left=left: rows(other, count) == [(left,)])


@pytest.mark.parametrize("is_one_off", [True, False])
def test_a_transaction_is_that_of_its_session(connect: Connect, server: Server, is_one_off: bool) -> None:
    cursor = connect().cursor()
    cursor.execute("CREATE OR REPLACE TABLE main.default.apart AS SELECT 1 AS id")
    if is_one_off:
        # A statement of the REST API without a session has one of its own, which ends with it.
        body = {"statement": "BEGIN TRANSACTION", "warehouse_id": WAREHOUSE.rpartition("/")[2]}
        answer = server.post("/api/2.0/sql/statements", {**body, "wait_timeout": "50s"})
        assert answer["status"]["state"] == "SUCCEEDED"
    else:
        connect().cursor().execute("BEGIN TRANSACTION")
    cursor.execute("CREATE OR REPLACE TABLE main.default.apart AS SELECT 2 AS id")
    assert rows(cursor, "SELECT id FROM main.default.apart") == [(2,)]

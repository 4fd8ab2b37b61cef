"""PUT, GET and REMOVE of databricks-sql-connector, by Thrift and by the REST API."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import requests

from lakeward.workspace.api.volume_operations import VolumeOperation, parse_volume_operation
from tests.workspace.server import Server

sql = pytest.importorskip("databricks.sql", reason="databricks-sql-connector is not installed")
CLIENT = "sql/volumes"
VOLUME = "/Volumes/main/default/staged"


@pytest.mark.parametrize(
    ("text", "operation"),
    [
        ("PUT '/a b' INTO '/Volumes/x'", VolumeOperation("PUT", "/Volumes/x", "/a b")),
        ("put\"/a\"into'/Volumes/x'overwrite ;", VolumeOperation("PUT", "/Volumes/x", "/a", True)),
        (
            "-- up\nPUT /* it's */ '/it''s' INTO 'dbfs:/Volumes/x'",
            VolumeOperation("PUT", "/Volumes/x", "/it's"),
        ),
        (r"GET '/Volumes/\'x' TO 'C:\\y'", VolumeOperation("GET", "/Volumes/'x", "C:\\y")),
        ("REMOVE '/Volumes/x'", VolumeOperation("REMOVE", "/Volumes/x")),
        ("/* a */" * 40 + "REMOVE '/Volumes/x'/**/", VolumeOperation("REMOVE", "/Volumes/x")),
        ("/* a **/ /***/" * 40 + "SELECT 1", None),
        ("PUT '/a' INTO '/Volumes/x' OVERWRITE x", None),
        ("SELECT 'PUT ''/a'' INTO ''/Volumes/x'''", None),
    ],
)
def test_commands_are_recognized(text: str, operation: VolumeOperation | None) -> None:
    assert parse_volume_operation(text) == operation


@pytest.mark.process
@pytest.mark.parametrize("use_sea", [False, True], ids=["thrift", "rest"])
def test_a_file_is_sent_read_and_removed(
    connect: Callable[..., Any], server: Server, tmp_path: Path, use_sea: bool
) -> None:
    cursor = connect(use_sea=use_sea, staging_allowed_local_path=str(tmp_path)).cursor()
    cursor.execute("CREATE VOLUME IF NOT EXISTS main.default.staged")
    sent, received = tmp_path / "it's ä.csv", tmp_path / "received.csv"
    sent.write_bytes(b"a,b\n1,2\n" * 1000)
    local, file = str(sent).replace("'", "''"), f"{VOLUME}/new folder/it''s 100% ä#1.csv"
    cursor.execute(f"PUT '{local}' INTO '{file}'")
    assert (server.state / "volumes/main/default/staged/new folder/it's 100% ä#1.csv").is_file()
    with pytest.raises(sql.exc.Error, match="FILE_IN_STAGING_PATH_ALREADY_EXISTS"):
        cursor.execute(f"PUT '{local}' INTO '{file}'")
    sent.write_bytes(b"changed")
    cursor.execute(f"PUT '{local}' INTO '{file}' OVERWRITE")
    cursor.execute(f"GET '{file}' TO '{received}'")
    assert received.read_bytes() == b"changed"
    cursor.execute(f"REMOVE '{file}'")
    with pytest.raises(sql.exc.Error, match="unsuccessful: 404"):
        cursor.execute(f"GET '{file}' TO '{received}'")


@pytest.mark.process
def test_a_stream_is_sent(connect: Callable[..., Any], server: Server) -> None:
    cursor = connect().cursor()
    cursor.execute("CREATE VOLUME IF NOT EXISTS main.default.staged")
    command = f"PUT '__input_stream__' INTO '{VOLUME}/s.csv' OVERWRITE"
    cursor.execute(command, input_stream=io.BytesIO(b"x\n1\n"))
    cursor.execute(f"SELECT x FROM read_files('{VOLUME}/s.csv', format => 'csv', header => true)")
    assert cursor.fetchall() == [(1,)]


@pytest.mark.process
@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/Volumes/main/default/nope/a", "Volume 'main.default.nope' does not exist"),
        ("/Volumes/main", "is not below a volume"),
        ("/tmp/a", "is not a path in a volume"),
        (f"{VOLUME}/../../../../a", "is not a path in a volume"),
    ],
)
@pytest.mark.parametrize(
    "command", ["PUT '{local}' INTO '{path}'", "GET '{path}' TO '{local}'", "REMOVE '{path}'"]
)
def test_other_paths_are_refused(
    connect: Callable[..., Any], tmp_path: Path, path: str, message: str, command: str
) -> None:
    local = tmp_path / "a"
    local.write_text("kept")
    connect().cursor().execute("CREATE VOLUME IF NOT EXISTS main.default.staged")
    cursor = connect(staging_allowed_local_path=str(tmp_path)).cursor()
    with pytest.raises(sql.exc.Error, match=message):
        cursor.execute(command.format(path=path, local=local))
    assert local.read_text() == "kept"


@pytest.mark.process
def test_a_link_is_for_one_file_and_one_operation(connect: Callable[..., Any], server: Server) -> None:
    connect().cursor().execute("CREATE VOLUME IF NOT EXISTS main.default.staged")
    body = {"statement": f"GET '{VOLUME}/a' TO '/tmp/a'", "warehouse_id": "1a6e3a4d00000001"}
    answer = server.post("/api/2.0/sql/statements", body | {"wait_timeout": "30s"})
    assert answer["manifest"]["is_volume_operation"] is True
    link = answer["result"]["data_array"][0][1]
    assert requests.get(link, timeout=10).status_code == 404
    other = link.replace("/GET/", "/REMOVE/")
    refused = [
        requests.get(link.replace("/a?", "/b?"), timeout=10),
        requests.delete(other, timeout=10),
        requests.put(link.replace("/GET/", "/REPLACE/"), data=b"x", timeout=10),
    ]
    assert [each.status_code for each in refused] == [403] * 3


@pytest.mark.process
@pytest.mark.parametrize("address", ["host", "https_host"])
def test_links_have_the_address_of_the_request(server: Server, address: str) -> None:
    """A client with TLS alone, as the connector for Node.js, does not follow others."""
    known = server.connection()
    body = {
        "statement": f"GET '{VOLUME}/a' TO '/tmp/a'",
        "warehouse_id": "1a6e3a4d00000001",
        "wait_timeout": "30s",
    }
    headers = {"Authorization": f"Bearer {server.token}"}
    place = f"{known[address]}/api/2.0/sql/statements"
    answer = requests.post(place, json=body, headers=headers, verify=known["ca_file"], timeout=60).json()
    assert answer["result"]["data_array"][0][1].startswith(f"{known[address]}/")

"""The workspace of a suite: variables at once, a server on first use, one for each worker."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tests.processes import environ_without, outcome

from lakeward.testing.suite_workspace import chooses_serverless

pytestmark = pytest.mark.process

NAMES = ("DATABRICKS_HOST", "DATABRICKS_TOKEN", "DATABRICKS_CLUSTER_ID", "DATABRICKS_WAREHOUSE_ID")
CLIENT = """\
import os
from databricks.sdk import WorkspaceClient

def test_the_workspace_answers():
    client = WorkspaceClient()
    open("host", "w").write(client.config.host)
    assert client.config.host == os.environ["DATABRICKS_HOST"]
    assert client.current_user.me().user_name
    client.clusters.ensure_cluster_is_running(os.environ["DATABRICKS_CLUSTER_ID"])
    assert client.warehouses.get(os.environ["DATABRICKS_WAREHOUSE_ID"]).id
    assert type(client.dbutils).__module__.startswith("lakeward.")
"""
PRINT = """\
import os, subprocess, sys
print("import-time", os.environ["DATABRICKS_HOST"])

def test_variables():
    for name in {names}:
        print(name, os.environ.get(name))
    found = subprocess.run(["ps", "-eo", "ppid,args"], capture_output=True, text=True).stdout
    mine = [line for line in found.splitlines() if str(os.getpid()) in line]
    print("servers", sum("server_process" in line for line in mine))
"""


def run(
    folder: Path, *arguments: str, settings: str = "", **environ: str
) -> subprocess.CompletedProcess[str]:
    (folder / "pytest.ini").write_text(f"[pytest]\n{settings}\n")
    return outcome(
        [sys.executable, "-m", "pytest", "-s", "-q", *arguments],
        cwd=folder,
        env={**environ_without("LAKEWARD_", "PYTEST", "DATABRICKS_"), **environ},
        timeout=120,
    )


def printed(folder: Path, settings: str = "", **environ: str) -> dict[str, str]:
    (folder / "test_variables.py").write_text(PRINT.format(names=NAMES))
    ran = run(folder, settings=settings, **environ)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return dict(
        line.lstrip(".").split(maxsplit=1) for line in ran.stdout.splitlines() if len(line.split()) == 2
    )


def test_a_client_without_settings_reaches_a_server_that_starts_on_first_use(tmp_path: Path) -> None:
    (tmp_path / "test_client.py").write_text(CLIENT)
    ran = run(tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    # It ends with the suite.
    host = (tmp_path / "host").read_text()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", int(host.rpartition(":")[2])), timeout=5).close()


def test_reading_the_variables_starts_no_server(tmp_path: Path) -> None:
    values = printed(tmp_path)
    assert values["import-time"] == values["DATABRICKS_HOST"]
    assert values["DATABRICKS_HOST"].startswith("http://127.0.0.1:")
    assert all(values[name] != "None" for name in NAMES)
    assert values["servers"] == "0"


@pytest.mark.parametrize("name", ["DATABRICKS_HOST", "DATABRICKS_CONFIG_PROFILE", "DATABRICKS_TOKEN"])
def test_a_workspace_that_the_user_names_stays(tmp_path: Path, name: str) -> None:
    (tmp_path / "test_a.py").write_text(
        f"import os\ndef test_a():\n    assert os.environ['{name}'] == 'https://mine'\n"
        "    assert {key for key in os.environ if key.startswith('DATABRICKS_')} == {'" + name + "'}\n"
    )
    ran = run(tmp_path, **{name: "https://mine"})
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_identifiers_of_compute_that_the_user_names_stay(tmp_path: Path) -> None:
    values = printed(tmp_path, DATABRICKS_CLUSTER_ID="mine", DATABRICKS_WAREHOUSE_ID="too")
    assert (values["DATABRICKS_CLUSTER_ID"], values["DATABRICKS_WAREHOUSE_ID"]) == ("mine", "too")
    assert values["DATABRICKS_HOST"].startswith("http://127.0.0.1:")


@pytest.mark.parametrize("folder", [".", "tests", "python/tests"])
def test_a_suite_that_chooses_serverless_compute_gets_no_cluster(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    (tmp_path / folder / "conftest.py").write_text(
        "import os\nif 'DATABRICKS_CLUSTER_ID' not in os.environ:\n"
        "    os.environ['DATABRICKS_SERVERLESS_COMPUTE_ID'] = 'auto'\n"
    )
    (tmp_path / folder / "test_a.py").write_text(
        "import os\ndef test_a():\n    assert os.environ['DATABRICKS_SERVERLESS_COMPUTE_ID'] == 'auto'\n"
        "    assert 'DATABRICKS_CLUSTER_ID' not in os.environ and 'DATABRICKS_HOST' in os.environ\n"
    )
    ran = run(tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr


SERVERLESS = "DATABRICKS_SERVERLESS_COMPUTE_ID"


@pytest.mark.parametrize(
    ("code", "chosen"),
    [
        (f"os.environ['{SERVERLESS}'] = 'auto'", True),
        (f"os.environ.setdefault('{SERVERLESS}', 'auto')", True),
        (f"os.environ.update({{'{SERVERLESS}': 'auto'}})", True),
        ("config.serverless_compute_id = 'auto'", True),
        ("Config(serverless_compute_id='auto')", True),
        (f"if os.getenv('{SERVERLESS}'): pytest.skip()", False),
        (f"if '{SERVERLESS}' in os.environ: pass", False),
        ("if config.serverless_compute_id: pass", False),
        (f"{SERVERLESS} = (", False),
    ],
)
def test_only_a_suite_that_sets_serverless_compute_chooses_it(
    tmp_path: Path, code: str, chosen: bool
) -> None:
    (tmp_path / "conftest.py").write_text(f"{code}\n")
    assert chooses_serverless(tmp_path) is chosen


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(
        "import os\ndef test_a():\n    assert not [key for key in os.environ if 'DATABRICKS_' in key]\n"
    )
    ran = run(tmp_path, settings="lakeward_workspace = false")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_each_worker_has_a_workspace_of_its_own(tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    (tmp_path / "test_workers.py").write_text(
        "import os, pathlib, time\n"
        "def mark(): pathlib.Path('host' + os.environ['PYTEST_XDIST_WORKER']).write_text("
        "os.environ['DATABRICKS_HOST']); time.sleep(1)\n"
        "def test_a(): mark()\ndef test_b(): mark()\n"
    )
    ran = run(tmp_path, "-n", "2")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert (
        len({file.read_text() for file in tmp_path.glob("host*")}) == len(list(tmp_path.glob("host*"))) == 2
    )

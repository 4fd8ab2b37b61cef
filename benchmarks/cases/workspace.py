"""The local workspace's server against a bare one of the same make."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from benchmarks.cases.pipelines import peer_conf, peer_environment
from benchmarks.registry import Sides, case

CLIENTS = 50
TURNS = 20

# What is answered is one run of one task, as clients poll for it.
PEER = """
import sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
answer = sys.stdin.buffer.read()
async def get(request):
    return Response(answer, media_type="application/json")
uvicorn.run(Starlette(routes=[Route("/{path:path}", get)]), port=int(sys.argv[1]), log_level="critical")
"""


@case("workspace.runs_get", goal=3.0)
@contextmanager
def runs_get(folder: Path) -> Iterator[Sides]:
    """50 clients that ask for a run 20 times each; the figures are of such that poll four times a second.

    Wanted: `p99_ms` below 20, on a machine that does nothing else.
    """
    with served(folder) as (process, host, token), bare(answer_of(host, token)) as peer:
        run = run_once(host, token, folder)
        path = f"/api/2.2/jobs/runs/get?run_id={run}"

        def check(latencies: list[float]) -> None:
            assert len(latencies) == CLIENTS * TURNS

        def figures() -> dict[str, float]:
            before = cpu_seconds(process.pid)
            ours, theirs = (asyncio.run(clients(each, token, path, pause=0.25)) for each in (host, peer))
            cpu = cpu_seconds(process.pid) - before
            return {
                "cpu_ms_per_request": cpu / (CLIENTS * TURNS) * 1000,
                "p50_ms": percentile(ours, 50),
                "p99_ms": percentile(ours, 99),
                "peer_p99_ms": percentile(theirs, 99),
                "memory_mb": resident(process.pid),
                "first_line_seconds": first_line(host, token, folder),
            }

        yield Sides(
            lambda: asyncio.run(clients(host, token, path)),
            lambda: asyncio.run(clients(peer, token, path)),
            check=check,
            figures=figures,
        )


SPARK_TASK = "print(spark.range(1000).selectExpr('sum(id)').first()[0])\n"
BARE = """
import sys
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[*]")
for text in sys.argv[1:]:
    builder = builder.config(*text.split("=", 1))
spark = builder.getOrCreate()
"""


@case("workspace.spark_task", goal=1.2)
@contextmanager
def spark_task(folder: Path) -> Iterator[Sides]:
    """A run of one task on Spark, from run-now to its end, against Python with a session of its own.

    Each starts a JVM; a daemon would be the server's advantage.
    """
    with served(folder, LAKEWARD_COLD="1") as (_, host, token):

        def ours() -> str:
            run = run_once(host, token, folder, SPARK_TASK)
            output = ask(host, token, f"/api/2.2/jobs/runs/get-output?run_id={run}")
            return str(output["logs"])

        def peer() -> str:
            conf = [f"{name}={value}" for name, value in peer_conf(folder).items()]
            command = [sys.executable, "-c", BARE + SPARK_TASK, *conf]
            environ = {**peer_environment(folder, folder), "LAKEWARD_DISABLE": "1"}
            return subprocess.run(command, env=environ, check=True, capture_output=True, text=True).stdout

        def check(printed: str) -> None:
            if printed.split() != ["499500"]:
                raise AssertionError(printed[:500])

        yield Sides(ours, peer, check=check)


STATEMENTS = "/api/2.0/sql/statements"
WAREHOUSE = "1a6e3a4d00000001"
ROWS = 10_000
QUERY = (
    "SELECT id, cast(id AS STRING) AS s, id * 1.5D AS d, id % 2 = 0 AS b, "
    "date_add(DATE'2026-01-01', cast(id % 365 AS INT)) AS t FROM range(10000)"
)
WAITING = 45
# Runs until it is canceled.
ENDLESS = "SELECT count(*) FROM range(0, 1000000000000, 1, 1)"
BARE_QUERIES = (
    BARE
    + """
for line in sys.stdin:
    rows = spark.sql(line).collect()
    print(len(rows), flush=True)
"""
)


@case("workspace.statement", goal=1.5, warmups=5)
@contextmanager
def statement(folder: Path) -> Iterator[Sides]:
    """A warm statement of 10,000 rows with five columns, against `collect()` in a session of plain Spark.

    Wanted: `warm_ms` of 100 at most, on a machine that does nothing else.
    """
    with served(folder) as (_, host, token), bare_queries(folder) as peer:
        execute(host, token, f"CREATE TABLE main.default.numbers AS {QUERY}")

        def check(rows: int) -> None:
            assert rows == ROWS, rows

        def figures() -> dict[str, float]:
            found = {}
            for name, text in (("warm_ms", QUERY), ("delta_table_ms", "SELECT * FROM main.default.numbers")):
                taken = []
                for _ in range(10):
                    began = time.perf_counter()
                    execute(host, token, text)
                    taken.append(time.perf_counter() - began)
                found |= {name: percentile(taken, 50), f"best_{name}": min(taken) * 1000}
            return found

        yield Sides(lambda: execute(host, token, QUERY), lambda: peer(QUERY), check=check, figures=figures)


@case("workspace.statements_waiting", goal=5.0)
@contextmanager
def statements_waiting(folder: Path) -> Iterator[Sides]:
    """`jobs/list` from 50 clients, against the same without statements: 45 clients wait for theirs.

    Wanted: `p99_ms` below 50. The statements that run use all processors: `cpu_ms_per_request` is what the
    server itself needs, whatever they do.
    """
    path = "/api/2.2/jobs/list"
    (folder / "quiet").mkdir()
    with served(folder) as (process, host, token), served(folder / "quiet") as (_, quiet, quiet_token):
        execute(host, token, "SELECT 1")

        def figures() -> dict[str, float]:
            before = cpu_seconds(process.pid)
            taken = asyncio.run(clients(host, token, path, pause=0.25))
            cpu = cpu_seconds(process.pid) - before
            return {
                "p99_ms": percentile(taken, 99),
                "cpu_ms_per_request": cpu / (CLIENTS * TURNS) * 1000,
            }

        with ThreadPoolExecutor(WAITING) as waiting:
            body = {"statement": ENDLESS, "warehouse_id": WAREHOUSE, "wait_timeout": "50s"}
            pending = [waiting.submit(ask, host, token, STATEMENTS, body, 60) for _ in range(WAITING)]
            time.sleep(2)
            assert not any(each.done() for each in pending)
            yield Sides(
                lambda: asyncio.run(clients(host, token, path)),
                lambda: asyncio.run(clients(quiet, quiet_token, path)),
                figures=figures,
            )


@case("workspace.start", goal=8.0)
@contextmanager
def start(folder: Path) -> Iterator[Sides]:
    """Time from the command to the first answer, compared with a bare server on the same libraries.

    Wanted: `first_answer_seconds` of 0.5 at most and `idle_memory_mb` below 120.
    """
    with ExitStack() as servers:

        def ours() -> None:
            began = time.perf_counter()
            process, host, _ = servers.enter_context(served(folder))
            urlopen(f"{host}/.well-known/databricks-config", timeout=30).close()  # noqa: S310  # our own host
            started.append((cpu_seconds(process.pid), time.perf_counter() - began))

        def peer() -> None:
            host = servers.enter_context(bare(b"{}"))
            urlopen(host, timeout=30).close()  # noqa: S310  # our own host

        def figures() -> dict[str, float]:
            servers.close()
            process, host, _ = servers.enter_context(served(folder))
            urlopen(f"{host}/.well-known/databricks-config", timeout=30).close()  # noqa: S310  # our own host
            return {
                "first_answer_seconds": min(seconds for _, seconds in started),
                "cpu_ms": min(cpu for cpu, _ in started) * 1000,
                "idle_memory_mb": resident(process.pid),
            }

        started: list[tuple[float, float]] = []
        yield Sides(ours, peer, prepare=servers.close, figures=figures)


def execute(host: str, token: str, text: str) -> int:
    """Run a statement and read all chunks of its result; the number of its rows."""
    body = {"statement": text, "warehouse_id": WAREHOUSE, "wait_timeout": "50s"}
    found = ask(host, token, STATEMENTS, body, 60)
    while found["status"]["state"] in ("PENDING", "RUNNING"):
        time.sleep(0.1)
        found = ask(host, token, f"{STATEMENTS}/{found['statement_id']}")
    assert found["status"]["state"] == "SUCCEEDED", found["status"]
    result = found["result"]
    rows = len(result["data_array"])
    while "next_chunk_internal_link" in result:
        result = ask(host, token, result["next_chunk_internal_link"])
        rows += len(result["data_array"])
    return rows


@contextmanager
def bare_queries(folder: Path) -> Iterator[Callable[[str], int]]:
    """A process of plain PySpark that runs queries."""
    conf = [f"{name}={value}" for name, value in peer_conf(folder).items()]
    process = subprocess.Popen(
        [sys.executable, "-c", BARE_QUERIES, *conf],
        env={**peer_environment(folder, folder), "LAKEWARD_DISABLE": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout

    def run(query: str) -> int:
        stdin.write(f"{query}\n")
        stdin.flush()
        return int(stdout.readline())

    try:
        yield run
    finally:
        stdin.close()
        process.wait(30)
        stdout.close()


def cpu_seconds(process: int) -> float:
    """Return the processor time that a process has used; unlike a latency it does not depend on the load."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def percentile(seconds: list[float], rank: int) -> float:
    """In milliseconds."""
    return sorted(seconds)[len(seconds) * rank // 100] * 1000


@contextmanager
def served(folder: Path, **more: str) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """The server in a process of its own, with `more` in its environment: process, host, token."""
    # Without byte code, imports would be compiled at each start.
    left_out = ("LAKEWARD_HOME", "PYTHONDONTWRITEBYTECODE")
    environ = {name: value for name, value in os.environ.items() if name not in left_out} | more
    process = subprocess.Popen(
        [sys.executable, "-m", "lakeward", "workspace", "--json"],
        cwd=folder,
        env=environ,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = json.loads(process.stdout.readline())
        yield process, line["host"], json.loads(Path(line["connection"]).read_text())["token"]
    finally:
        process.terminate()
        process.communicate(timeout=30)


@contextmanager
def bare(answer: bytes) -> Iterator[str]:
    """A server with one answer to all requests."""
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-c", PEER, str(port)], stdin=subprocess.PIPE)
    try:
        assert process.stdin is not None
        process.stdin.write(answer)
        process.stdin.close()
        until_open(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


def until_open(port: int) -> None:
    import socket

    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError(f"nothing listens on {port}")


def ask(host: str, token: str, path: str, body: Any = None, seconds: float = 30) -> Any:
    """One request; with a body a POST."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}"}
    request = Request(host + path, data, headers)  # noqa: S310  # a host of our own
    with urlopen(request, timeout=seconds) as answer:  # noqa: S310  # as above
        return json.load(answer)


def run_once(host: str, token: str, folder: Path, code: str = "import time\nprint(time.time())\n") -> int:
    """The id of a run of one Python task that has ended."""
    file = folder / ".lakeward" / "local" / "workspace" / "task.py"
    file.write_text(code)
    task = {"task_key": "only", "spark_python_task": {"python_file": "/Workspace/task.py"}}
    submitted = ask(host, token, "/api/2.2/jobs/runs/submit", {"tasks": [task]})
    run = int(submitted["run_id"])
    while "result_state" not in ask(host, token, f"/api/2.2/jobs/runs/get?run_id={run}")["state"]:
        time.sleep(0.05)
    return run


def answer_of(host: str, token: str) -> bytes:
    """An answer of about the size of a run's."""
    me = ask(host, token, "/api/2.0/preview/scim/v2/Me")
    return json.dumps({**me, "padding": "x" * 1000}).encode()


def first_line(host: str, token: str, folder: Path) -> float:
    """Seconds from run-now to the first line of the user's code; the best of three."""
    taken = []
    for _ in range(3):
        began = time.time()
        run = run_once(host, token, folder)
        output = ask(host, token, f"/api/2.2/jobs/runs/get-output?run_id={run}")
        taken.append(float(output["logs"]) - began)
    return min(taken)


def resident(pid: int) -> float:
    """Megabytes of memory that the process has; 0 where the system does not say."""
    status = Path(f"/proc/{pid}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")), 0.0)


async def clients(host: str, token: str, path: str, *, pause: float = 0.0) -> list[float]:
    """Seconds of every request of all clients, each with a connection of its own."""
    port = int(host.rpartition(":")[2])
    every = await asyncio.gather(*(client(port, token, path, pause, n / CLIENTS) for n in range(CLIENTS)))
    return [seconds for each in every for seconds in each]


async def client(port: int, token: str, path: str, pause: float, phase: float) -> list[float]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    taken = []
    # Clients are not in step with each other.
    await asyncio.sleep(pause * phase)
    for _ in range(TURNS):
        began = time.perf_counter()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        await reader.readexactly(int(lengths[0].split(b":")[1]))
        taken.append(time.perf_counter() - began)
        await asyncio.sleep(pause)
    writer.close()
    return taken

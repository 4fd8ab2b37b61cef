"""Streams on an object store, on separate executors, and over minutes."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyspark
import pytest

from lakeward.autoloader.discovery.storage import open_storage
from tests.autoloader.trackers import Source
from tests.processes import outcome

pytestmark = pytest.mark.slow


def printed(script: str, mark: str, *arguments: str, environ: Mapping[str, str] | None = None) -> Any:
    """What a script of this folder prints behind `mark`, as JSON."""
    done = outcome(
        [sys.executable, str(Path(__file__).with_name(script)), *arguments],
        env={**os.environ, **(environ or {})},
        timeout=400,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith(mark)]
    assert lines, done.stdout[-2000:] + done.stderr[-4000:]
    return json.loads(lines[0][len(mark) :])


@pytest.fixture(scope="module")
def store() -> Iterator[dict[str, str]]:
    """Start an object store with a bucket `land`; return the environment for `s3://`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(urllib.request.Request(f"{address}/land", method="PUT")).close()
                break
            except (urllib.error.URLError, ConnectionError):
                assert server.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.2)
        yield {
            "AWS_ENDPOINT_URL": address,
            "AWS_ACCESS_KEY_ID": "x",
            "AWS_SECRET_ACCESS_KEY": "y",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }
    finally:
        server.terminate()
        server.wait()


def put(path: str, text: str) -> None:
    storage: Any = open_storage(path)
    with storage._files.open_output_stream(path.removeprefix("s3://")) as stream:
        stream.write(text.encode())


def test_files_of_a_bucket_are_found_once_and_can_be_moved_within_it(store, monkeypatch, tmp_path) -> None:
    for name, value in store.items():
        monkeypatch.setenv(name, value)
    source = Source(tmp_path)
    for name in ("a", "sub dir/b#1%", "_hidden/c"):
        put(f"s3://land/pure/in/{name}", "{}")
    source.folder = "s3://land/pure/in"  # type: ignore[assignment]
    tracker = source.tracker()
    start = tracker.initial_offset()
    end = tracker.latest(start, limited=True)
    files = tracker.files(start, end)
    assert sorted(status.key for status in files) == ["s3://land/pure/in/a", "s3://land/pure/in/sub dir/b#1%"]
    assert open_storage(files[1].path).read(files[1].path) == b"{}"
    assert source.tracker().latest(end, limited=True) == end
    storage = open_storage("s3://land")
    storage.move("s3://land/pure/in/a", "s3://land/pure/done/a")
    with pytest.raises(FileExistsError):
        storage.move("s3://land/pure/in/sub dir/b#1%", "s3://land/pure/done/a")
    with pytest.raises(FileNotFoundError):
        storage.stat("s3://land/pure/in/a", fresh=True)


@pytest.mark.process
def test_a_stream_reads_a_bucket(store, monkeypatch, tmp_path) -> None:
    for name, value in store.items():
        monkeypatch.setenv(name, value)
    for number in range(5):
        put(f"s3://land/spark/in/d {number}/f.json", f'{{"a": {number}}}\n')
    rows = printed("remote_stream.py", "ROWS ", str(tmp_path), "s3://land/spark/in", "local[2]")
    assert rows == [[number, f"s3://land/spark/in/d%20{number}/f.json"] for number in range(5)]


@pytest.mark.process
def test_executors_that_are_other_processes_read_the_files(tmp_path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    for number in range(20):
        (source / f"{number:02}.json").write_text(f'{{"a": {number}}}\n')
    home = copied_home(tmp_path / "spark")
    arguments = (str(tmp_path), str(source), "local-cluster[2,1,1024]")
    rows = printed("remote_stream.py", "ROWS ", *arguments, environ={"SPARK_HOME": str(home)})
    assert rows == [[number, f"file:{source}/{number:02}.json"] for number in range(20)]
    (application,) = (home / "work").iterdir()
    assert sorted(executor.name for executor in application.iterdir()) == ["0", "1"]


def copied_home(folder: Path) -> Path:
    """Spark's folder by links: executors leave what they write in `work` below it."""
    folder.mkdir()
    for entry in Path(pyspark.__file__).parent.iterdir():
        if entry.name != "work":
            (folder / entry.name).symlink_to(entry)
    return folder


@pytest.mark.process
def test_a_stream_that_runs_on_keeps_its_memory_flat(tmp_path) -> None:
    result = printed("continuous_stream.py", "RESULT ", str(tmp_path), "90")
    assert result["rows"] == result["files"]
    assert result["batches"] > 20
    heaps, finders = zip(*result["samples"], strict=True)
    third = len(heaps) // 3
    print(result)
    assert max(heaps[-third:]) < max(heaps[:third]) * 1.3 + 20
    assert max(finders[-third:]) < max(finders[:third]) + 20

"""Take the pictures of docs/pictures from the newest run of a project: `scripts/screenshots.py PROJECT`.

PROJECT is a folder in which `make run` and `lakeward bundle deploy` have run, with a job of the deployed
bundle run once in its workspace. Chromium has to be on PATH. Look at the pictures before you commit them:
they show names of the machine's user, and folders.
"""

from __future__ import annotations

import argparse
import base64
import getpass
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import Request, urlopen

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
STREAMS = """# Databricks notebook source
from pyspark.sql import functions as F

clicks = spark.readStream.format("rate").option("rowsPerSecond", 40).load()
clicks = clicks.withWatermark("timestamp", "10 seconds")
display(clicks.groupBy(F.window("timestamp", "5 seconds")).count())

# COMMAND ----------

spark.sql("CREATE SCHEMA IF NOT EXISTS main.live")
writer = clicks.writeStream.queryName("clicks_to_bronze").trigger(processingTime="1 second")
writer.option("checkpointLocation", "/tmp/checkpoints/clicks").toTable("main.live.clicks").awaitTermination()
"""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def main() -> int:
    """Write every picture and print its name and size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("project", type=Path)
    parser.add_argument("-t", "--target", default="dev")
    parser.add_argument("--dataset", default="workout_bpm_summary", help="whose details are shown")
    options = parser.parse_args()
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print(f"no browser is on PATH: {', '.join(BROWSERS)}", file=sys.stderr)
        return 2
    PICTURES.mkdir(parents=True, exist_ok=True)
    state = options.project.resolve() / ".lakeward" / options.target
    schema = f"dev.dev_{getpass.getuser()}_wearables"
    for name, file, fragment, height in pictures_of_reports(state, f"{schema}.{options.dataset}"):
        with tempfile.TemporaryDirectory() as folder:
            # The place of the project on this machine is not for others.
            copy = Path(folder, "report.html")
            text = file.read_text(encoding="utf-8").replace(str(options.project.resolve()), "…")
            copy.write_text(text, encoding="utf-8")
            take(browser, name, f"{copy.as_uri()}#{fragment}", height)
    with workspace(options.project, options.target) as (host, token):
        for name, page, height in pictures_of_workspace(host, token):
            take(browser, name, f"{host}/#token={token}&then={quote(page, safe='')}", height)
    # The sample bundle's own settings are those of serverless compute, which has no streams without an end.
    with (
        tempfile.TemporaryDirectory() as empty,
        workspace(Path(empty), "local") as (host, token),
        streaming_run(host, token) as page,
    ):
        take(browser, "workspace-streams", f"{host}/#token={token}&then={quote(page, safe='')}", 760)
    return 0


def pictures_of_reports(state: Path, dataset: str) -> Iterator[tuple[str, Path, str, int]]:
    """Yield name, file, fragment of the address and height of the pictures of reports."""
    pipelines = sorted((state / "reports").glob("*.html"), key=lambda file: file.stat().st_mtime)
    runs = sorted((state / "reports" / "runs").glob("*.html"), key=lambda file: file.stat().st_mtime)
    if pipelines:
        yield "report-pipeline", pipelines[-1], "", 900
        # A page that has scrolled is not taken whole.
        yield "report-dataset", pipelines[-1], dataset, 1500
    if runs:
        yield "report-run", runs[-1], "", 620


def pictures_of_workspace(host: str, token: str) -> Iterator[tuple[str, str, int]]:
    """Yield name, page and height of the pictures of the workspace's pages."""
    runs = ask(host, token, "/api/2.2/jobs/runs/list?limit=1")["runs"]
    if runs:
        yield "workspace-run", f"job/{runs[0]['job_id']}/run/{runs[0]['run_id']}", 780
    pipelines = ask(host, token, "/api/2.0/pipelines?max_results=1")["statuses"]
    if pipelines:
        yield "workspace-pipeline", f"pipeline/{pipelines[0]['pipeline_id']}", 900


@contextmanager
def streaming_run(host: str, token: str) -> Iterator[str]:
    """Run a notebook with streams in the workspace; yield the page of its run once they have batches."""
    content = base64.b64encode(STREAMS.encode()).decode()
    path = "/Shared/live_clicks"
    document = {"path": path, "format": "SOURCE", "language": "PYTHON", "overwrite": True, "content": content}
    ask(host, token, "/api/2.0/workspace/import", document)
    task = {"task_key": "live_clicks", "notebook_task": {"notebook_path": path}}
    submitted = {"run_name": "live clicks", "tasks": [task]}
    run = ask(host, token, "/api/2.2/jobs/runs/submit", submitted)["run_id"]
    task_run = ask(host, token, f"/api/2.2/jobs/runs/get?run_id={run}")["tasks"][0]["run_id"]
    try:
        for _ in range(120):
            found = ask(host, token, f"/api/2.0/lakeward/streams?run_id={task_run}")["streams"]
            if len(found) == 2 and all(len(each["batches"]) > 12 for each in found):
                break
            time.sleep(1)
        yield f"job/0/run/{run}"
    finally:
        ask(host, token, "/api/2.2/jobs/runs/cancel", {"run_id": run})


def take(browser: str, name: str, address: str, height: int) -> None:
    """Write one picture."""
    file = PICTURES / f"{name}.png"
    with tempfile.TemporaryDirectory() as profile:
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        options += [
            f"--user-data-dir={profile}",
            "--virtual-time-budget=6000",
            f"--window-size=1280,{height}",
        ]
        command = [browser, *options, f"--screenshot={file}", address]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
    print(f"{file.relative_to(PICTURES.parents[1])} {file.stat().st_size // 1000} KB")


def ask(host: str, token: str, path: str, document: Any = None) -> Any:
    """Return the answer of the workspace, to a POST of `document` if it is given."""
    body = None if document is None else json.dumps(document).encode()
    headers = {"Authorization": f"Bearer {token}"}
    request = Request(host + path, body, headers)  # noqa: S310  # our own host
    with urlopen(request, timeout=60) as answer:  # noqa: S310  # our own host
        return json.load(answer)


@contextmanager
def workspace(project: Path, target: str) -> Iterator[tuple[str, str]]:
    """Serve the project's workspace; yield its host and token."""
    command = [sys.executable, "-m", "lakeward", "workspace", "-t", target, "--json"]
    process = subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = json.loads(process.stdout.readline())
        connection = json.loads(Path(line["connection"]).read_text(encoding="utf-8"))
        yield connection["host"], connection["token"]
    finally:
        process.terminate()
        process.communicate(timeout=60)


if __name__ == "__main__":
    raise SystemExit(main())

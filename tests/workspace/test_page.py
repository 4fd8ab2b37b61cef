"""The page at `/` in a real browser: what it shows after its scripts have run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.report.events import Events
from tests.workspace.server import Server

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")

pytestmark = [pytest.mark.slow, pytest.mark.process]

EVIL = "<img src=x onerror=document.title='broken'> \"quoted\" 'too' 🚲 " + "long" * 1000


@pytest.fixture(scope="module")
def browser() -> str:
    """LAKEWARD_BROWSER, or one on PATH."""
    found = os.environ.get("LAKEWARD_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser is on PATH: {', '.join(BROWSERS)}")
    return found


def shown(browser: str, server: Server, part: str, scratch: Path) -> str:
    """The document once its requests are answered; a picture of it is left in `scratch`."""
    address = f"{server.host}/#token={server.token}&then={quote(part, safe='')}"
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1200,800"]
    options += [f"--user-data-dir={scratch / 'profile'}", "--virtual-time-budget=4000"]
    picture = f"--screenshot={scratch / (part.partition('/')[0] + '.png')}"
    for wanted in (picture, "--dump-dom"):
        done = subprocess.run(
            [browser, *options, wanted, address], capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
    return done.stdout


NOTEBOOK = """# Databricks notebook source
print(6 * 7)
displayHTML("<h3>From the notebook</h3><script>top.document.title='broken'</script>")
"""


def test_output_of_a_notebook_is_shown_and_runs_no_script(
    browser: str, server: Server, tmp_path: Path
) -> None:
    path = server.file("/Workspace/pages/hello.py", NOTEBOOK).removesuffix(".py")
    task = {"task_key": "hello", "notebook_task": {"notebook_path": path}}
    job = server.post("/api/2.2/jobs/create", {"name": "notebooks", "tasks": [task]})["job_id"]
    run = server.ended(server.run_now(job))
    page = shown(browser, server, f"job/{job}/run/{run['run_id']}", tmp_path)
    assert "Output of the notebook" in page
    assert "From the notebook" in page
    assert 'sandbox=""' in page
    assert "<title>notebooks success: lakeward workspace</title>" in page


@pytest.mark.parametrize(
    ("place", "end"),
    [("<p class=bad id=m>", "</p>"), ("<p id=problem><b id=m>", "</b></p>"), ("<p class=dim id=m>", "</p>"),
     ("<table><tr><td class=wide id=m>", "</td></tr></table>")],
)  # fmt: skip
def test_a_message_keeps_its_lines_and_is_no_wider_than_a_phone(
    browser: str, place: str, end: str, tmp_path: Path
) -> None:
    style = (files("lakeward") / "workspace/http/pages/style.css").read_text()
    page = tmp_path / "page.html"
    page.write_text(
        f"<style>{style}</style><main style='width: 390px'>{place}/tmp{'/a-long-folder' * 30}.py:1: bad.\n"
        f"    select *\nSee the log.{end}</main><pre id=out></pre><script>"
        "const m = document.getElementById('m'), lines = m.innerText.split('\\n').length;"
        "document.getElementById('out').textContent = `${m.scrollWidth <= 390} ${lines}`</script>"
    )
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    done = subprocess.run(
        [browser, *options, "--dump-dom", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert '<pre id="out">true 3</pre>' in done.stdout


def test_a_pipeline_has_graph_quality_streams_and_updates(
    browser: str, server: Server, tmp_path: Path
) -> None:
    pipeline = server.post("/api/2.0/pipelines", {"name": EVIL[:200]})["pipeline_id"]
    quality = {"data_quality": {"expectations": [{"name": EVIL, "passed_records": 9, "failed_records": 4}]}}
    events = Events("first").define("main.shop.a").define("main.shop.b", "main.shop.a")
    events.refresh("main.shop.a", 1234, **quality).refresh("main.shop.b", 0, "FAILED")
    batch = {"batchId": 41, "numInputRows": 77, "batchDuration": 500, "timestamp": "2026-05-01T06:00:30.000Z"}
    events.add("stream_progress", {"progress": batch}, "main.shop.a").end("FAILED")
    events.store(server.state / "pipelines" / pipeline)
    page = shown(browser, server, f"pipeline/{pipeline}", tmp_path)
    assert "1,234 rows" in page and "[BAD] no" in page
    assert 'href="#tables/main/shop/a"' in page and "<path" in page
    assert "&lt;img src=x" in page and "<title>broken</title>" not in page
    assert "Streaming queries" in page and ">41<" in page and ">77<" in page
    # The addresses that the platform's clients print lead to the same page.
    assert "1,234 rows" in shown(browser, server, f"joblist/pipelines/{pipeline}/updates/first", tmp_path)


def test_tables_have_columns_and_history(browser: str, server: Server, tmp_path: Path) -> None:
    log = server.state / "warehouse" / "main" / "shop" / "orders" / "_delta_log"
    log.mkdir(parents=True)
    column = {"name": "<b>total</b>", "type": "double", "nullable": True, "metadata": {"comment": "in euros"}}
    schema = json.dumps({"type": "struct", "fields": [column]})
    actions = [
        {"commitInfo": {"timestamp": 1, "operation": "CREATE TABLE AS SELECT"}},
        {"metaData": {"id": "1", "schemaString": schema, "partitionColumns": [], "configuration": {}}},
    ]
    (log / f"{0:020}.json").write_text("\n".join(map(json.dumps, actions)))
    page = shown(browser, server, "tables/main/shop/orders", tmp_path)
    assert "&lt;b&gt;total&lt;/b&gt;" in page and "in euros" in page and "CREATE TABLE AS SELECT" in page
    assert "SQL statement" in shown(browser, server, "sql", tmp_path)


def test_jobs_runs_logs_pipelines_and_names_of_secrets_are_shown(
    browser: str, server: Server, tmp_path: Path
) -> None:
    job_id = server.job(first="print('<b>bold</b> words')", second={"code": "raise ValueError('bad luck')"})
    schedule = {"quartz_cron_expression": "0 30 5 * * ?", "timezone_id": "UTC", "pause_status": "PAUSED"}
    settings = {"name": EVIL, "schedule": schedule}
    server.post("/api/2.2/jobs/update", {"job_id": job_id, "new_settings": settings})
    run = server.ended(server.run_now(job_id))
    server.post("/api/2.0/pipelines", {"name": "silver and gold", "libraries": []})
    server.post("/api/2.0/secrets/scopes/create", {"scope": "vault"})
    server.post("/api/2.0/secrets/put", {"scope": "vault", "key": "door", "string_value": "open sesame"})

    jobs = shown(browser, server, "jobs", tmp_path)
    assert "&lt;img src=x" in jobs and "<title>Jobs: lakeward workspace</title>" in jobs
    assert "🚲" in jobs and "long" * 600 not in jobs
    assert "0 30 5 * * ? (UTC), paused" in jobs
    one = shown(browser, server, f"job/{job_id}/run/{run['run_id']}", tmp_path)
    assert "Log of second" in one and "ValueError: bad luck" in one and "Nothing was printed." in one
    assert "Where it failed" in one and "raise ValueError('bad luck')" in one
    first = f"job/{job_id}/run/{run['run_id']}/{run['tasks'][0]['run_id']}"
    assert "&lt;b&gt;bold&lt;/b&gt; words" in shown(browser, server, first, tmp_path)
    assert "silver and gold" in shown(browser, server, "pipelines", tmp_path)
    assert "<title>broken</title>" not in one
    secrets = shown(browser, server, "secrets", tmp_path)
    assert "vault" in secrets and "door" in secrets and "sesame" not in secrets
    assert {picture.stat().st_size > 5000 for picture in tmp_path.glob("*.png")} == {True}

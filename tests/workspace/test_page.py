"""The page at `/` in a real browser: what it shows after its scripts have run."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.workspace.server import Server

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")

pytestmark = [pytest.mark.slow, pytest.mark.process]

EVIL = "<img src=x onerror=document.title='broken'>"


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
    assert "&lt;img src=x" in jobs and "<title>lakeward workspace</title>" in jobs
    assert "0 30 5 * * ? (UTC), paused" in jobs
    one = shown(browser, server, f"job/{job_id}/run/{run['run_id']}", tmp_path)
    assert "Log of second" in one and "ValueError: bad luck" in one and "Nothing was printed." in one
    assert "Where it failed" in one and "raise ValueError('bad luck')" in one
    first = f"job/{job_id}/run/{run['run_id']}/{run['tasks'][0]['run_id']}"
    assert "&lt;b&gt;bold&lt;/b&gt; words" in shown(browser, server, first, tmp_path)
    assert "silver and gold" in shown(browser, server, "pipelines", tmp_path)
    secrets = shown(browser, server, "secrets", tmp_path)
    assert "vault" in secrets and "door" in secrets and "sesame" not in secrets
    assert {picture.stat().st_size > 5000 for picture in tmp_path.glob("*.png")} == {True}

"""Take the pictures of docs/pictures from the newest run of a project: `scripts/screenshots.py PROJECT`.

PROJECT is a folder in which `make run` and `lakeward bundle deploy` have run, with a job of the deployed
bundle run once in its workspace. Chromium has to be on PATH. Look at the pictures before you commit them:
they show names of the machine's user.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import Request, urlopen

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def main() -> int:
    """Write every picture and print its name and size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("project", type=Path)
    parser.add_argument("-t", "--target", default="dev")
    options = parser.parse_args()
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print(f"no browser is on PATH: {', '.join(BROWSERS)}", file=sys.stderr)
        return 2
    PICTURES.mkdir(parents=True, exist_ok=True)
    state = options.project.resolve() / ".lakeward" / options.target
    for name, file, height in pictures_of_reports(state):
        with tempfile.TemporaryDirectory() as folder:
            # The place of the project on this machine is not for others.
            copy = Path(folder, "report.html")
            text = file.read_text(encoding="utf-8").replace(str(options.project.resolve()), "…")
            copy.write_text(text, encoding="utf-8")
            take(browser, name, copy.as_uri(), height)
    with workspace(options.project, options.target) as (host, token):
        for name, page, height in pictures_of_workspace(host, token):
            take(browser, name, f"{host}/#token={token}&then={quote(page, safe='')}", height)
    return 0


def pictures_of_reports(state: Path) -> Iterator[tuple[str, Path, int]]:
    """Yield name, file and height of the pictures of reports."""
    pipelines = sorted((state / "reports").glob("*.html"), key=lambda file: file.stat().st_mtime)
    runs = sorted((state / "reports" / "runs").glob("*.html"), key=lambda file: file.stat().st_mtime)
    if pipelines:
        yield "report-pipeline", pipelines[-1], 900
    if runs:
        yield "report-run", runs[-1], 620


def pictures_of_workspace(host: str, token: str) -> Iterator[tuple[str, str, int]]:
    """Yield name, page and height of the pictures of the workspace's pages."""
    runs = ask(host, token, "/api/2.2/jobs/runs/list?limit=1")["runs"]
    if runs:
        yield "workspace-run", f"job/{runs[0]['job_id']}/run/{runs[0]['run_id']}", 780
    pipelines = ask(host, token, "/api/2.0/pipelines?max_results=1")["statuses"]
    if pipelines:
        yield "workspace-pipeline", f"pipeline/{pipelines[0]['pipeline_id']}", 900


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


def ask(host: str, token: str, path: str) -> Any:
    """Return the answer of the workspace."""
    request = Request(host + path, headers={"Authorization": f"Bearer {token}"})  # noqa: S310  # our own host
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

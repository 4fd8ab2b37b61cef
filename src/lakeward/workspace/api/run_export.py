"""Export of notebook runs as HTML, with the model that clients read the results of cells from.

Source: https://docs.databricks.com/api/workspace/jobs/exportrun
"""

from __future__ import annotations

import base64
import json
import urllib.parse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lakeward.databricks_shims.local_workspace import ApiError
from lakeward.workspace.api.run_views import run_of, task_of
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document

_VIEWS = ("CODE", "DASHBOARDS", "ALL")


def export(call: ServerRequest) -> Any:
    """Return the notebook of a task run with the results of its cells."""
    run_id = call.required("run_id")
    run = run_of(call, run_id)
    wanted = call.query.get("views_to_export") or "CODE"
    if wanted not in _VIEWS:
        message = f"views_to_export is {wanted[:20]!r}: use {', '.join(_VIEWS)}."
        raise ApiError(400, "INVALID_PARAMETER_VALUE", message)
    task = task_of(run, run_id, "Exporting runs")
    settings: Document = next(
        (each for each in run["settings"]["tasks"] if each["task_key"] == task["task_key"]), {}
    )
    if "notebook_task" not in settings:
        raise ApiError(400, "INVALID_PARAMETER_VALUE", "Only notebook runs can be exported.")
    if wanted == "DASHBOARDS":
        return {}
    folder = call.context.runner.folder_of(run["run_id"]) / task["log"] / "notebooks" / task["task_key"]
    file = next(iter(sorted(folder.glob("*.ipynb"))), None)
    if file is None:
        message = f"Run {run_id} has no results to export: its notebook has not ended."
        raise ApiError(400, "INVALID_STATE", message)
    name = Path(str(settings["notebook_task"].get("notebook_path"))).name
    return {"views": [{"content": _page(file, name), "name": name, "type": "NOTEBOOK"}]}


def _page(file: Path, name: str) -> str:
    """Return the page of an outcome with its model, as base64 of quoted JSON."""
    model = {"name": name, "commands": _commands(json.loads(file.read_bytes()))}
    quoted = urllib.parse.quote(json.dumps(model)).encode()
    script = f"<script>var __DATABRICKS_NOTEBOOK_MODEL = '{base64.b64encode(quoted).decode()}';</script>"
    page = file.with_suffix(".html").read_text(encoding="utf-8")
    head, body, tail = page.rpartition("</body>")
    return f"{head}{script}\n{body}{tail}"


def _commands(notebook: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "position": position,
            "command": cell["source"],
            "results": {
                "type": "listResults",
                "data": [_result(output) for output in cell.get("outputs") or ()],
            },
        }
        for position, cell in enumerate(notebook["cells"], start=1)
    ]


def _result(output: Mapping[str, Any]) -> dict[str, str]:
    """Return an output of nbformat as a result of a command."""
    if output["output_type"] == "stream":
        return {"type": "ansi", "data": output["text"]}
    if output["output_type"] == "error":
        return {"type": "error", "data": "\n".join(output["traceback"])}
    data = output["data"]
    for mime, kind in (("text/html", "html"), ("image/png", "image")):
        if mime in data:
            return {"type": kind, "data": data[mime]}
    return {"type": "text", "data": data.get("text/plain", "")}

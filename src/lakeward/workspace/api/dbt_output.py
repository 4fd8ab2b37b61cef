"""Artifacts of dbt tasks: an archive of the folder `target`, by a signed link.

Source: https://docs.databricks.com/api/workspace/jobs/getrunoutput (dbt_output)
"""

from __future__ import annotations

from typing import Any

from lakeward.databricks_shims.local_workspace import ApiError, ApiResponse, Route
from lakeward.run_files import dbt_artifacts_file
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document
from lakeward.workspace.warehouse.result_links import RESULTS_PATH

_ARTIFACTS = "dbt/"


def dbt_output(call: ServerRequest, run_id: str, task_key: str) -> Document:
    """Return the link to the artifacts of a task, which needs no headers; {} before there are any."""
    if not dbt_artifacts_file(call.environment.settings().jobs, run_id, task_key).is_file():
        return {}
    links = call.context.result_links.link(call.host, f"{_ARTIFACTS}{run_id}/{task_key}")
    return {"artifacts_link": links["external_link"], "artifacts_headers": {}}


def download(call: ServerRequest) -> Any:
    """Return the archive to a request with a signed link."""
    if not call.context.result_links.is_valid(f"{_ARTIFACTS}{call.path_parameter}", call.query):
        raise ApiError(403, "PERMISSION_DENIED", "The link has expired or is not valid. Request a new one.")
    run_id, _, task_key = call.path_parameter.partition("/")
    file = dbt_artifacts_file(call.environment.settings().jobs, run_id, task_key)
    return ApiResponse(file=file, headers={"Content-Type": "application/gzip", "Cache-Control": "no-store"})


ROUTES = (Route("GET", f"{RESULTS_PATH}{_ARTIFACTS}{{}}/{{}}", download),)

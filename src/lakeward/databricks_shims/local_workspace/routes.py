"""Table of the routes that need only the state folder, and their dispatch."""

from __future__ import annotations

import errno
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lakeward.databricks_shims.local_workspace import (
    catalogs,
    dbfs,
    files,
    secrets,
    users,
    volumes,
    workspace_files,
)
from lakeward.databricks_shims.local_workspace.api_error import ApiError
from lakeward.databricks_shims.local_workspace.api_request import ApiRequest
from lakeward.dbutils import Environment
from lakeward.errors import ConfigurationError, InvalidPathError
from lakeward.session import PROFILES

Handler = Callable[[Any], Any]


@dataclass(frozen=True)
class Route:
    """A supported request. A path that ends in `/*` matches everything below it; `{}` matches one name.

    `upload`: the body is the content of a file, of any size. `quick`: the response takes less time than
    handing the request to another thread.
    """

    method: str
    path: str
    handler: Handler
    upload: bool = False
    quick: bool = False


def spark_versions(_: ApiRequest) -> dict[str, Any]:
    """List the runtimes that lakeward has a profile for."""
    versions = []
    for profile in PROFILES.values():
        if not profile.spark:
            continue
        scala = profile.spark_version.rpartition("scala")[2]
        name = f"{profile.name} LTS (includes Apache Spark {profile.spark}, Scala {scala})"
        versions.append({"key": profile.spark_version, "name": name})
    return {"versions": versions}


ROUTES: tuple[Route, ...] = (
    Route("GET", "/api/2.0/preview/scim/v2/Me", users.me),
    Route("GET", "/api/2.0/clusters/spark-versions", spark_versions),
    Route("GET", "/api/2.1/clusters/spark-versions", spark_versions),
    Route("GET", "/api/2.0/secrets/scopes/list", secrets.list_scopes),
    Route("POST", "/api/2.0/secrets/scopes/create", secrets.create_scope),
    Route("POST", "/api/2.0/secrets/scopes/delete", secrets.delete_scope),
    Route("GET", "/api/2.0/secrets/list", secrets.list_secrets),
    Route("GET", "/api/2.0/secrets/get", secrets.get_secret),
    Route("POST", "/api/2.0/secrets/put", secrets.put_secret),
    Route("POST", "/api/2.0/secrets/delete", secrets.delete_secret),
    Route("GET", "/api/2.0/secrets/acls/list", secrets.list_acls),
    Route("GET", "/api/2.0/secrets/acls/get", secrets.get_acl),
    Route("POST", "/api/2.0/secrets/acls/put", secrets.put_acl),
    Route("POST", "/api/2.0/secrets/acls/delete", secrets.delete_acl),
    Route("GET", "/api/2.0/fs/files/*", files.download),
    Route("HEAD", "/api/2.0/fs/files/*", files.metadata),
    Route("PUT", "/api/2.0/fs/files/*", files.upload, upload=True),
    Route("POST", "/api/2.0/fs/files/*", files.initiate_upload),
    Route("DELETE", "/api/2.0/fs/files/*", files.delete),
    Route("GET", "/api/2.0/fs/directories/*", files.list_directory),
    Route("HEAD", "/api/2.0/fs/directories/*", files.directory_metadata),
    Route("PUT", "/api/2.0/fs/directories/*", files.create_directory),
    Route("DELETE", "/api/2.0/fs/directories/*", files.delete_directory),
    Route("GET", "/api/2.0/dbfs/list", dbfs.list_files),
    Route("GET", "/api/2.0/dbfs/get-status", dbfs.get_status),
    Route("GET", "/api/2.0/dbfs/read", dbfs.read),
    Route("POST", "/api/2.0/dbfs/put", dbfs.put),
    Route("POST", "/api/2.0/dbfs/create", dbfs.create),
    Route("POST", "/api/2.0/dbfs/add-block", dbfs.add_block),
    Route("POST", "/api/2.0/dbfs/close", dbfs.close),
    Route("POST", "/api/2.0/dbfs/mkdirs", dbfs.mkdirs),
    Route("POST", "/api/2.0/dbfs/move", dbfs.move),
    Route("POST", "/api/2.0/dbfs/delete", dbfs.delete),
    Route("GET", "/api/2.1/unity-catalog/catalogs", catalogs.list_catalogs),
    Route("GET", "/api/2.1/unity-catalog/catalogs/{}", catalogs.get_catalog),
    Route("GET", "/api/2.1/unity-catalog/schemas", catalogs.list_schemas),
    Route("GET", "/api/2.1/unity-catalog/schemas/{}", catalogs.get_schema),
    Route("GET", "/api/2.1/unity-catalog/tables", catalogs.list_tables),
    Route("GET", "/api/2.1/unity-catalog/tables/{}", catalogs.get_table),
    Route("GET", "/api/2.1/unity-catalog/tables/{}/exists", catalogs.table_exists),
    Route("GET", "/api/2.1/unity-catalog/table-summaries", catalogs.list_table_summaries),
    Route("GET", "/api/2.1/unity-catalog/volumes", volumes.list_volumes),
    Route("POST", "/api/2.1/unity-catalog/volumes", volumes.create),
    Route("GET", "/api/2.1/unity-catalog/volumes/*", volumes.read),
    Route("PATCH", "/api/2.1/unity-catalog/volumes/*", volumes.update),
    Route("DELETE", "/api/2.1/unity-catalog/volumes/*", volumes.delete),
    Route("GET", "/api/2.0/workspace/list", workspace_files.list_objects),
    Route("GET", "/api/2.0/workspace/get-status", workspace_files.get_status),
    Route("GET", "/api/2.0/workspace/export", workspace_files.export),
    Route("POST", "/api/2.0/workspace/import", workspace_files.import_),
    Route("POST", "/api/2.0/workspace-files/import-file/*", workspace_files.import_file, upload=True),
    Route("POST", "/api/2.0/workspace/mkdirs", workspace_files.mkdirs),
    Route("POST", "/api/2.0/workspace/delete", workspace_files.delete),
)
"""The routes that need only the state folder, no server."""


class Table:
    """Routes with look-up by method and path."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self.routes = tuple(routes)
        self._exact = {(route.method, route.path): route for route in self.routes}
        self._patterns = [
            (route, route.path.split("/"))
            for route in self.routes
            if route.path.endswith("/*") or "{}" in route.path
        ]

    def find(self, method: str, path: str) -> tuple[Route, str] | None:
        """Return the route, and the part of the path that it matches; names in braces are joined by `/`.

        >>> Table([Route("GET", "/p/{}/events", print), Route("GET", "/f/*", print)]).find("GET", "/f/a/b")[1]
        '/a/b'
        """
        exact = self._exact.get((method, path))
        if exact is not None:
            return exact, ""
        for route, parts in self._patterns:
            if route.method != method:
                continue
            if parts[-1] == "*":
                if path.startswith(route.path[:-1]):
                    return route, path[len(route.path) - 2 :]
                continue
            given = path.split("/")
            if len(given) == len(parts) and all(
                a in (b, "{}") and b for a, b in zip(parts[1:], given[1:], strict=True)
            ):
                return route, "/".join(b for a, b in zip(parts, given, strict=True) if a == "{}")
        return None


_TABLE = Table(ROUTES)
# What a handler raises for a field that it does not expect.
_OF_FIELDS = (TypeError, AttributeError, LookupError, ArithmeticError, RecursionError)


def is_local(method: str, path: str) -> bool:
    """Return whether a request needs only the state folder."""
    return _TABLE.find(method, path) is not None


def respond(
    environment: Environment, method: str, path: str, query: Mapping[str, str], data: bytes
) -> tuple[int, Any]:
    """Return status and response (JSON or an ApiResponse) of a request."""
    found = _TABLE.find(method, path)
    if found is None:
        message = (
            f"{method} {path} is not answered without a workspace: start `lakeward workspace`, "
            "or set DATABRICKS_HOST and credentials of a real one."
        )
        return 501, {"error_code": "NOT_IMPLEMENTED", "message": message}
    route, at = found
    return handle_request(route.handler, ApiRequest(environment, at, query, data))


def handle_request(
    handler: Handler, call: ApiRequest, note: Callable[[str], None] = lambda _: None
) -> tuple[int, Any]:
    """Return status and response of a handler; errors for invalid requests are responses, see `refuse`."""
    try:
        answer = handler(call)
    except Exception as error:  # noqa: BLE001  # raised again where the request has not caused it
        return refuse(error, call, note)
    return 200, {} if answer is None else answer


def refuse(
    error: Exception, call: ApiRequest, note: Callable[[str], None] = lambda _: None
) -> tuple[int, Any]:
    """Return status and response for the error of a handler. Raises one that the request has not caused.

    A handler that fails with a type error received a field that it does not expect: the status is 400, and
    `note` is called with the location. Without a body or query the request cannot be the cause.
    """
    if isinstance(error, ApiError):
        return error.status, error.as_json()
    status, code, message = 400, "INVALID_PARAMETER_VALUE", str(error)
    if isinstance(error, InvalidPathError):
        message = error.message
    elif isinstance(error, ConfigurationError):
        code = "INVALID_STATE"
    elif isinstance(error, OSError):
        code = "IO_ERROR"
        message = _without_places(call, f"{error.strerror or error}: {error.filename or 'the state folder'}")
        # Insufficient storage: clients do not retry this status.
        status = 507 if error.errno in (errno.ENOSPC, errno.EDQUOT) else 400
    elif isinstance(error, _OF_FIELDS) and (call.data or call.query):
        note(f"{_origin(error)}: {type(error).__name__}: {error}")
        message = f"A field of the request has a value of the wrong type: {error}."
    elif not isinstance(error, ValueError):
        raise error
    return status, {"error_code": code, "message": message}


def _without_places(call: ApiRequest, message: str) -> str:
    """Replace folders of this machine by the names that clients use."""
    settings = call.environment.settings()
    roots = {settings.dbfs: "dbfs:", settings.volumes: "/Volumes", settings.workspace: "/Workspace"}
    for folder, name in {**roots, settings.state: "the state folder"}.items():
        message = message.replace(str(folder), name)
    return message


def _origin(error: BaseException) -> str:
    """Return the line that raised the error, for the request log."""
    *_, frame = traceback.extract_tb(error.__traceback__)
    return f"{Path(frame.filename).name}:{frame.lineno}"

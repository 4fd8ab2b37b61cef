"""Which request is answered by which function: the one table of what is served."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lakeward.dbutils import Environment
from lakeward.errors import ConfigurationError
from lakeward.standins.local_workspace import dbfs, files, secrets, users, volumes, workspace_files
from lakeward.standins.local_workspace.call import Call, Failure

__all__ = ["ROUTES", "respond"]

Handler = Callable[[Call], Any]

ROUTES: Mapping[tuple[str, str], Handler] = {
    ("GET", "/api/2.0/preview/scim/v2/Me"): users.me,
    ("GET", "/api/2.0/secrets/scopes/list"): secrets.list_scopes,
    ("POST", "/api/2.0/secrets/scopes/create"): secrets.create_scope,
    ("POST", "/api/2.0/secrets/scopes/delete"): secrets.delete_scope,
    ("GET", "/api/2.0/secrets/list"): secrets.list_secrets,
    ("GET", "/api/2.0/secrets/get"): secrets.get_secret,
    ("POST", "/api/2.0/secrets/put"): secrets.put_secret,
    ("POST", "/api/2.0/secrets/delete"): secrets.delete_secret,
    ("GET", "/api/2.0/fs/files/*"): files.download,
    ("HEAD", "/api/2.0/fs/files/*"): files.metadata,
    ("PUT", "/api/2.0/fs/files/*"): files.upload,
    ("DELETE", "/api/2.0/fs/files/*"): files.delete,
    ("GET", "/api/2.0/fs/directories/*"): files.list_directory,
    ("HEAD", "/api/2.0/fs/directories/*"): files.directory_metadata,
    ("PUT", "/api/2.0/fs/directories/*"): files.create_directory,
    ("DELETE", "/api/2.0/fs/directories/*"): files.delete_directory,
    ("GET", "/api/2.0/dbfs/list"): dbfs.list_files,
    ("GET", "/api/2.0/dbfs/get-status"): dbfs.get_status,
    ("GET", "/api/2.0/dbfs/read"): dbfs.read,
    ("POST", "/api/2.0/dbfs/put"): dbfs.put,
    ("POST", "/api/2.0/dbfs/mkdirs"): dbfs.mkdirs,
    ("POST", "/api/2.0/dbfs/move"): dbfs.move,
    ("POST", "/api/2.0/dbfs/delete"): dbfs.delete,
    ("GET", "/api/2.1/unity-catalog/volumes"): volumes.list_volumes,
    ("POST", "/api/2.1/unity-catalog/volumes"): volumes.create,
    ("GET", "/api/2.1/unity-catalog/volumes/*"): volumes.read,
    ("DELETE", "/api/2.1/unity-catalog/volumes/*"): volumes.delete,
    ("GET", "/api/2.0/workspace/list"): workspace_files.list_objects,
    ("GET", "/api/2.0/workspace/get-status"): workspace_files.get_status,
    ("GET", "/api/2.0/workspace/export"): workspace_files.export,
    ("POST", "/api/2.0/workspace/import"): workspace_files.import_,
    ("POST", "/api/2.0/workspace/mkdirs"): workspace_files.mkdirs,
    ("POST", "/api/2.0/workspace/delete"): workspace_files.delete,
}
"""Method and path; a path that ends in `/*` leads to everything below it."""


def respond(
    environment: Environment, method: str, path: str, query: Mapping[str, str], data: bytes
) -> tuple[int, Any]:
    """Status and answer (JSON, or an Answer) of a request."""
    handler, at = _route(method, path)
    try:
        if handler is None:
            raise Failure(
                501,
                "NOT_IMPLEMENTED",
                f"{method} {path} is not answered without a workspace: start `lakeward workspace`, "
                "or set DATABRICKS_HOST and credentials of a real one.",
            )
        answer = handler(Call(environment, at, query, data))
        return 200, {} if answer is None else answer
    except Failure as failure:
        return failure.status, {"error_code": failure.code, "message": str(failure)}
    except ConfigurationError as error:
        return 400, {"error_code": "INVALID_STATE", "message": str(error)}
    except ValueError as error:
        return 400, {"error_code": "INVALID_PARAMETER_VALUE", "message": str(error)}
    except OSError as error:
        message = f"{error.strerror or error}: {error.filename}"
        return 400, {"error_code": "IO_ERROR", "message": message}


def _route(method: str, path: str) -> tuple[Handler | None, str]:
    found = ROUTES.get((method, path))
    if found is not None:
        return found, ""
    for (wanted, pattern), handler in ROUTES.items():
        if wanted == method and pattern.endswith("/*") and path.startswith(pattern[:-1]):
            return handler, path[len(pattern) - 2 :]
    return None, ""

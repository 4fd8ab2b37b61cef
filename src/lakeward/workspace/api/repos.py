"""Git folders: records with a folder below /Repos or /Users.

A remote repository is not cloned: a local workspace answers without a network. The folder is created empty,
and `branch`, `tag` and `head_commit_id` are what the client requested.

Source: https://docs.databricks.com/api/workspace/repos
"""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.parse import urlsplit

from lakeward.databricks_shims.local_workspace import (
    ApiError,
    ApiRequest,
    Route,
    exclusively,
    invalid_parameter,
    missing,
    object_id,
    paginate,
    workspace_handlers,
)
from lakeward.workspace.api.fields import Types, read_fields
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document

_ROOTS = ("Repos", "Users", "Shared")


def list_repos(call: ServerRequest) -> Document:
    """List git folders below `path_prefix`."""
    prefix = call.query.get("path_prefix", "")
    found = [each for each in call.store.find("repo") if each["path"].startswith(_plain(prefix))]
    return paginate(call, found, "repos", default=20)


@exclusively
def create(call: ServerRequest) -> Document:
    """Create a git folder. Raises ApiError where its path exists or its parent does not."""
    types: Types = {"url": str, "provider": str, "path": str, "sparse_checkout": dict}
    given = read_fields(call.body, types, required=["url", "provider"])
    provider = require_provider(given["provider"])
    if urlsplit(given["url"]).scheme not in ("http", "https"):
        raise invalid_parameter("url must be an HTTP or HTTPS address.")
    name = Path(urlsplit(given["url"]).path).name.removesuffix(".git")
    path = _plain(given.get("path") or f"/Repos/{call.caller}/{name}")
    if not _is_folder_of_repos(path):
        raise invalid_parameter(
            "path must be a folder below /Repos/<folder>, /Users/<user> or /Shared/<folder>."
        )
    # `delete` removes the folder with everything in it, so it must be the repo's own.
    if workspace_handlers.resolve_object(_at(call, path), path).exists():
        raise ApiError(400, "RESOURCE_ALREADY_EXISTS", f"Path {path} already exists.")
    workspace_handlers.mkdirs(_at(call, path))
    repo = {
        "id": object_id(path),
        "path": path,
        "url": given["url"],
        "provider": provider,
        "branch": "main",
        "head_commit_id": "",
    }
    if "sparse_checkout" in given:
        repo["sparse_checkout"] = given["sparse_checkout"]
    call.store.put("repo", repo["id"], repo)
    return repo


def get(call: ServerRequest) -> Document:
    """Return one git folder."""
    return _found(call)


def update(call: ServerRequest) -> None:
    """Record another branch or tag."""
    given = read_fields(call.body, {"branch": str, "tag": str, "sparse_checkout": dict})
    if "branch" in given and "tag" in given:
        raise invalid_parameter("Set branch or tag, not both.")
    repo = _found(call)

    def change(body: Document) -> None:
        if "tag" in given:
            body.pop("branch", None)
        if "branch" in given:
            body.pop("tag", None)
        body.update(given)

    call.store.change("repo", repo["id"], change)


@exclusively
def delete(call: ServerRequest) -> None:
    """Remove a git folder and its files."""
    repo = _found(call)
    place = workspace_handlers.resolve_object(_at(call, repo["path"]), repo["path"])
    # Earlier versions accepted other paths.
    if place.is_dir() and _is_folder_of_repos(repo["path"]):
        shutil.rmtree(place)
    call.store.delete("repo", repo["id"])


def _found(call: ServerRequest) -> Document:
    found = call.store.get("repo", call.path_parameter)
    if found is None:
        raise missing(f"Repo {call.path_parameter}")
    return found


def _is_folder_of_repos(path: str) -> bool:
    parts = path.split("/")
    return len(parts) >= 4 and parts[1] in _ROOTS and not any(part in ("", ".", "..") for part in parts[1:])


def _plain(path: str) -> str:
    return path.rstrip("/").removeprefix("/Workspace")


def _at(call: ServerRequest, path: str) -> ApiRequest:
    return ApiRequest(call.environment, query={"path": path}, user=call.user)


_PROVIDERS = (
    "gitHub",
    "gitHubEnterprise",
    "bitbucketCloud",
    "bitbucketServer",
    "gitLab",
    "gitLabEnterpriseEdition",
    "azureDevOpsServices",
    "awsCodeCommit",
)


def require_provider(name: str) -> str:
    """Return the provider of a name in any case of letters. Raises ApiError for an unknown one.

    >>> require_provider("GITHUB")
    'gitHub'
    """
    for provider in _PROVIDERS:
        if provider.lower() == name.lower():
            return provider
    raise invalid_parameter(f"{name[:50]!r} is not a provider: {', '.join(_PROVIDERS)}.")


ROUTES = (
    Route("GET", "/api/2.0/repos", list_repos),
    Route("POST", "/api/2.0/repos", create),
    Route("GET", "/api/2.0/repos/{}", get),
    Route("PATCH", "/api/2.0/repos/{}", update),
    Route("DELETE", "/api/2.0/repos/{}", delete),
)

"""The REST calls that create, change and delete each kind of resource, in order of creation."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote

from lakeward.errors import BundleError

_UC = "/api/2.1/unity-catalog"
_DASHBOARDS = "/api/2.0/lakeview/dashboards"
Call = tuple[str, str]
"""Method and path."""


class Api(Protocol):
    """The REST API of a workspace.

    Raises LookupError for what is not there, FileExistsError for what is there already.
    """

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Return the answer to a request."""
        ...

    def upload(self, path: str, content: bytes) -> None:
        """Write a file of the workspace, and the folders above it."""
        ...

    def download(self, path: str) -> bytes:
        """Return a file of the workspace."""
        ...


@dataclass(frozen=True)
class Kind:
    """The calls of one kind; `{id}` is the resource's id."""

    name: str
    create: Call
    read: str
    update: Call | None
    delete: Call
    id_field: str
    # How the body of a change and of a removal carries the id, where the path does not.
    keyed: str | None = None
    # The call that publishes a draft after each of its changes.
    publish: Call | None = None
    # Whether a change sends the comment alone.
    updates_comment: bool = False

    def create_resource(self, api: Api, body: Mapping[str, Any]) -> str:
        """Create a resource and return its id.

        A schema, volume or secret scope that a local run has made before is taken over.

        Raises BundleError(RESOURCE_EXISTS) for anything that this bundle did not create,
        BundleError(PARENT_NOT_FOUND) if the schema that contains it does not exist.
        """
        try:
            answer = api.ask(*self.create, body) or {}
        except FileExistsError as error:
            if self.name == "secret_scopes":
                return str(body["scope"])
            if self.id_field != "full_name":
                cure = "Give it another name, or delete the other one."
                raise BundleError("RESOURCE_EXISTS", str(error), next_step=cure) from None
            parts = (body.get(part) for part in ("catalog_name", "schema_name", "name"))
            return ".".join(str(part) for part in parts if part)
        except LookupError as error:
            cure = "Declare the schema as a resource of the bundle, or create it with lakeward sql."
            raise BundleError("PARENT_NOT_FOUND", str(error), next_step=cure) from None
        identifier = str(answer.get(self.id_field) or body.get(self.id_field))
        self._publish(api, identifier, body)
        return identifier

    def exists(self, api: Api, identifier: str) -> bool:
        """Return whether the resource exists."""
        try:
            answer = api.ask("GET", self.read.replace("{id}", quote(identifier)))
        except LookupError:
            return False
        if self.name == "secret_scopes":
            return identifier in [scope["name"] for scope in answer.get("scopes") or ()]
        return answer.get("lifecycle_state") not in ("TRASHED", "DELETED")

    def update_resource(self, api: Api, identifier: str, body: Mapping[str, Any]) -> None:
        """Give the resource other settings."""
        if self.update is None:
            return
        method, path = self.update
        if self.keyed:
            api.ask(method, path, {self.keyed: numeric_id(identifier), "new_settings": body})
            return
        sent = {"comment": body.get("comment") or ""} if self.updates_comment else body
        api.ask(method, path.replace("{id}", quote(identifier)), sent)
        self._publish(api, identifier, body)

    def _publish(self, api: Api, identifier: str, body: Mapping[str, Any]) -> None:
        if self.publish is not None:
            method, path = self.publish
            given = {name: body[name] for name in ("embed_credentials", "warehouse_id") if name in body}
            api.ask(method, path.replace("{id}", quote(identifier)), given)

    def delete_resource(self, api: Api, identifier: str) -> None:
        """Delete the resource, if it still exists."""
        method, path = self.delete
        with suppress(LookupError):
            if self.keyed or self.name == "secret_scopes":
                api.ask(method, path, {self.keyed or "scope": numeric_id(identifier)})
            else:
                api.ask(method, path.replace("{id}", quote(identifier)))


def _rest(name: str, path: str, id_field: str, *, mask: str = "", force: str = "", **more: Any) -> Kind:
    """Return a kind whose resources are below the path of their list."""
    one = f"{path}/{{id}}"
    return Kind(name, ("POST", path), one, ("PATCH", one + mask), ("DELETE", one + force), id_field, **more)


KINDS: tuple[Kind, ...] = (
    _rest("catalogs", f"{_UC}/catalogs", "name", force="?force=true", updates_comment=True),
    _rest("schemas", f"{_UC}/schemas", "full_name", force="?force=true", updates_comment=True),
    _rest("volumes", f"{_UC}/volumes", "full_name", updates_comment=True),
    Kind(
        "secret_scopes",
        ("POST", "/api/2.0/secrets/scopes/create"),
        "/api/2.0/secrets/scopes/list",
        None,
        ("POST", "/api/2.0/secrets/scopes/delete"),
        "scope",
    ),
    _rest("dashboards", _DASHBOARDS, "dashboard_id", publish=("POST", f"{_DASHBOARDS}/{{id}}/published")),
    _rest("alerts", "/api/2.0/alerts", "id", mask="?update_mask=*"),
    Kind(
        "pipelines",
        ("POST", "/api/2.0/pipelines"),
        "/api/2.0/pipelines/{id}",
        ("PUT", "/api/2.0/pipelines/{id}"),
        ("DELETE", "/api/2.0/pipelines/{id}"),
        "pipeline_id",
    ),
    Kind(
        "jobs",
        ("POST", "/api/2.2/jobs/create"),
        "/api/2.2/jobs/get?job_id={id}",
        ("POST", "/api/2.2/jobs/reset"),
        ("POST", "/api/2.2/jobs/delete"),
        "job_id",
        keyed="job_id",
    ),
)
"""Each kind refers only to those before it; they are deleted in the opposite order."""


def numeric_id(identifier: str) -> int | str:
    """Return an id as the REST API has it: those of jobs are numbers."""
    return int(identifier) if identifier.isdecimal() else identifier

"""Requests with access to the shared state of the server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakeward.databricks_shims.local_workspace import ApiError, ApiRequest
from lakeward.workspace.state.store import Store
from lakeward.workspace.warehouse.result_links import ResultLinks

if TYPE_CHECKING:
    from lakeward.workspace.command_contexts.contexts import Contexts
    from lakeward.workspace.runs.run_queue import Runner
    from lakeward.workspace.state.tokens import Tokens
    from lakeward.workspace.warehouse.client_sessions import ClientSessions
    from lakeward.workspace.warehouse.engine import Warehouse

SECURABLE = "securable"
"""Kind of the documents with comments, owners and properties, by the name of the object."""


@dataclass
class ServerContext:
    """Shared state of the server: document store, tokens, run executor, SQL warehouse.

    `host` and `https_host` are the addresses of the server, the second empty if it has none. `report_fault`
    logs an exception that is lakeward's own fault.
    """

    store: Store
    tokens: Tokens
    runner: Runner
    warehouse: Warehouse
    host: str = ""
    report_fault: Callable[[BaseException], None] = lambda _: None
    contexts: Contexts = field(kw_only=True)
    sessions: ClientSessions = field(kw_only=True)
    result_links: ResultLinks = field(default_factory=ResultLinks)
    https_host: str = field(default="", kw_only=True)


@dataclass(frozen=True)
class ServerRequest(ApiRequest):
    """A request with its server; `is_secure`: it was sent with TLS."""

    context: ServerContext = field(kw_only=True)
    is_secure: bool = field(default=False, kw_only=True)

    @property
    def host(self) -> str:
        """Return the address of the server for links in the answer: that of the request."""
        return self.context.https_host if self.is_secure else self.context.host

    @property
    def store(self) -> Store:
        """Return the store of the server's documents."""
        return self.context.store

    def description(self, full_name: str) -> Mapping[str, Any]:
        """Return comment, owner, properties and times of an object of Unity Catalog."""
        return {**(self.store.get(SECURABLE, full_name) or {}), **super().description(full_name)}

    def require_link(self, name: str) -> None:
        """Raise ApiError unless the request has a valid signed link to this content."""
        if not self.context.result_links.is_valid(name, self.query):
            raise ApiError(
                403, "PERMISSION_DENIED", "The link has expired or is not valid. Request a new one."
            )

    @property
    def caller(self) -> str:
        """Return the name of the caller."""
        return self.user or self.owner

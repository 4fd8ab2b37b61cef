"""Requests with access to the shared state of the server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakeward.databricks_shims.local_workspace import ApiError, ApiRequest
from lakeward.workspace.state.store import Store
from lakeward.workspace.warehouse.result_links import ResultLinks

if TYPE_CHECKING:
    from lakeward.workspace.command_contexts.contexts import Contexts
    from lakeward.workspace.runs.run_process import Runner
    from lakeward.workspace.state.tokens import Tokens
    from lakeward.workspace.warehouse.engine import Warehouse

_LONGEST_TOKEN = 15


@dataclass
class ServerContext:
    """Shared state of the server: document store, tokens, run executor, SQL warehouse.

    `report_fault` logs an exception that is lakeward's own fault.
    """

    store: Store
    tokens: Tokens
    runner: Runner
    warehouse: Warehouse
    host: str = ""
    report_fault: Callable[[BaseException], None] = lambda _: None
    contexts: Contexts = field(kw_only=True)
    result_links: ResultLinks = field(default_factory=ResultLinks)


@dataclass(frozen=True)
class ServerRequest(ApiRequest):
    """A request with its server."""

    context: ServerContext = field(kw_only=True)

    @property
    def store(self) -> Store:
        """Return the store of the server's documents."""
        return self.context.store

    @property
    def caller(self) -> str:
        """Return the name of the caller."""
        return self.user or self.owner


def paginate(
    call: ApiRequest, items: Sequence[Any], name: str, *, default: int = 20, most: int = 100
) -> dict[str, Any]:
    """Return a page of `items` with the token of the next one.

    The request's `limit` or `max_results` is the size, a page token the offset of the page. Raises ApiError
    for an invalid one.
    """
    begin, size = _bounds(call, default, most)
    return _page(name, items[begin : begin + size], begin, size, more=begin + size < len(items))


def paginate_query(
    call: ApiRequest,
    query: Callable[[int, int], list[Any]],
    name: str,
    *,
    default: int = 20,
    most: int = 100,
) -> dict[str, Any]:
    """Return the same as `paginate`, and read no more than the page: `query` takes a limit and an offset."""
    begin, size = _bounds(call, default, most)
    found = query(size + 1, begin)
    return _page(name, found[:size], begin, size, more=len(found) > size)


def _bounds(call: ApiRequest, default: int, most: int) -> tuple[int, int]:
    size_parameter = (
        "max_results"
        if "max_results" in call.query
        else "page_size"
        if "page_size" in call.query
        else "limit"
    )
    size = min(call.number(size_parameter, default), most) or default
    token = call.query.get("page_token") or call.query.get("offset") or "0"
    if not token.isdecimal() or len(token) > _LONGEST_TOKEN:
        raise ApiError(
            400, "INVALID_PARAMETER_VALUE", f"The page token {token!r:.100} is not one of this server's."
        )
    return int(token), size


def _page(name: str, items: Sequence[Any], begin: int, size: int, *, more: bool) -> dict[str, Any]:
    answer: dict[str, Any] = {name: list(items)}
    if more:
        answer["next_page_token"] = str(begin + size)
    if begin:
        answer["prev_page_token"] = str(max(0, begin - size))
    return answer

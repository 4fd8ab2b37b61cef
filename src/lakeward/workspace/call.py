"""A request to the server: one to the local workspace, with the server behind it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakeward.standins.local_workspace import Call, Failure
from lakeward.workspace.store import Store

if TYPE_CHECKING:
    from lakeward.workspace.runner import Runner
    from lakeward.workspace.tokens import Tokens
    from lakeward.workspace.warehouse import Warehouse

__all__ = ["Office", "ServerCall", "now", "page"]


def now() -> int:
    """Milliseconds since 1970, as the platform tells times."""
    return int(time.time() * 1000)


@dataclass
class Office:
    """What stands behind all requests: what is known, and who carries things out."""

    store: Store
    tokens: Tokens
    runner: Runner
    warehouse: Warehouse
    host: str = ""


@dataclass(frozen=True)
class ServerCall(Call):
    """A request with its server."""

    office: Office = field(kw_only=True)

    @property
    def store(self) -> Store:
        """What the server knows."""
        return self.office.store

    @property
    def asker(self) -> str:
        """Who asks."""
        return self.user or self.owner


def page(
    call: Call, items: Sequence[Any], name: str, *, default: int = 20, most: int = 100
) -> dict[str, Any]:
    """One page of `items`, with the token of the next one; the size is the request's `limit`/`max_results`.

    A page token is the place where the page begins. Raises Failure for one that is not.
    """
    asked = (
        "max_results"
        if "max_results" in call.query
        else "page_size"
        if "page_size" in call.query
        else "limit"
    )
    size = min(call.number(asked, default), most) or default
    token = call.query.get("page_token") or call.query.get("offset") or "0"
    if not token.isdecimal():
        raise Failure(
            400, "INVALID_PARAMETER_VALUE", f"The page token {token!r} is not one of this server's."
        )
    begin = int(token)
    answer: dict[str, Any] = {name: list(items[begin : begin + size])}
    if begin + size < len(items):
        answer["next_page_token"] = str(begin + size)
    if begin:
        answer["prev_page_token"] = str(max(0, begin - size))
    return answer

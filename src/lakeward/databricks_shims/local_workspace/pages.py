"""Pagination of list responses."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from typing import Any

from lakeward.databricks_shims.local_workspace.api_error import invalid_parameter
from lakeward.databricks_shims.local_workspace.api_request import ApiRequest

_SCANNED = 1000  # items that are read at once to find the begin of a page
_DIGITS = 12
_TOKEN = re.compile(rf"([0-9]{{1,15}})(?:\.([0-9a-f]{{{_DIGITS}}}))?")
# Fields that identify an item of a list, those that name another object as well last.
_IDENTIFIERS = (
    *("run_id", "update_id", "job_id", "pipeline_id", "dashboard_id", "cluster_id", "full_name", "id"),
    "query_id",
    *("name", "principal"),
)


def _identifier(item: Any) -> object:
    return next((item[name] for name in _IDENTIFIERS if name in item), "")


def paginate(
    call: ApiRequest,
    items: Sequence[Any],
    name: str,
    *,
    default: int = 20,
    most: int = 100,
    identify: Callable[[Any], object] = _identifier,
) -> dict[str, Any]:
    """Return a page of `items` with the token of the next one.

    The request's `limit` or `max_results` is the size. A page token has the offset of the page and a digest
    of its first item, by which the page is found after items before it were removed or added: clients delete
    what they list while they list it. `identify` returns what distinguishes an item from all others. Raises
    ApiError for an invalid token.
    """

    def query(limit: int, begin: int) -> list[Any]:
        return list(items[begin : begin + limit])

    return paginate_query(call, query, name, default=default, most=most, identify=identify)


def paginate_query(
    call: ApiRequest,
    query: Callable[[int, int], list[Any]],
    name: str,
    *,
    default: int = 20,
    most: int,
    identify: Callable[[Any], object] = _identifier,
) -> dict[str, Any]:
    """Return the same as `paginate`, and read no more than the page: `query` takes a limit and an offset."""
    begin, first, size = _bounds(call, default, most)

    def is_first(item: Any) -> bool:
        return _digest(identify(item)) == first

    begin = _offset_of(query, begin, is_first) if first else begin
    found = query(size + 1, begin)
    answer: dict[str, Any] = {name: found[:size]}
    if len(found) > size:
        answer["next_page_token"] = f"{begin + size}.{_digest(identify(found[size]))}"
    if begin:
        answer["prev_page_token"] = str(max(0, begin - size))
    return answer


def _offset_of(query: Callable[[int, int], list[Any]], expected: int, is_first: Callable[[Any], bool]) -> int:
    """Return where the first item of a page is now, `expected` if it was removed."""
    if any(map(is_first, query(1, expected))):
        return expected
    begin = 0
    while found := query(_SCANNED, begin):
        for number, item in enumerate(found):
            if is_first(item):
                return begin + number
        begin += _SCANNED
    return expected


def _digest(identifier: object) -> str:
    return hashlib.sha256(str(identifier).encode(errors="replace")).hexdigest()[:_DIGITS]


def _bounds(call: ApiRequest, default: int, most: int) -> tuple[int, str, int]:
    size_parameter = (
        "max_results"
        if "max_results" in call.query
        else "page_size"
        if "page_size" in call.query
        else "limit"
    )
    size = min(call.number(size_parameter, default), most) or default
    token = call.query.get("page_token") or call.query.get("offset") or "0"
    found = _TOKEN.fullmatch(token)
    if found is None:
        raise invalid_parameter(f"The page token {token!r:.100} is not one of this server's.")
    return int(found[1]), found[2] or "", size

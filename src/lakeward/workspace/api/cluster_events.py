"""Events of clusters: a list with filters, in pages by token or by offset."""

from __future__ import annotations

from dataclasses import replace as with_fields
from typing import Any

import orjson

from lakeward.databricks_shims.local_workspace import invalid_parameter, paginate
from lakeward.workspace.api.cluster_records import requested_id, require_cluster
from lakeward.workspace.api.fields import read_fields
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import now

_MOST_EVENTS = 500


def events(call: ServerRequest) -> Any:
    """List events of a cluster, newest first unless `order` is ASC."""
    given = read_fields(
        call.body,
        {
            "event_types": list,
            "order": str,
            "start_time": int,
            "end_time": int,
            "limit": int,
            "offset": int,
            "page_size": int,
            "page_token": str,
        },
    )
    cluster = require_cluster(call, requested_id(call))
    order = given.get("order", "DESC")
    if order not in ("ASC", "DESC"):
        raise invalid_parameter(f"order is ASC or DESC, not {order}.")
    found = call.store.find("cluster_event", parent=cluster["cluster_id"], newest_first=order == "DESC")
    kinds = given.get("event_types")
    low, high = given.get("start_time", 0), given.get("end_time", now())
    found = [
        each for each in found if (not kinds or each["type"] in kinds) and low <= each["timestamp"] <= high
    ]
    total = len(found)
    if "page_size" in given or "page_token" in given:
        call.number("page_size", 0, most=_MOST_EVENTS)
        page: dict[str, str] = {
            name: str(given[name]) for name in ("page_size", "page_token") if name in given
        }
        listing = with_fields(call, query=page)
        answer = paginate(listing, found, "events", default=50, most=_MOST_EVENTS, identify=orjson.dumps)
        return {**answer, "total_count": total}
    begin, size = given.get("offset", 0), given.get("limit", 50)
    if begin < 0 or not 0 <= size <= _MOST_EVENTS:
        raise invalid_parameter("offset is not negative, and limit from 0 to 500.")
    size = size or 50
    answer = {"events": found[begin : begin + size], "total_count": total}
    if begin + size < total:
        following = {**given, "cluster_id": cluster["cluster_id"], "offset": begin + size, "limit": size}
        answer["next_page"] = following
    return answer

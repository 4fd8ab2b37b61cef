"""The types of requests to the local workspace, taken from databricks-sdk: `python scripts/request_types.py`.

Writes `src/lakeward/workspace/api/request_types.json`. The server reads that file, since importing the SDK's
dataclasses takes two seconds and 60 MB.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import json
import typing
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from databricks.sdk.service import jobs, pipelines
from databricks.sdk.version import __version__

FILE = Path(__file__).resolve().parents[1] / "src" / "lakeward" / "workspace" / "api" / "request_types.json"

REQUESTS: dict[str, Callable[..., Any]] = {
    "jobs/create": jobs.JobsAPI.create,
    "jobs/reset": jobs.JobsAPI.reset,
    "jobs/update": jobs.JobsAPI.update,
    "jobs/run-now": jobs.JobsAPI.run_now,
    "jobs/runs/submit": jobs.JobsAPI.submit,
    "jobs/runs/repair": jobs.JobsAPI.repair_run,
    "pipelines/create": pipelines.PipelinesAPI.create,
    "pipelines/edit": pipelines.PipelinesAPI.update,
    "pipelines/start-update": pipelines.PipelinesAPI.start_update,
}
_PLAIN = {str: "str", int: "int", bool: "bool", float: "float", object: "any", Any: "any"}


@cache
def tables() -> dict[str, Any]:
    """Return the types by name: a request or object is a table of fields, an enumeration its values."""
    found: dict[str, Any] = {}
    for name, method in REQUESTS.items():
        hints = typing.get_type_hints(method)
        fields = [field for field in inspect.signature(method).parameters if field != "self"]
        found[name] = {field: _described(hints[field], found) for field in fields}
    return {"sdk": __version__, "types": dict(sorted(found.items()))}


def _described(annotation: Any, found: dict[str, Any]) -> Any:
    """Return the type as JSON: a name, `[type]` for a list, `{"*": type}` for a map."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Union:
        (inner,) = (each for each in arguments if each is not type(None))
        return _described(inner, found)
    if origin is list:
        return [_described(arguments[0], found)]
    if origin is dict:
        return {"*": _described(arguments[1], found)}
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    name = f"{annotation.__module__.rpartition('.')[2]}.{annotation.__name__}"
    if name not in found:
        if issubclass(annotation, enum.Enum):
            found[name] = [each.value for each in annotation]
        else:
            found[name] = {}  # it may contain itself
            hints = typing.get_type_hints(annotation)
            found[name] = {
                each.name: _described(hints[each.name], found) for each in dataclasses.fields(annotation)
            }
    return name


if __name__ == "__main__":
    FILE.write_text(json.dumps(tables(), indent=1, sort_keys=True) + "\n", encoding="utf-8")

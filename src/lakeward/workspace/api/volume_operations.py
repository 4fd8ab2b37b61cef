"""PUT INTO, GET and REMOVE: commands of the SQL connectors for files of volumes.

The server does not see the client's files. The result of a command is one row with a signed link, to which
the client sends or from which it reads the file.

Source: https://docs.databricks.com/aws/en/dev-tools/python-sql-connector (managing files in volumes) and the
pages PUT INTO, GET and REMOVE of the language manual
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from lakeward.databricks_shims.local_workspace import ApiError, Route, file_handlers
from lakeward.quoting import quote_string
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.warehouse.result_links import RESULTS_PATH

_LINKS = "volumes/"
# A comment ends at the first end of one: `.*?` could go on, in as many ways as the text has comments.
_GAP = r"(?:\s|--[^\n]*(?:\n|$)|/\*(?:[^*]|\*(?!/))*\*/)"
_TEXT = r"""('(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")"""
_COMMAND = re.compile(
    rf"{_GAP}*(?:"
    rf"(?P<put>PUT){_GAP}*(?P<source>{_TEXT}){_GAP}*INTO{_GAP}*(?P<target>{_TEXT}){_GAP}*(?P<overwrite>OVERWRITE)?"
    rf"|(?P<get>GET){_GAP}*(?P<read>{_TEXT}){_GAP}*TO{_GAP}*(?P<to>{_TEXT})"
    rf"|(?P<remove>REMOVE){_GAP}*(?P<removed>{_TEXT})"
    rf"){_GAP}*;?{_GAP}*",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class VolumeOperation:
    """A command for one file.

    Attributes:
        name: PUT, GET or REMOVE.
        path: The file in a volume.
        local_file: The client's file; None for REMOVE.
        overwrite: Whether PUT replaces a file.
    """

    name: str
    path: str
    local_file: str | None = None
    overwrite: bool = False

    def check(self, call: ServerRequest) -> None:
        """Raise ApiError for a path that is not in a volume, and where PUT would replace a file."""
        file = file_handlers.volume_file(replace(call, path_parameter=self.path))
        if self.name == "PUT" and file.exists() and not self.overwrite:
            condition = "FILE_IN_STAGING_PATH_ALREADY_EXISTS"
            message = (
                f"[{condition}] File in staging path {self.path} already exists but OVERWRITE is not set."
            )
            raise ApiError(409, condition, message)

    def statement(self, call: ServerRequest) -> str:
        """Return the query whose row instructs the client."""
        mode = "REPLACE" if self.overwrite else self.name
        links = call.context.result_links.link(call.host, f"{_LINKS}{mode}{self.path}")
        link = quote_string(links["external_link"])
        local = "" if self.local_file is None else f", {quote_string(self.local_file)} AS localFile"
        return (
            f"SELECT {quote_string(self.name)} AS operation, {link} AS presignedUrl, "
            f"CAST(map() AS MAP<STRING, STRING>) AS headers{local}"
        )


def parse_volume_operation(statement: str) -> VolumeOperation | None:
    """Return the command of a statement; None for any other statement.

    >>> parse_volume_operation("PUT '/tmp/a.csv' INTO '/Volumes/main/default/v/a.csv' OVERWRITE")
    VolumeOperation(name='PUT', path='/Volumes/main/default/v/a.csv', local_file='/tmp/a.csv', overwrite=True)
    """
    found = _COMMAND.fullmatch(statement)
    if found is None:
        return None
    if found["put"]:
        overwrite = found["overwrite"] is not None
        return VolumeOperation("PUT", _path(found["target"]), _value(found["source"]), overwrite)
    if found["get"]:
        return VolumeOperation("GET", _path(found["read"]), _value(found["to"]))
    return VolumeOperation("REMOVE", _path(found["removed"]))


def _path(literal: str) -> str:
    return _value(literal).removeprefix("dbfs:")


def _value(literal: str) -> str:
    """Return the text of a string literal."""
    mark = literal[0]
    return re.sub(r"\\(.)", r"\1", literal[1:-1].replace(mark * 2, mark), flags=re.DOTALL)


def _linked(mode: str, handle: Callable[[ServerRequest], Any]) -> Callable[[ServerRequest], Any]:
    """Return the handler of a signed link."""

    def answer(call: ServerRequest) -> Any:
        call.require_link(f"{_LINKS}{mode}{call.path_parameter}")
        return handle(replace(call, query={"overwrite": str(mode == "REPLACE").lower()}))

    return answer


ROUTES = (
    Route("PUT", f"{RESULTS_PATH}{_LINKS}PUT/*", _linked("PUT", file_handlers.upload), upload=True),
    Route("PUT", f"{RESULTS_PATH}{_LINKS}REPLACE/*", _linked("REPLACE", file_handlers.upload), upload=True),
    Route("GET", f"{RESULTS_PATH}{_LINKS}GET/*", _linked("GET", file_handlers.download)),
    Route("DELETE", f"{RESULTS_PATH}{_LINKS}REMOVE/*", _linked("REMOVE", file_handlers.delete)),
)

"""The lakehouse and its erasures in plain Python, sharing nothing with `src/wearables`.

The state is what has landed, what was read, the suppression list and the requests. Whom a line names is read
from the fields that the generator writes; the oracle computes the tables.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import time
from typing import Any

from tests.wearables.oracle import Lakehouse, bronze_row, lakehouse, user_changes

__all__ = [
    "FOLDERS",
    "STEPS",
    "Model",
    "Request",
    "identifiers",
    "parts",
    "read_lines",
    "sent",
    "write_lines",
]

FOLDERS = {"daily": "daily", "gym_logs": "gym", "registrations": "."}
"""Folders of the landing volume, and those of a source folder."""

STEPS = ("collect", "suppress", "note_found", "clean_landing", "remove", "mark_erased")
"""Steps of an erasure in their order; each is a commit, or replaces files."""


def read_lines(file: Path) -> list[str]:
    """The lines of a file, of an archive the decompressed ones."""
    content = file.read_bytes()
    return (gzip.decompress(content) if file.suffix == ".gz" else content).decode().split("\n")[:-1]


def write_lines(file: Path, lines: list[str]) -> None:
    """Write lines to a file, compressed if its name ends so."""
    content = "".join(f"{line}\n" for line in lines).encode()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(content, mtime=0) if file.suffix == ".gz" else content)


def parts(line: str) -> dict[str, Any]:
    """The fields of a line, with key and payload decoded; of a broken line what can be decoded."""
    try:
        record: dict[str, Any] = json.loads(line)
    except ValueError:
        return {"broken": line}
    for name in {"key", "value"} & record.keys():
        if record[name] is not None and not record[name].startswith("%"):
            record[name] = base64.b64decode(record[name]).decode(errors="replace")
    return record


def identifiers(line: str) -> set[str]:
    """Whom a line names: `user:…`, `device:…`, `mac:…`."""
    record = parts(line)
    if "broken" in record:
        key = re.search(r'"key": "([A-Za-z0-9+/=]+)"', line)
        record = {"key": base64.b64decode(key.group(1)).decode()} if key else {"value": line}
    found = {f"{kind}:{record['key']}" for kind in ("user", "device") if record.get("key") is not None}
    payload: dict[str, Any] = {
        name: record[name] for name in ("user_id", "device_id", "mac", "mac_address") if name in record
    }
    text = record.get("value") or ""
    try:
        payload |= json.loads(text)
    except (TypeError, ValueError):
        payload |= dict(re.findall(r'"(user_id|device_id|mac|mac_address)": "?([0-9a-f:]+)', text))
    kinds: dict[str, str] = {"user_id": "user", "device_id": "device", "mac": "mac", "mac_address": "mac"}
    found |= {
        f"{kind}:{payload[name]}" for name, kind in kinds.items() if payload.get(name) not in (None, "")
    }
    return found


def sent(line: str) -> float:
    """When a line was sent, in seconds; far in the past if it does not have a time."""
    found = re.search(r'"timestamp": ([0-9]+)', line)
    if found:
        return int(found.group(1)) / 1000
    other = re.search(r'"(?:registration|last)_timestamp": ([0-9.]+)', line)
    return float(other.group(1)) if other else -math.inf


@dataclass
class Request:
    """A request of erasure; `found` is None until the person was searched."""

    user: int | None
    source: str
    requested: float
    status: str = "requested"
    found: bool | None = None


@dataclass
class Model:
    """What has landed, what the pipeline has read of it, and who is suppressed until when."""

    landed: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    tables: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    suppressed: dict[tuple[str, int], float] = field(default_factory=dict)
    requests: dict[str, Request] = field(default_factory=dict)

    def ingest(self, files: Iterable[tuple[str, str]] | None = None) -> None:
        """Read landed files that were not read yet: all, or those in `files`."""
        for file in (self.landed if files is None else set(files)) - self.tables.keys():
            self.tables[file] = [line for line in self.landed[file] if not self.is_erased(line)]

    def read_again(self, folder: str) -> None:
        """Read everything of a folder that has landed, as after the loss of a checkpoint."""
        for file, lines in self.landed.items():
            if file[0] == folder:
                kept = [line for line in lines if not self.is_erased(line)]
                self.tables[file] = self.tables.get(file, []) + kept

    def lakehouse(self, scratch: Path) -> Lakehouse:
        """Compute the tables by the oracle, from what was read; `scratch` is replaced."""
        shutil.rmtree(scratch, ignore_errors=True)
        for (folder, name), lines in self.tables.items():
            write_lines(scratch / FOLDERS[folder] / name, lines)
        return lakehouse(scratch)

    def erase(self, *, crash_at: str = "") -> None:
        """Execute the open requests, up to the step `crash_at`."""
        done = STEPS[: STEPS.index(crash_at)] if crash_at else STEPS
        changes = list(self._changes())
        if "collect" in done:
            for user, received, kind in changes:
                if kind == "delete":
                    self.requests.setdefault(f"crm {user} {received}", Request(user, "crm", received))
        opened = [each for each in self.requests.values() if each.status == "requested"]
        if "suppress" in done:
            self._suppress(opened, changes)
        if "note_found" in done:
            for each in opened:
                each.found = self._has(each.user) if each.found is None else each.found
            self._note_delivered_again(opened)
        if "mark_erased" in done:
            for each in opened:
                each.status = "erased"
            for files in (self.landed, self.tables):
                for file, lines in files.items():
                    files[file] = [line for line in lines if not self.is_erased(line)]

    def finish(self) -> None:
        """Purge: nothing of erased people is left, and the retention is over."""
        for each in self.requests.values():
            if each.status == "erased":
                each.status = "done" if each.found else "not found"

    def is_erased(self, line: str, user: int | None = None) -> bool:
        """Whether a line belongs to an erased person: any, or `user`."""
        names, time = identifiers(line), sent(line)
        return any(
            name in names and time <= until and user in (None, whose)
            for (name, whose), until in self.suppressed.items()
        )

    def _has(self, user: int | None) -> bool:
        lines = (line for files in (self.landed, self.tables) for each in files.values() for line in each)
        return user is not None and any(self.is_erased(line, user) for line in lines)

    def _note_delivered_again(self, opened: Sequence[Request]) -> None:
        """Add a request for each erased person without an open one who is delivered again."""
        known = {each.user for each in opened}
        known |= {
            each.user for each in self.requests.values() if (each.source, each.status) == ("again", "erased")
        }
        for user in {whose for _, whose in self.suppressed} - known:
            if self._has(user):
                self.requests[f"again {len(self.requests)}"] = Request(user, "again", time(), "erased", True)

    def _suppress(self, opened: Sequence[Request], changes: Sequence[tuple[int, float, str]]) -> None:
        requested: dict[int, float] = {}
        for each in opened:
            if each.user is not None:
                requested[each.user] = max(each.requested, requested.get(each.user, -math.inf))
        owners: dict[str, set[int]] = defaultdict(set)
        for record in map(parts, self._lines("registrations")):
            for name in {"device_id", "mac_address"} & record.keys():
                if record[name] is not None and record.get("user_id") is not None:
                    kind = "device" if name == "device_id" else "mac"
                    owners[f"{kind}:{record[name]}"].add(record["user_id"])
        for user, since in requested.items():
            returns = [at for who, at, kind in changes if (who, kind) == (user, "new") and at > since]
            until = min(returns) - 0.001 if returns else math.inf
            for name in [f"user:{user}", *(name for name, users in owners.items() if users == {user})]:
                self.suppressed[name, user] = max(until, self.suppressed.get((name, user), -math.inf))

    def _lines(self, folder: str) -> Iterator[str]:
        for file, lines in self.tables.items():
            yield from lines if file[0] == folder else ()

    def _changes(self) -> Iterator[tuple[int, float, str]]:
        """(user, second of receipt, kind) of the valid changes in bronze."""
        rows = [bronze_row("", line) for line in self._lines("daily") if line.strip()]
        for user, _, received, _, kind, _ in user_changes(rows, []):
            yield user, received / 1000, kind

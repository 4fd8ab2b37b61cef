"""Spellings of paths that try to leave a root, and the trap around the roots that shows whether one did."""

from __future__ import annotations

import base64
import hashlib
import itertools
import os
import random
from pathlib import Path

from lakeward.session import Settings

MARK = "canary-7f3a"
"""The name of files that nothing may reach; requests ask for it."""

TEXT = "witness-91c2 must not be read"
LISTED = "witness-91c2"
"""The text of these files, and the name of one next to each: no request has it, so no answer may."""

PREFIXES = (
    *("", "/", "//", "///", "/./", "/a/", "dbfs:", "dbfs:/", "dbfs://", "dbfs:///", "dbfs:////", "DBFS:/"),
    *("/dbfs/", "/Volumes/", "//Volumes/", "/Volumes/main/default/v/", "dbfs:/Volumes/"),
    *("/Workspace/", "//Workspace/", "/Workspace/Users/", "/Workspace//", "/mnt/", "dbfs:/mnt/"),
    *("dbfs:/Volumes/main/", "/FileStore/", "/databricks-datasets/", "s3://bucket/", "s3a://b/", "/mnt/raw/"),
)  # fmt: skip
DOTS = (
    *("", "..", "../..", "../../..", "../../../../../../../..", ".", "./..", ".//..", "..//..", "a/../../.."),
    *("%2e%2e", "%2e%2e/%2e%2e", "..%2f..", "%252e%252e", "..%252f..", "%c0%ae%c0%ae", "....//"),
    *("..\\..", "..\\", "..\0", "\0..", "\udcae\udcae", "..\u2215..", "\uff0e\uff0e", "...", "~", "link-out"),
    *("..;", ".. ", "link-state", "link-file", "link-up/.."),
)  # fmt: skip
TARGETS = (
    "",
    f"secrets/{MARK}",
    f"server/{MARK}.db",
    "workspace/connection.json",
    "connection.json",
    "CONNECTION.JSON",
    f"{MARK}.txt",
    "new-file",
)


def spellings(count: int, *, seed: int) -> list[str]:
    """`count` spellings drawn from all combinations, the worst ones always among them."""
    every = set()
    for prefix, dots, target in itertools.product(PREFIXES, DOTS, TARGETS):
        every.add("/".join(part for part in (prefix + dots, target) if part))
    always = ["//..", "dbfs://..", "//../workspace/connection.json", "dbfs:/..", "/../..", "..", "../.."]
    return [*always, *random.Random(seed).sample(sorted(every), min(count, len(every)))]


class Trap:
    """Files around the roots of a target, and links out of them that are not declared."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.home = settings.home.parent
        (settings.state / "secrets" / MARK).mkdir(parents=True, exist_ok=True)
        (settings.state / "server").mkdir(parents=True, exist_ok=True)
        self.files = [
            settings.state / "secrets" / MARK / f"{MARK}.value",
            settings.state / "server" / f"{MARK}.db",
            settings.state / f"{MARK}.txt",
            settings.home / f"{MARK}.txt",
            settings.root / f"{MARK}.txt",
            settings.root.parent / f"{MARK}.txt",
        ]
        for file in self.files:
            file.write_text(TEXT)
            file.with_name(LISTED).write_text(TEXT)
            file.with_name(f"{LISTED}-folder").mkdir(exist_ok=True)
        if not (settings.workspace / "connection.json").exists():
            settings.workspace.mkdir(parents=True, exist_ok=True)
            (settings.workspace / "connection.json").write_text(TEXT)
        for root in (settings.dbfs, settings.volumes / "main" / "default" / "v", settings.workspace):
            root.mkdir(parents=True, exist_ok=True)
            for name, target in (
                ("link-out", settings.root.parent),
                ("link-up", settings.root),
                ("link-state", settings.state),
                ("link-file", self.files[0]),
                ("link-loop", root / "link-loop"),
                ("link-nowhere", settings.root / "none"),
                ("link-token", settings.workspace / "connection.json"),
            ):
                (root / name).symlink_to(target)
        self.before = self.state()

    def state(self) -> dict[str, str]:
        """Everything outside of the roots: names, and what the trap's own files hold."""
        roots = (self.settings.dbfs, self.settings.volumes, self.settings.workspace)
        found: dict[str, str] = {}
        for folder, names, files in os.walk(self.settings.root.parent):
            here = Path(folder)
            names[:] = [
                name for name in names if here / name not in roots and name not in ("server", "uploads")
            ]
            found.update({str(here / name): "folder" for name in names})
            found.update({str(here / name): digest(here / name) for name in files})
        found.update({str(file): digest(file) for file in self.files})
        connection = self.settings.workspace / "connection.json"
        found[str(connection)] = digest(connection)
        return found

    def check(self, tried: object) -> None:
        """Fail where something outside of the roots was written, changed or removed."""
        now = self.state()
        changed = {name for name in now.keys() | self.before.keys() if now.get(name) != self.before.get(name)}
        assert not changed, f"one of {tried} changed {sorted(changed)}"

    def reached(self, answer: bytes) -> bool:
        """Whether an answer shows anything of the trap."""
        connection = (self.settings.workspace / "connection.json").read_bytes()
        texts = (TEXT.encode(), connection)
        return LISTED.encode() in answer or any(
            each in answer or base64.b64encode(each) in answer for each in texts
        )


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else "none"

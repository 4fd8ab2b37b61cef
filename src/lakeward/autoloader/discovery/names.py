"""Names of files: where they are, and as Databricks shows them (`dbfs:/Volumes/…`, `file:/…`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from lakeward.session.paths import DBFS_ROOTS, PathMap

__all__ = ["Names"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
# Java's URI leaves these and all letters of any script as they are.
_TO_ENCODE = re.compile(r"[^A-Za-z0-9/:!$&'()*+,;=@._~\x80-\U0010ffff-]")
_SAFE = "/:!$&'()*+,;=@-._~"


@dataclass(frozen=True)
class Names:
    """Both directions of a path map, as files need them: a key is a shown path, not yet encoded."""

    path_map: PathMap

    def local(self, path: str) -> str:
        """Where `path`, as the user wrote it or as a key, really is: a local path or a store's URI."""
        mapped = self.path_map.local(path)
        if mapped.startswith("file:/"):
            rest = mapped[len("file:") :]
            mapped = "/" + rest.lstrip("/")
        if mapped.startswith("/") or _SCHEME.match(mapped):
            return mapped
        return str(Path(mapped).absolute()) + ("/" if mapped.endswith("/") else "")

    def key(self, local: str) -> str:
        """The name that state and users know a file by; it outlives a move of the state folder."""
        user = self.path_map.user(local)
        if user.startswith(("/Volumes", *DBFS_ROOTS)) and user != local:
            return "dbfs:" + user
        if user.startswith("/dbfs/") and user != local:
            return "dbfs:" + user[len("/dbfs") :]
        return user if _SCHEME.match(user) else "file:" + user

    @staticmethod
    def shown(key: str) -> str:
        """A key as `_metadata.file_path` and `_file_path` show it: encoded as Spark encodes paths."""
        if _TO_ENCODE.search(key) is None:
            return key
        return "".join(part if ord(part[0]) > 127 else quote(part, _SAFE) for part in _runs(key))


def _runs(text: str) -> list[str]:
    """Stretches of ASCII and of other characters, which Spark leaves alone."""
    return re.findall(r"[\x00-\x7f]+|[^\x00-\x7f]+", text)

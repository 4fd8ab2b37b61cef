"""Keys: the names of files as users see them (`dbfs:/Volumes/…`, `file:/…`), and their local paths."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from lakeward.session.paths import PathMap

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
# Java's URI does not encode these, nor letters of any script.
_TO_ENCODE = re.compile(r"[^A-Za-z0-9/:!$&'()*+,;=@._~\x80-\U0010ffff-]")
_SAFE = "/:!$&'()*+,;=@-._~"


@dataclass(frozen=True)
class FileNames:
    """Translates between local paths and keys. A key is a display name that is not URI-encoded."""

    path_map: PathMap

    def local(self, path: str) -> str:
        """Return the local path or store URI of a key or of a path as the user wrote it."""
        mapped = self.path_map.local(path)
        if mapped.startswith("file:/"):
            rest = mapped[len("file:") :]
            mapped = "/" + rest.lstrip("/")
        if mapped.startswith("/") or _SCHEME.match(mapped):
            return mapped
        return str(Path(mapped).absolute()) + ("/" if mapped.endswith("/") else "")

    def key(self, local: str) -> str:
        """Return the name for state and users; it is stable when the lakehouse moves."""
        user = self.path_map.user(local)
        if user.startswith("/") and user != local and not user.startswith("/Workspace/"):
            return "dbfs:" + (user[len("/dbfs") :] if user.startswith("/dbfs/") else user)
        return user if _SCHEME.match(user) else "file:" + user

    @staticmethod
    def encode(key: str) -> str:
        """Return a key as `_metadata.file_path` and `_file_path` show it, encoded like Spark's paths."""
        if _TO_ENCODE.search(key) is None:
            return key
        return "".join(part if ord(part[0]) > 127 else quote(part, _SAFE) for part in _split_by_ascii(key))


def session_file_names() -> FileNames:
    """Return the names under the path map of the active session's lakehouse."""
    from lakeward.session import current_settings

    settings = current_settings()
    return FileNames(PathMap.of(settings) if settings else PathMap(()))


def _split_by_ascii(text: str) -> list[str]:
    """Split into runs of ASCII and other characters; Spark does not encode the latter."""
    return re.findall(r"[\x00-\x7f]+|[^\x00-\x7f]+", text)

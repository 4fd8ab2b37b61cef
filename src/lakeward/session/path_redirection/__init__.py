"""`/Volumes/…`, `/dbfs/…`, `/Workspace/…` and mounts in Python's own file functions.

`install` patches `open`, `os`, what was bound before, the import system and the entry points of pyarrow and
sqlite3; `uninstall` gives everything back. What cannot be reached is `UNSUPPORTED`.
"""

from __future__ import annotations

from lakeward.session.path_redirection.installation import install, installed_map, uninstall
from lakeward.session.path_redirection.libraries import UNSUPPORTED

__all__ = ["UNSUPPORTED", "install", "installed_map", "uninstall"]

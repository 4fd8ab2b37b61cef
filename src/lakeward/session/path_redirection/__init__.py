"""Redirect `/Volumes/…`, `/dbfs/…`, `/Workspace/…` and mounts in Python's own file functions.

`install` patches `open`, `os`, references bound earlier, the import system and the entry points of pyarrow
and sqlite3, and maps arguments of programs; `uninstall` restores all. `UNSUPPORTED` lists what is not
redirected unless LAKEWARD_BIND_MOUNTS is 1.
"""

from __future__ import annotations

from lakeward.session.path_redirection.installation import install, installed_map, uninstall
from lakeward.session.path_redirection.libraries import UNSUPPORTED

__all__ = ["UNSUPPORTED", "install", "installed_map", "uninstall"]

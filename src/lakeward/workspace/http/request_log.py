"""Request log: one JSON line for each request in a rotated file, without token, body and query."""

from __future__ import annotations

import errno
import json
import threading
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import BinaryIO

_MOST_BYTES = 10 * 2**20


class RequestLog:
    """Appends to `file`; at 10 MB it becomes `file.1`, and a new one begins."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._stream = self._opened()

    def add(self, **facts: object) -> None:
        """Note a request. A full disk loses the line, never the answer."""
        moment = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        line = json.dumps({"time": moment, **facts}, ensure_ascii=False) + "\n"
        with self._lock:
            try:
                self._stream.write(line.encode(errors="backslashreplace"))
                self._stream.flush()
                if self._stream.tell() > _MOST_BYTES:
                    self._stream.close()
                    with suppress(OSError):  # a log that cannot be moved grows
                        self._file.replace(self._file.with_name(f"{self._file.name}.1"))
                    self._stream = self._opened()
            except (OSError, ValueError):  # ValueError: closed, while a run's thread still ends
                return

    def _opened(self) -> BinaryIO:
        if self._file.exists() and not self._file.is_file():
            raise OSError(errno.EINVAL, "It is not a regular file", str(self._file))
        return self._file.open("ab")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._stream.close()

"""Links to chunks of results: valid for 15 minutes, without a token, as links of cloud storage are.

A link names the chunk and its expiration, and is signed with a key that exists in this process alone.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from lakeward.workspace.state.store import time_text

RESULTS_PATH = "/api/2.0/lakeward/results/"
LINK_SECONDS = 15 * 60


@dataclass(frozen=True)
class ResultLinks:
    """Signs and checks links."""

    clock: Callable[[], float] = time.time
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    def link(self, host: str, chunk: str) -> dict[str, str]:
        """Return the fields `external_link` and `expiration` for a chunk: `STATEMENT_ID/INDEX`, or a file."""
        expires = int(self.clock()) + LINK_SECONDS
        query = f"expires={expires}&signature={self._signature(chunk, str(expires))}"
        return {
            "external_link": f"{host}{RESULTS_PATH}{quote(chunk)}?{query}",
            "expiration": time_text(expires * 1000),
        }

    def is_valid(self, chunk: str, query: Mapping[str, str]) -> bool:
        """Return whether the query of a request for the chunk has a valid signature that has not expired."""
        expires, signature = query.get("expires", ""), query.get("signature", "")
        if not hmac.compare_digest(
            self._signature(chunk, expires).encode(), signature.encode("utf-8", "replace")
        ):
            return False
        return int(expires) >= self.clock()

    def _signature(self, chunk: str, expires: str) -> str:
        text = f"{chunk}\n{expires}".encode("utf-8", "replace")
        return hmac.new(self._key, text, hashlib.sha256).hexdigest()

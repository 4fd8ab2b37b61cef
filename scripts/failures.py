"""Why a set-up failed, in one sentence with what to do."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path


class SetupFailed(Exception):
    """The text is all that the user reads."""


_NO_SPACE = "there is no disk space left for {place} (about 1.5 GB are needed); make room and call again."
_READ_ONLY = "{place} cannot be written ({reason}); put the project into a folder that can be written."
_NO_NETWORK = (
    "the package index cannot be reached ({reason}); the first set-up needs a network: connect, or point "
    "PIP_INDEX_URL, PIP_FIND_LINKS or HTTPS_PROXY to what your network offers, and call again."
)
_CERTIFICATE = (
    "the certificate of the package index is not trusted; set PIP_CERT to a file with the authorities that "
    "your network uses, and call again."
)
_HASHES = "{reason} does not match its hash in the lock file; a proxy or mirror of the index changes it."
_NOT_THERE = "the package index does not have {reason}; point PIP_INDEX_URL to one that mirrors all of PyPI."

_BROKEN_NETWORK = (
    r"(Connection refused|Name or service not known|Temporary failure in name resolution|"
    r"Network is unreachable|No route to host|getaddrinfo failed|nodename nor servname[\w ,]*|"
    r"[Tt]imed out|Connection reset|Cannot connect to proxy|Tunnel connection failed[\w: ]*|"
    r"Connection broken|Connection aborted|Max retries exceeded)"
)
# Looked for in this order in what pip printed: a full disk also breaks connections and builds.
_SIGNS = (
    (r"No space left on device|Errno 28\b|Disk quota exceeded|Errno 122\b", _NO_SPACE),
    (r"(Read-only file system)|Errno 30\b", _READ_ONLY),
    (r"CERTIFICATE_VERIFY_FAILED|SSLCertVerificationError", _CERTIFICATE),
    (_BROKEN_NETWORK, _NO_NETWORK),
    (r"DO NOT MATCH THE HASHES[^\n]*\n\s*(\S+)", _HASHES),
    (r"No matching distribution found for (\S+)", _NOT_THERE),
    (r"(Permission denied)", _READ_ONLY),
)


def explained(output: str, place: Path) -> SetupFailed:
    """Return the reason for the output of a failed step; `place` is the folder that it filled."""
    for sign, sentence in _SIGNS:
        found = re.search(sign, output)
        if found:
            reason = next((group for group in found.groups() if group), found[0])
            return SetupFailed(sentence.format(place=place, reason=reason))
    errors = [line.strip() for line in output.splitlines() if line.lower().startswith("error")]
    lines = errors or [line.strip() for line in output.splitlines() if line.strip()] or ["it printed nothing"]
    return SetupFailed(f"a step failed: {lines[-1]}")


def place_failed(place: Path, error: OSError) -> SetupFailed:
    """Return the reason why files cannot be kept at `place`."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return SetupFailed(_NO_SPACE.format(place=place))
    return SetupFailed(_READ_ONLY.format(place=place, reason=os.strerror(error.errno or errno.EIO)))

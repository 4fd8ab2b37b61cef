"""Why an installer failed, in one sentence with what to do."""

from __future__ import annotations

import re
from pathlib import Path

from lakeward.errors import ConfigurationError, LakewardError, SetupError

__all__ = ["explained", "is_about_versions"]

_NETWORK = (
    r"(Connection refused|Name or service not known|Temporary failure in name resolution|"
    r"Network is unreachable|No route to host|getaddrinfo failed|nodename nor servname[\w ,]*|"
    r"dns error|error sending request|[Tt]imed out|Connection reset|Cannot connect to proxy|"
    r"Tunnel connection failed[\w: ]*|Connection broken|Connection aborted|Max retries exceeded|"
    r"tunnel error[\w: ]*|tcp connect error|Could not resolve host: [\w.-]+)"
)
_INDEX = "set PIP_INDEX_URL (uv: UV_DEFAULT_INDEX), PIP_FIND_LINKS (UV_FIND_LINKS) or HTTPS_PROXY"

_NOT_THERE = (
    r"No matching distribution found for ([^\n]+)|there (?:is|are) no versions? of ([^\s,]+) and you require|"
    r"[Bb]ecause ([\w.-]+) was not found in the"
)

# Looked for in this order in what the installer printed: a full disk also breaks connections and builds.
_SIGNS: tuple[tuple[str, type[LakewardError], str, str, str], ...] = (
    (
        r"No space left on device|(?:Errno|os error) 28\b|Disk quota exceeded|(?:Errno|os error) 122\b",
        SetupError,
        "CACHE_NO_SPACE",
        "There is no disk space left for {place}.",
        "Make room there, or set LAKEWARD_CACHE to a folder on a disk with room.",
    ),
    (
        r"(Read-only file system|(?:Errno|os error) 30\b)",
        SetupError,
        "CACHE_NOT_WRITABLE",
        "{place} cannot be written: {reason}.",
        "Set LAKEWARD_CACHE to a folder that can be written.",
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED|SSLCertVerificationError|invalid peer certificate: \w+|UnknownIssuer",
        SetupError,
        "INDEX_CERTIFICATE_NOT_TRUSTED",
        "The certificate of the package index is not trusted.",
        "Set SSL_CERT_FILE (pip: PIP_CERT) to a file with the authorities that your network uses.",
    ),
    (
        r"(40[137] (?:Client Error|Error|Unauthorized|Forbidden|Proxy)[\w ]*|status code:? 40[137])",
        SetupError,
        "INDEX_REFUSED",
        "The package index refuses the request ({reason}).",
        f"To name it with a user and password, {_INDEX}.",
    ),
    (
        rf"network connectivity is disabled|{_NETWORK}",
        SetupError,
        "INDEX_NOT_REACHABLE",
        "The package index, or the place of a package, cannot be reached ({reason}).",
        f"The network is needed the first time only. For another way, {_INDEX}.",
    ),
    (
        r"(?:conflicting dependencies[.:]?|ResolutionImpossible)",
        ConfigurationError,
        "DEPENDENCIES_CONFLICT",
        "The repository's dependencies and lakeward's cannot be installed together: {conflict}",
        "Widen one of those that are named. Where a package pins pyspark, install uv: it can pass over that.",
    ),
    (
        _NOT_THERE,
        ConfigurationError,
        "DEPENDENCY_NOT_FOUND",
        "The package index has no {reason} for this Python.",
        f"Correct the pin, or, for an index that has it, {_INDEX}.",
    ),
    (
        r"(No solution found)",
        ConfigurationError,
        "DEPENDENCIES_CONFLICT",
        "The repository's dependencies cannot be installed with lakeward's: {conflict}",
        f"Widen one of those that are named; for an index that has more, {_INDEX}.",
    ),
    (
        r"(?:Failed to build|Failed building wheel for|Failed to download and build)\W*`?([^\n`]*)",
        ConfigurationError,
        "DEPENDENCY_NOT_BUILT",
        "A dependency comes as source and does not build here: {reason}",
        "Pin a version that has a wheel for this Python, or install what its build needs.",
    ),
)
_VERSIONS = ("DEPENDENCIES_CONFLICT", "DEPENDENCY_NOT_FOUND", "DEPENDENCY_NOT_BUILT")


def is_about_versions(error: LakewardError) -> bool:
    """Whether fewer or looser requirements might be installed where these were not."""
    return error.condition in _VERSIONS


def explained(output: str, place: Path, log: Path | None = None) -> LakewardError:
    """The error that stands in what an installer printed while it filled `place`; `log` has all of it."""
    whole = f" All that the installer printed is in {log}." if log else ""
    for sign, kind, condition, message, next_step in _SIGNS:
        found = re.search(sign, output)
        if found:
            reason = next((group for group in found.groups() if group), found[0]).strip()
            text = message.format(place=place, reason=reason, conflict=_conflict(output))
            return kind(condition, text, next_step=f"{next_step}{whole}")
    lines = [line.strip() for line in output.splitlines() if line.strip()] or ["it printed nothing"]
    errors = [line for line in lines if line.lower().startswith("error")] or lines[-1:]
    message = f"Installing the dependencies failed: {errors[-1]}"
    return SetupError("INSTALL_FAILED", message, next_step=whole.strip() or None)


def _conflict(output: str) -> str:
    """Who asks for what, as pip and uv tell it, in one line."""
    caused = re.search(r"The conflict is caused by:\n(.*?)\n\s*\n", output, re.DOTALL)
    if caused:
        return "; ".join(line.strip() for line in caused[1].splitlines()) + "."
    # uv's own frame changed with its version 0.13.
    told = re.search(r"(?:╰─▶|cause:) (.*?)(?:\n\s*\n|\nhint:|$)", output, re.DOTALL)
    if told:
        return " ".join(told[1].split())
    named = re.search(r"Cannot install (.*?) because", output, re.DOTALL)
    return f"{' '.join(named[1].split())}." if named else output.strip().splitlines()[-1]

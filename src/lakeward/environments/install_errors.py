"""Turn the output of a failed uv command into one error: condition, cause, next step."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from lakeward.errors import ConfigurationError, LakewardError, SetupError

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


@dataclass(frozen=True)
class _Rule:
    """Classifies output that `pattern` matches.

    `message` has the placeholders {folder}, {reason} (the first group that matched, else the match),
    {conflict} and {git}.
    """

    condition: str
    pattern: str
    message: str
    next_step: str
    kind: type[LakewardError] = SetupError


_NOT_BUILT = "A dependency has no wheel for this Python, and building it from source failed: {reason}"
_BUILDABLE = (
    "Pin a version that has a wheel, install what its build needs, or leave it out: --without PACKAGE."
)

# The first match counts. A full disk also breaks connections and builds, and Git's failure a build.
_RULES = (
    _Rule(
        "CACHE_NO_SPACE",
        r"No space left on device|(?:Errno|os error) 28\b|Disk quota exceeded|(?:Errno|os error) 122\b",
        "There is no disk space left for {folder}.",
        "Free disk space, or set LAKEWARD_CACHE to a folder on another disk.",
    ),
    _Rule(
        "CACHE_NOT_WRITABLE",
        r"(Read-only file system|(?:Errno|os error) 30\b)",
        "{folder} cannot be written: {reason}.",
        "Set LAKEWARD_CACHE to a folder that can be written.",
    ),
    _Rule(
        "GIT_NOT_FOUND",
        r"Git executable not found",
        "A dependency comes from a Git repository, and Git is not installed ({git}).",
        "Install Git, or leave the package out: lakeward test --without PACKAGE.",
    ),
    _Rule(
        "GIT_NOT_REACHABLE",
        r"Git operation failed",
        "A Git repository could not be read: {git}.",
        "Give Git access to it, correct its address or branch, or leave the package out: "
        "lakeward test --without PACKAGE.",
    ),
    # What a build script prints comes after it: a script that downloads fails with the errors of a network.
    _Rule(
        "DEPENDENCY_NOT_BUILT",
        r"Failed to (?:download and )?build\W*`([^\n`]*)`[\s\w:]*build backend returned an error",
        _NOT_BUILT,
        _BUILDABLE,
        ConfigurationError,
    ),
    _Rule(
        "INDEX_CERTIFICATE_NOT_TRUSTED",
        r"CERTIFICATE_VERIFY_FAILED|SSLCertVerificationError|invalid peer certificate: \w+|UnknownIssuer",
        "The certificate of the package index is not trusted.",
        "Set SSL_CERT_FILE to a file with the certificate authorities of your network.",
    ),
    _Rule(
        "INDEX_REFUSED",
        r"(40[137] (?:Client Error|Error|Unauthorized|Forbidden|Proxy)[\w ]*|status code:? 40[137])",
        "The package index refused the request ({reason}).",
        f"To give its address with user and password, {_INDEX}.",
    ),
    _Rule(
        "INDEX_NOT_REACHABLE",
        rf"network connectivity is disabled|{_NETWORK}",
        "The package index, or the address of a package, cannot be reached ({reason}).",
        f"The network is needed for the first run only. To use another address, {_INDEX}.",
    ),
    _Rule(
        "DEPENDENCY_NOT_FOUND",
        _NOT_THERE,
        "The package index has no {reason} for this Python.",
        f"Correct the pin, or leave the package out: --without PACKAGE. To use another index, {_INDEX}.",
        ConfigurationError,
    ),
    _Rule(
        "DEPENDENCIES_CONFLICT",
        r"(No solution found)",
        "The repository's dependencies cannot be installed together with lakeward's: {conflict}",
        f"Relax one of the pins above. If another index has more versions, {_INDEX}.",
        ConfigurationError,
    ),
    _Rule(
        "DEPENDENCY_NOT_BUILT",
        r"(?:Failed to build|Failed to download and build)\W*`?([^\n`]*)",
        _NOT_BUILT,
        _BUILDABLE,
        ConfigurationError,
    ),
)
_VERSIONS = ("DEPENDENCIES_CONFLICT", "DEPENDENCY_NOT_FOUND", "DEPENDENCY_NOT_BUILT")


def is_about_versions(error: LakewardError) -> bool:
    """Return whether fewer or looser requirements might install where these failed."""
    return error.condition in _VERSIONS


def install_error(output: str, folder: Path, log: Path | None = None) -> LakewardError:
    """Return the error for what uv printed while it filled `folder`; `log` is a file with all of it."""
    text = unwrap(output)
    full_output = f" Full output: {log}." if log else ""
    for rule in _RULES:
        match = re.search(rule.pattern, text)
        if match:
            reason = next((group for group in match.groups() if group), match[0]).strip()
            message = rule.message.format(
                folder=folder, reason=reason, conflict=_conflict(text), git=_git_failure(text)
            )
            return rule.kind(rule.condition, message, next_step=f"{rule.next_step}{full_output}")
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["uv printed nothing"]
    errors = [line for line in lines if line.lower().startswith("error")] or lines[-1:]
    message = f"Installing the dependencies failed: {errors[-1]}"
    return SetupError("INSTALL_FAILED", message, next_step=full_output.strip() or None)


def unwrap(output: str) -> str:
    """Join the lines that uv before 0.13 wraps at 80 columns and frames; newer output stays as it is.

    >>> unwrap("  × Failed to build `a @\\n  │ git+x`\\n  ├─▶ Git operation\\n  │   failed\\n  ╰─▶ it rains")
    'error: Failed to build `a @ git+x`\\n  cause: Git operation failed\\n  cause: it rains'
    """
    lines: list[str] = []
    framed = False
    for line in output.splitlines():
        start = re.match(r"\s*(×|├─▶|╰─▶)\s*(.*)", line)
        if start:
            lines.append(f"{'error:' if start[1] == '×' else '  cause:'} {start[2]}")
            framed = True
        elif framed and re.match(r"\s*│|\s{4,}\S", line):
            lines[-1] += f" {line.strip(' │')}"
        else:
            lines.append(line)
            framed = False
    return "\n".join(lines)


def _git_failure(output: str) -> str:
    """Return the package, or else the repository, and Git's own reason.

    >>> _git_failure("error: Failed to build `a @ git+x`\\n cause: Git operation failed\\n cause: no git")
    'a @ git+x: no git'
    """
    package = re.search(r"Failed to (?:download and )?build\W*`([^`]+)`[^`]*Git operation failed", output)
    address = re.search(r"git fetch [^'\n]*'([^']+)'", output)
    subject = next((match[1] for match in (package, address) if match), "")
    reasons = re.findall(r"(?:fatal|cause): (.*?)\s*(?=\n|$)", output.partition("Git operation failed")[2])
    fatal = re.search(r"fatal: (.*?)\s*(?:\n|$)", output)
    reason = fatal[1] if fatal else (reasons[-1] if reasons else "")
    return ": ".join(filter(None, (subject, reason.rstrip(".")))) or "Git gave no reason"


def _conflict(output: str) -> str:
    """Return which package requires what, as uv explains it, in one line."""
    explanation = re.search(r"cause: (.*?)(?:\n\s*\n|\nhint:|\Z)", output, re.DOTALL)
    if explanation:
        return " ".join(explanation[1].split())
    return (output.strip().splitlines() or ["uv printed nothing"])[-1]

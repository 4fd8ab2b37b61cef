"""Download jars from a Maven repository into the cache: in parallel, verified, atomic.

Received bytes stay in a `.part` file, which the next attempt resumes, also in a later process. The checksum
decides, and a rename makes the complete file visible. Only one process
downloads at a time; progress goes to stderr.
"""

from __future__ import annotations

import hashlib
import http.client
import ssl
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO, final

from lakeward.errors import SetupError
from lakeward.file_lock import FileLock
from lakeward.session.cache import ensure_dir, not_writable
from lakeward.session.jvm.maven import Jar, Repository, repository

_ATTEMPTS = 3
_BLOCK = 1 << 16
_WAYS_ROUND = (
    "set LAKEWARD_MAVEN_MIRROR or HTTPS_PROXY, install the package lakeward-jars, which holds them, "
    "or name a folder that does in LAKEWARD_JARS."
)


class _Broken(Exception):
    """The connection failed or ended early; a retry may succeed."""


class _Wrong(Exception):
    """The download is complete but its checksum is wrong."""


def download(
    jar: Jar,
    target: Path,
    repository: Repository,
    *,
    on_bytes: Callable[[int], None] = lambda _: None,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Download `jar` to `target`; `on_bytes` is called for each block.

    Raises SetupError, which names the setting to change. The caller holds the lock of `target`: only one
    process downloads it.
    """
    part = target.with_name(target.name + ".part")
    reason: Exception = _Broken()
    for attempt in range(_ATTEMPTS):
        sleep(0.5 * attempt)
        try:
            _continue(jar, part, repository, on_bytes)
            _verify(jar, part)
            part.replace(target)
        except _Broken as broken:
            reason = broken
        except _Wrong as wrong:
            # The part of an earlier attempt may be damaged: retry once from the start.
            reason = wrong
            part.unlink(missing_ok=True)
        except OSError as error:
            raise not_writable(target, error) from None
        else:
            return
    if isinstance(reason, _Wrong):
        raise SetupError(
            "JAR_CHECKSUM_MISMATCH",
            f"{_address(jar, repository)} is not the file that its authors published ({reason}).",
            next_step=f"Something on the way changes it: {_WAYS_ROUND}",
        )
    raise SetupError(
        "JARS_NOT_REACHABLE",
        f"{_address(jar, repository)} could not be fetched{_describe_proxy(repository)}: {reason}.",
        next_step=f"The network is needed the first time only. Without it, {_WAYS_ROUND}",
    )


def _address(jar: Jar, repository: Repository) -> str:
    return f"{repository.url}/{jar.path}"


def _describe_proxy(repository: Repository) -> str:
    """Return the proxy of requests and the variable that names it, without its password."""
    parts = urllib.parse.urlsplit(repository.url)
    proxy = urllib.request.getproxies().get(parts.scheme)
    if not proxy or urllib.request.proxy_bypass(parts.hostname or ""):
        return ""
    return f" through the proxy {proxy.rpartition('@')[2]}, which {parts.scheme.upper()}_PROXY names"


def _continue(jar: Jar, part: Path, repository: Repository, on_bytes: Callable[[int], None]) -> None:
    have = part.stat().st_size if part.exists() else 0
    if have == jar.size:
        return
    request = urllib.request.Request(_address(jar, repository))  # noqa: S310  # Repository allows http(s) alone
    for name, value in repository.headers.items():
        request.add_unredirected_header(name, value)
    if have:
        request.add_header("Range", f"bytes={have}-")
    with _answer(request, jar, repository) as answer:
        resumed = have and answer.status == http.client.PARTIAL_CONTENT
        if resumed and not answer.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
            raise _Wrong("it returned another range than requested")
        announced = answer.headers.get("Content-Length")
        came = 0
        with part.open("ab" if resumed else "wb") as file:
            while block := _block(answer):
                file.write(block)
                came += len(block)
                on_bytes(len(block))
                # A sign-in page or a listing may have any length; read no more than the jar's size.
                if came > jar.size:
                    raise _Wrong("it is longer")
        if announced is not None and came < int(announced):
            raise _Broken(f"the connection ended after {came} of {announced} bytes")


def _block(answer: http.client.HTTPResponse) -> bytes:
    try:
        return answer.read(_BLOCK)
    except (http.client.HTTPException, OSError) as error:
        raise _Broken(f"the connection ended early ({error})") from None


def _answer(request: urllib.request.Request, jar: Jar, repository: Repository) -> http.client.HTTPResponse:
    try:
        # A new opener: the shared one caches the proxies of its first use.
        answer: http.client.HTTPResponse = urllib.request.build_opener().open(request, timeout=60)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise _Wrong("what had come of it does not fit") from None
        if error.code >= 500 or error.code == http.client.TOO_MANY_REQUESTS:
            raise _Broken(f"the server answered {error.code}") from None
        raise _refused(error.code, jar, repository) from None
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        if isinstance(reason, ssl.SSLCertVerificationError):
            raise SetupError(
                "MAVEN_CERTIFICATE_NOT_TRUSTED",
                f"The certificate of {repository.url} is not trusted: {reason.verify_message}.",
                next_step="Set SSL_CERT_FILE to a file with the authorities that your network uses.",
            ) from None
        raise _Broken(str(getattr(reason, "strerror", None) or reason)) from None
    return answer


def _refused(code: int, jar: Jar, repository: Repository) -> SetupError:
    if code in (http.client.NOT_FOUND, http.client.GONE):
        return SetupError(
            "JAR_NOT_IN_REPOSITORY",
            f"{_address(jar, repository)} is not there (the repository is named by {repository.named_by}).",
            next_step="Set LAKEWARD_MAVEN_MIRROR to a repository that mirrors Maven Central.",
        )
    return SetupError(
        "JAR_REFUSED",
        f"{_address(jar, repository)} was refused with status {code} (named by {repository.named_by}).",
        next_step="Set LAKEWARD_MAVEN_MIRROR to a repository that lets you in: https://user:password@host/path.",
    )


def _verify(jar: Jar, part: Path) -> None:
    digest = hashlib.sha256()
    size = 0
    with part.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
            size += len(block)
    if size != jar.size:
        raise _Wrong(f"{size} bytes instead of {jar.size}")
    if digest.hexdigest() != jar.sha256:
        raise _Wrong(f"SHA-256 {digest.hexdigest()[:16]}… instead of {jar.sha256[:16]}…")


def fetch(jars: Sequence[Jar], folder: Path, environ: Mapping[str, str]) -> None:
    """Download `jars` into `folder`; skip those that another process has downloaded meanwhile.

    Raises SetupError: no network, not in the repository, wrong checksum, no space, not writable.
    """
    source = repository(environ)
    with _alone(ensure_dir(folder)):
        missing = [jar for jar in jars if not jar.is_in(folder)]
        if not missing:
            return
        progress = _Progress(sum(j.size for j in missing), source.url, sys.stderr)
        with progress, ThreadPoolExecutor(len(missing)) as threads:
            tasks = [
                threads.submit(download, jar, folder / jar.name, source, on_bytes=progress.add)
                for jar in missing
            ]
            for task in tasks:
                task.result()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the download lock; it ends with the process."""
    lock = FileLock(folder / ".lock")
    try:
        lock.acquire()
    except OSError as error:
        raise not_writable(folder, error) from None
    try:
        yield
    finally:
        lock.release()


@final
class _Progress:
    """A progress line with the repository's name; on a terminal it also counts bytes."""

    def __init__(self, total: int, source: str, out: TextIO) -> None:
        self._total = total
        self._out = out
        self._came = 0
        self._text = f"Fetching jars ({total / 1e6:.1f} MB) from {source}"
        self._counts = out.isatty()
        self._lock = threading.Lock()

    def __enter__(self) -> _Progress:
        self._out.write(self._text + ("" if self._counts else "\n"))
        self._out.flush()
        return self

    def __exit__(self, *_: object) -> None:
        if self._counts:
            self._out.write("\n")
            self._out.flush()

    def add(self, count: int) -> None:
        """Count `count` further bytes."""
        with self._lock:
            self._came += count
            if self._counts:
                self._out.write(f"\r{self._text} {min(100, 100 * self._came // self._total)} %")
                self._out.flush()

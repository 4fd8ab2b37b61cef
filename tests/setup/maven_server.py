"""A Maven repository whose faults are part of the test data."""

from __future__ import annotations

import hashlib
import ssl
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import final

from lakeward.session.jvm.jars import Jar


@dataclass(frozen=True)
class Cut:
    """Send so many bytes of what was promised, then end the connection."""

    after: int


@dataclass(frozen=True)
class Status:
    """Answer with a status and nothing else."""

    code: int


@dataclass(frozen=True)
class Instead:
    """Serve other bytes, as if they were the file."""

    content: bytes


@dataclass(frozen=True)
class Hang:
    """Send so many bytes, then nothing, until `go` is set."""

    after: int
    go: threading.Event


Fault = Cut | Status | Instead | Hang


@final
@dataclass
class MavenServer:
    """Serves jars; each answer takes the next of `faults`, and `always` when they are used up."""

    faults: list[Fault] = field(default_factory=list)
    always: Fault | None = None
    with_ranges: bool = True
    certificate: tuple[Path, Path] | None = None
    files: dict[str, bytes] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def jar(self, content: bytes, artifact: str = "thing") -> Jar:
        """A jar of this repository."""
        jar = Jar("org.example", artifact, "1.0", len(content), hashlib.sha256(content).hexdigest())
        self.files[f"/maven2/{jar.path}"] = content
        return jar

    @property
    def url(self) -> str:
        scheme = "https" if self.certificate else "http"
        return f"{scheme}://127.0.0.1:{self._server.server_port}/maven2"

    def __enter__(self) -> MavenServer:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def encrypt(self, certificate: Path, key: Path) -> None:
        """Speak TLS from now on."""
        self.certificate = (certificate, key)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self._server.socket = context.wrap_socket(
            self._server.socket, server_side=True, do_handshake_on_connect=False
        )

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _handler(server: MavenServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.requests.append((self.path, dict(self.headers)))
            fault = server.faults.pop(0) if server.faults else server.always
            # A proxy gets requests with absolute URLs.
            path = "/" + self.path.split("/", 3)[3] if "://" in self.path else self.path
            content = server.files.get(path)
            if isinstance(fault, Instead):
                content = fault.content
            if isinstance(fault, Status) or content is None:
                self.send_response(fault.code if isinstance(fault, Status) else 404)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self._send(content, fault)

        def _send(self, content: bytes, fault: Fault | None) -> None:
            wanted = self.headers.get("Range")
            if wanted and server.with_ranges:
                start = int(wanted.removeprefix("bytes=").removesuffix("-"))
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
                content = content[start:]
            else:
                self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: fault.after] if isinstance(fault, Cut | Hang) else content)
            self.wfile.flush()
            if isinstance(fault, Hang):
                fault.go.wait(30)
            self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler

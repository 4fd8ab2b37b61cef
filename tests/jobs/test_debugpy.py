"""debugpy, the debugger of VS Code, stops in tasks and in their modules (docs/editors.md)."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.breakpoints import line_of
from tests.trees import write_files

# Not among the locked packages: the editor brings it.
pytest.importorskip("debugpy")
pytestmark = pytest.mark.process

FILES = {
    "databricks.yml": """
bundle: {name: b}
targets: {dev: {}}
resources:
  jobs:
    j:
      tasks:
        - {task_key: file, spark_python_task: {python_file: main.py, parameters: [seven]}}
""",
    "main.py": "import sys\nfrom helper import double\nword = double(sys.argv[1])\n",
    "helper.py": "def double(word):\n    twice = word * 2\n    return twice\n",
    "debugged.py": """
from pathlib import Path
from lakeward import jobs
from lakeward.bundle import load
from lakeward.session import Settings

here = Path(__file__).parent
options = jobs.RunOptions(provision=lambda bundle, settings: None)
bundle, settings = load(here, user="ann", environ={}), Settings.here(here, environ={})
run = jobs.run(bundle, "j", settings=settings, options=options)
print(run.state, run.tasks)
""",
}


class Client:
    """Speaks the Debug Adapter Protocol as an editor does."""

    def __init__(self, port: int) -> None:
        self.stream = _connected(port).makefile("rwb")
        self.number = 0

    def send(self, command: str, **arguments: Any) -> None:
        self.number += 1
        request = {"seq": self.number, "type": "request", "command": command, "arguments": arguments}
        body = json.dumps(request).encode()
        self.stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.stream.flush()

    def messages(self) -> Iterator[dict[str, Any]]:
        while header := self.stream.readline():
            self.stream.readline()
            yield json.loads(self.stream.read(int(header.split(b":")[1])))

    def until(self, kind: str, name: str) -> dict[str, Any]:
        for message in self.messages():
            if message["type"] == kind and name in (message.get("event"), message.get("command")):
                return message
            if message.get("event") == "terminated":
                break
        raise AssertionError(f"the debugger ended before {name}")


def _connected(port: int) -> socket.socket:
    for _ in range(300):
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=120)
        except OSError:
            time.sleep(0.2)
    raise AssertionError("debugpy does not listen")


def test_debugpy_stops_in_a_task_and_in_its_modules(tmp_path: Path) -> None:
    write_files(tmp_path, FILES)
    places = [("main.py", "word = double"), ("helper.py", "return twice")]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "debugpy", "--listen", f"127.0.0.1:{port}", "--wait-for-client"]
    process = subprocess.Popen(
        [*command, str(tmp_path / "debugged.py")], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    try:
        editor = Client(port)
        editor.send("initialize", adapterID="debugpy")
        editor.send("attach", justMyCode=True)
        editor.until("event", "initialized")
        for name, text in places:
            path = tmp_path / name
            editor.send(
                "setBreakpoints", source={"path": str(path)}, breakpoints=[{"line": line_of(path, text)}]
            )
        editor.send("configurationDone")
        stops = []
        for _ in places:
            thread = editor.until("event", "stopped")["body"]["threadId"]
            editor.send("stackTrace", threadId=thread, levels=1)
            [frame] = editor.until("response", "stackTrace")["body"]["stackFrames"]
            stops.append((Path(frame["source"]["path"]).name, frame["line"]))
            editor.send("continue", threadId=thread)
        editor.until("event", "terminated")
        # The adapter, which holds the streams of the process, waits for this.
        editor.send("disconnect")
        shown, _ = process.communicate(timeout=120)
    finally:
        process.kill()
    assert stops == [(name, line_of(tmp_path / name, text)) for name, text in places]
    assert shown.startswith("COMPLETED"), shown

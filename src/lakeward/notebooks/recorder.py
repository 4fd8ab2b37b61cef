"""Records the outputs of cells."""

from __future__ import annotations

import base64
import io
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal, TextIO

Output = dict[str, Any]
Bundle = dict[str, Any]
"""The representations of a value, by their types: text/plain, and others that it has."""

TEXT, HTML, PNG = "text/plain", "text/html", "image/png"


@dataclass
class CellRecord:
    """The record of a cell: its source and outputs."""

    number: int
    language: str
    source: str
    title: str = ""
    outputs: list[Output] = field(default_factory=list)
    state: Literal["COMPLETED", "FAILED", "SKIPPED"] = "SKIPPED"
    seconds: float = 0
    # Run once the notebook is over: streams that are shown grow until then.
    late: list[Callable[[], Output]] = field(default_factory=list)
    # The next output replaces the others.
    clears: bool = False

    def add(self, output: Output) -> None:
        """Add an output."""
        if self.clears:
            self.outputs.clear()
            self.clears = False
        self.outputs.append(output)


class Recorder:
    """Records the outputs of the running cell; text is also written to the real streams."""

    def __init__(self) -> None:
        self.cells: list[CellRecord] = []
        self.handles: dict[str, Output] = {}

    @property
    def current(self) -> CellRecord:
        return self.cells[-1]

    def show(self, bundle: Bundle, *, display_id: str | None = None) -> None:
        """Record a display output; `update` finds it by `display_id`."""
        output = display_data(bundle)
        if display_id is not None:
            self.handles[display_id] = output
        self.current.add(output)

    def update(self, bundle: Bundle, display_id: str) -> None:
        """Replace the representations of an output of the running cell; those of other cells stay."""
        output = self.handles.get(display_id)
        if output is not None and any(each is output for each in self.current.outputs):
            output["data"] = bundle

    def clear(self, *, wait: bool) -> None:
        """Remove the outputs of the running cell, with `wait` when the next output comes."""
        self.current.clears = wait
        if not wait:
            self.current.outputs.clear()

    def echo(self, text: str) -> None:
        """Print text that is already recorded."""
        stream = sys.stdout.stream if isinstance(sys.stdout, _Tee) else sys.stdout
        stream.write(f"{text}\n")

    def show_late(self, make: Callable[[], Output]) -> None:
        """Reserve an output that is created at the end of the notebook."""
        self.current.late.append(make)

    def finish(self) -> None:
        """Create and print the reserved outputs."""
        for cell in self.cells:
            for output in (make() for make in cell.late):
                cell.outputs.append(output)
                self.echo(f"cell {cell.number} · displayed stream\n{output['data'][TEXT]}")
            cell.late.clear()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Record what the body prints in the current cell."""
        token = _own.set(self)
        with _lock:
            if not _open:
                _streams.enter_context(redirect_stdout(_Tee("stdout", sys.stdout)))
                _streams.enter_context(redirect_stderr(_Tee("stderr", sys.stderr)))
            _open.append(self)
        try:
            yield
        finally:
            with _lock:
                _open.remove(self)
                if not _open:
                    _streams.close()
            _own.reset(token)

    def figures(self) -> None:
        """Record the open figures of matplotlib."""
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is None:
            return
        for number in pyplot.get_fignums():
            picture = io.BytesIO()
            pyplot.figure(number).savefig(picture, format="png", bbox_inches="tight")
            self.show({PNG: base64.b64encode(picture.getvalue()).decode(), TEXT: "<Figure>"})
        pyplot.close("all")


def display_data(bundle: Bundle) -> Output:
    """Return a `display_data` output."""
    return {"output_type": "display_data", "data": bundle, "metadata": {}}


# Notebooks may run in several threads at once, but a process has one standard output: one stream in its place
# serves them all, from the first notebook's begin to the last one's end. Each thread of
# `dbutils.notebook.run` has a recorder; threads that the user's code starts write to the innermost one.
_own: ContextVar[Recorder | None] = ContextVar("lakeward_recorder", default=None)
_open: list[Recorder] = []
_streams = ExitStack()
_lock = threading.RLock()


class _Tee(io.TextIOBase):
    """Writes to the real stream, and to the running cell of the notebook whose thread writes."""

    def __init__(self, name: str, stream: TextIO) -> None:
        self.name, self.stream = name, stream

    def write(self, text: str) -> int:
        with _lock:
            recorder = _own.get() or (_open[-1] if _open else None)
            if recorder is not None and recorder.cells:
                self._record(text, recorder.current)
        self.stream.write(text)
        return len(text)

    def _record(self, text: str, cell: CellRecord) -> None:
        if cell.outputs and cell.outputs[-1].get("name") == self.name and not cell.clears:
            cell.outputs[-1]["text"] += text
        else:
            cell.add({"output_type": "stream", "name": self.name, "text": text})

    def flush(self) -> None:
        self.stream.flush()

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False

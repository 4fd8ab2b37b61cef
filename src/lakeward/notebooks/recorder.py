"""Records the outputs of cells."""

from __future__ import annotations

import base64
import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from typing import Any, Literal, TextIO

Output = dict[str, Any]


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


class Recorder:
    """Records the outputs of the running cell; text is also written to the real streams."""

    def __init__(self) -> None:
        self.cells: list[CellRecord] = []
        self._stdout = sys.stdout

    @property
    def current(self) -> CellRecord:
        return self.cells[-1]

    def show(self, **mimes: str) -> None:
        """Record a display output: `text`, `html` or `png` (base64)."""
        self.current.outputs.append(display_data(**mimes))

    def echo(self, text: str) -> None:
        """Print text that is already recorded."""
        self._stdout.write(f"{text}\n")

    def show_late(self, make: Callable[[], Output]) -> None:
        """Reserve an output that is created at the end of the notebook."""
        self.current.late.append(make)

    def finish(self) -> None:
        """Create the reserved outputs."""
        for cell in self.cells:
            cell.outputs += [make() for make in cell.late]
            cell.late.clear()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Record what the body prints in the current cell."""
        self._stdout = sys.stdout
        with (
            redirect_stdout(_Tee("stdout", sys.stdout, self)),
            redirect_stderr(_Tee("stderr", sys.stderr, self)),
        ):
            yield

    def figures(self) -> None:
        """Record the open figures of matplotlib."""
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is None:
            return
        for number in pyplot.get_fignums():
            picture = io.BytesIO()
            pyplot.figure(number).savefig(picture, format="png", bbox_inches="tight")
            self.show(png=base64.b64encode(picture.getvalue()).decode(), text="<Figure>")
        pyplot.close("all")


def display_data(*, text: str = "", html: str | None = None, png: str | None = None) -> Output:
    """Return a `display_data` output."""
    data = {"text/plain": text}
    if html is not None:
        data["text/html"] = html
    if png is not None:
        data["image/png"] = png
    return {"output_type": "display_data", "data": data, "metadata": {}}


class _Tee(io.TextIOBase):
    def __init__(self, name: str, stream: TextIO, recorder: Recorder) -> None:
        self.name, self.stream, self.recorder = name, stream, recorder

    def write(self, text: str) -> int:
        outputs = self.recorder.current.outputs
        if outputs and outputs[-1].get("name") == self.name:
            outputs[-1]["text"] += text
        else:
            outputs.append({"output_type": "stream", "name": self.name, "text": text})
        self.stream.write(text)
        return len(text)

    def flush(self) -> None:
        self.stream.flush()

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False

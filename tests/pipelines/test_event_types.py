"""The specification lists the types of the events that an update writes (SDP-5.2)."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REPORTER = ROOT / "src/lakeward/pipelines/events/progress_reporter.py"


def test_every_event_type_is_in_the_specification() -> None:
    calls = (
        node
        for node in ast.walk(ast.parse(REPORTER.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    )
    written = {
        ast.literal_eval(call.args[0])
        for call in calls
        if isinstance(call.func, ast.Attribute)
        and ast.unparse(call.func) == "self.events.add"
        and isinstance(call.args[0], ast.Constant)
    }
    page = (ROOT / "docs/spec/pipelines.md").read_text(encoding="utf-8")
    (rule,) = (line for line in page.splitlines() if 'id="SDP-5.2"' in line)
    assert written, "the reporter writes its events with `self.events.add`"
    assert written - set(re.findall(r"`(\w+)`", rule)) == set()

"""Events of an update show no secret of its configuration and its plans."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

from lakeward.dbutils import record_secret
from lakeward.pipelines.events.progress_reporter import ProgressReporter
from lakeward.pipelines.graph.elements import Sink

SECRET = "Aq7a & \" ' \\ Zq9z"


class Events:
    """Keeps what would be written to the event log."""

    def __init__(self) -> None:
        self.added: list[Any] = []
        self.origin = SimpleNamespace(update_id="1234567890", user="ada")
        self.on_event: Any = None

    def add(self, *values: Any, **more: Any) -> None:
        self.added.append([values, more])


def test_configuration_plans_and_options_of_sinks_are_redacted() -> None:
    record_secret(SECRET.encode())
    events = Events()
    reporter = ProgressReporter(events, None)  # type: ignore[arg-type]  # only `add` is used
    reporter.update_created({"my.password": SECRET, "other": "x"}, "4.2.0", "USER_ACTION")
    planned = SimpleNamespace(
        dataset=SimpleNamespace(
            key=("out",),
            flows=[SimpleNamespace(name="f")],
            sink=Sink("kafka", {"kafka.sasl.jaas.config": f"password={SECRET}", "topic": "t"}),
        ),
        kind="sink",
        schema=SimpleNamespace(jsonValue=lambda: {"fields": []}),
        direct_inputs={},
        query_plans={"f": f"Project [length({SECRET})]"},
        lineage={},
    )
    reporter.graph_defined(SimpleNamespace(datasets={"out": planned}))  # type: ignore[arg-type]  # as above
    text = json.dumps(events.added, default=str)
    assert "Project [length([REDACTED])]" in text
    assert '"my.password": "[REDACTED]", "other": "x"' in text
    assert '"kafka.sasl.jaas.config": "password=[REDACTED]", "topic": "t"' in text
    assert not [mark for mark in ("Aq7a", "Zq9z") if mark in text]

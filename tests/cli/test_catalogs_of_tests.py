"""`lakeward test --catalog`: the catalogs that the process of pytest gets."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from lakeward import environments
from lakeward.cli import test as command


@pytest.mark.parametrize(
    ("known", "options", "expected"),
    [
        (None, (), None),
        ("dev", (), "dev"),
        (None, ("prod",), "prod"),
        (None, ("prod", "own"), "prod,own"),
        ("dev", ("prod", "own"), "dev,prod,own"),
    ],
)
def test_catalogs_of_the_command_line_are_added_to_those_of_the_variable(
    monkeypatch: pytest.MonkeyPatch, known: str | None, options: tuple[str, ...], expected: str | None
) -> None:
    variables = {} if known is None else {"LAKEWARD_CATALOGS": known}
    environment = SimpleNamespace(
        made=True,
        hold=lambda: None,
        command=lambda *arguments: ["pytest", *arguments],
        environ=lambda: dict(variables),
    )
    monkeypatch.setattr(environments, "prepare_environment", lambda *_, **__: environment, raising=False)
    started: list[Any] = []
    monkeypatch.setattr("os.execve", lambda *arguments: started.append(arguments))
    words = [word for name in options for word in ("--catalog", name)]
    CliRunner().invoke(command.test, [*words, "-q"], catch_exceptions=False)
    ((_, arguments, environ),) = started
    assert arguments == ["pytest", "-q"]
    assert environ.get("LAKEWARD_CATALOGS") == expected

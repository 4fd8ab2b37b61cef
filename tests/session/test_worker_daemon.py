"""Workers of a cancelled task end quietly; any other error that ends one is printed."""

from __future__ import annotations

import traceback

import pytest
from pyspark import daemon

from lakeward.session.worker_daemon import hide_closed_connections

_QUIET = (BrokenPipeError, ConnectionResetError, EOFError, KeyboardInterrupt)


@pytest.mark.parametrize("error", [*_QUIET, ValueError, OSError, SystemExit])
def test_closed_connections_alone_are_not_printed(
    error: type[BaseException], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daemon, "traceback", traceback)
    hide_closed_connections()
    assert daemon.traceback.format_exc is traceback.format_exc
    try:
        raise error
    except BaseException:  # noqa: BLE001  # as in the daemon
        daemon.traceback.print_exc()
    assert ("Traceback" in capsys.readouterr().err) == (error not in _QUIET)

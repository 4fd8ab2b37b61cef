"""Large answers of the JVM are sent at once, not when Python has acknowledged their beginning."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.processes import environ_without, outcome

PROGRAM = """
from threading import Thread
from lakeward.session import Settings
from lakeward.session.spark_context import start_jvm

gateway = start_jvm(Settings.here(environ={}))

def ask():
    client = gateway.java_gateway_server.getCallbackClient()
    print(client.getPerThreadConnection().getSocket().getTcpNoDelay(), flush=True)

ask()
other = Thread(target=ask)
other.start()
other.join()
"""


@pytest.mark.process
def test_the_connection_of_each_thread_sends_at_once(tmp_path: Path) -> None:
    """Without a session, whose callbacks hide the connections."""
    env = environ_without("LAKEWARD_") | {"LAKEWARD_DAEMON": "0"}
    ran = outcome([sys.executable, "-c", PROGRAM], cwd=tmp_path, env=env)
    assert ran.stdout.split() == ["True", "True"], ran.stderr

"""Execution contexts: a process each, whose state lasts from command to command.

server ── {"id", "language", "command"} ──> process ── {"id", "results"} ──> server
"""

from __future__ import annotations

import secrets
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lakeward.session import Settings
from lakeward.workspace.process_channel import Message, ProcessChannel
from lakeward.workspace.state.settings_json import settings_to_json

MAX_CONTEXTS = 20
"""Each is a process; the platform allows 150 a cluster."""
MAX_COMMANDS = 1_000
"""Commands whose results a context keeps."""
_GRACE = 5.0  # seconds from cancelling a command to ending its process
_ENDED = ("Finished", "Error", "Cancelled")


@dataclass
class Command:
    """One command and, once it has ended, its results."""

    command_id: str
    status: str = "Queued"
    results: dict[str, Any] | None = None


@dataclass
class Context:
    """One execution context."""

    context_id: str
    cluster_id: str
    language: str
    user: str
    channel: ProcessChannel
    status: str = "Pending"
    commands: dict[str, Command] = field(default_factory=dict)


class Contexts:
    """All execution contexts of a server. Thread-safe."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self._settings, self._folder = settings, folder
        self._lock = threading.Lock()
        self._contexts: dict[str, Context] = {}

    def create(
        self, cluster: Mapping[str, Any], language: str, user: str, packages: Sequence[str] = ()
    ) -> Context | None:
        """Start a context with the Python packages of its cluster; None where there are too many."""
        with self._lock:
            if len(self._contexts) >= MAX_CONTEXTS:
                return None
            context_id = str(secrets.randbelow(2**53))
            channel = self._open(
                lambda answer: self._receive(context, answer), lambda code: self._exited(context, code)
            )
            context = Context(context_id, str(cluster["cluster_id"]), language, user, channel)
            self._contexts[context_id] = context
        order = {
            "settings": settings_to_json(self._settings),
            "cluster": {name: cluster.get(name) for name in _CONF},
            "packages": list(packages),
        }
        channel.start()
        channel.send(order)
        return context

    def get(self, context_id: str) -> Context | None:
        """Return a context, None for an unknown id."""
        with self._lock:
            return self._contexts.get(context_id)

    def execute(self, context: Context, language: str, text: str) -> Command:
        """Queue a command behind those that the context has."""
        command = Command(secrets.token_hex(16))
        with self._lock:
            while len(context.commands) >= MAX_COMMANDS:
                context.commands.pop(next(iter(context.commands)))
            context.commands[command.command_id] = command
            if context.status == "Error":
                _fail(command, "The execution context has ended: create another one.")
                return command
            if not any(each.status in ("Running", "Cancelling") for each in context.commands.values()):
                command.status = "Running"
        order = {"id": command.command_id, "language": language, "command": text}
        context.channel.send(order)
        return command

    def cancel(self, context: Context, command: Command) -> None:
        """Cancel a command; one that does not stop loses its context."""
        with self._lock:
            if command.status in _ENDED:
                return
            command.status = "Cancelling"
        threading.Thread(target=_interrupt, args=(context, command), daemon=True).start()

    def destroy(self, context: Context) -> None:
        """End a context and its process."""
        with self._lock:
            self._contexts.pop(context.context_id, None)
        context.channel.kill()

    def end_of_cluster(self, cluster_id: str) -> None:
        """End all contexts of a cluster."""
        with self._lock:
            found = [each for each in self._contexts.values() if each.cluster_id == cluster_id]
        for each in found:
            self.destroy(each)

    def close(self) -> None:
        """End all contexts."""
        with self._lock:
            found = list(self._contexts.values())
        for each in found:
            self.destroy(each)

    def _open(self, on_message: Callable[[Message], None], on_exit: Callable[[int], None]) -> ProcessChannel:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return ProcessChannel(
            [sys.executable, "-m", "lakeward.workspace.command_contexts.command_process"],
            environ={"LAKEWARD_HOME": str(self._settings.home)},
            log=self._folder / "commands.log",
            on_message=on_message,
            on_exit=on_exit,
        )

    def _receive(self, context: Context, answer: Message) -> None:
        with self._lock:
            if "ready" in answer:
                context.status = "Running"
            else:
                _finish(context, answer)

    def _exited(self, context: Context, code: int) -> None:
        with self._lock:
            context.status = "Error"
            for command in context.commands.values():
                if command.status == "Cancelling":
                    command.status = "Cancelled"
                elif command.status not in _ENDED:
                    _fail(command, f"The process of the execution context ended with {code}.")


_CONF = ("spark_conf", "spark_env_vars")


def _interrupt(context: Context, command: Command) -> None:
    """Interrupt a command until it ends; end its process after the grace period.

    One signal is not enough: it may arrive before the process has begun with the command.
    """
    end = time.monotonic() + _GRACE
    while command.status == "Cancelling" and time.monotonic() < end:
        context.channel.interrupt()
        time.sleep(0.3)
    if command.status == "Cancelling":
        context.channel.kill()


def _finish(context: Context, answer: Mapping[str, Any]) -> None:
    command = context.commands.get(answer["id"])
    if command is not None:
        command.results = dict(answer["results"])
        command.status = "Cancelled" if command.status == "Cancelling" else "Finished"
    following = next((each for each in context.commands.values() if each.status == "Queued"), None)
    if following is not None:
        following.status = "Running"


def _fail(command: Command, reason: str) -> None:
    command.status = "Error"
    command.results = {"resultType": "error", "summary": reason, "cause": reason}

"""End a process together with everything that it started, in whatever session or process group.

A process group is left with `setsid`, and a daemon loses its parent. Three mechanisms find those processes:

- On Linux a root process adopts the orphans below it (`PR_SET_CHILD_SUBREAPER`), so the tree of parents stays
  complete while the root lives.
- A mark in the environment is inherited by all descendants. It finds them after the root has died
  (Linux: `/proc/PID/environ`).
- Elsewhere the process group and the tree of parents that `ps` shows are used: best effort, since a daemon
  that has left both cannot be found.

The daemon is shared between runs, so it is spared with all processes below it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

RUN_MARK = "LAKEWARD_RUN_MARK"
"""The environment variable that marks the processes of one run or pipeline update."""
TASK_MARK = "LAKEWARD_TASK_MARK"
"""The environment variable that marks the processes of one attempt at a task."""

_PR_SET_CHILD_SUBREAPER = 36
_DAEMON = b"-Dlakeward.daemon="
# A process may fork while it is being killed: the tree is read again until nothing is left in it.
_ROUNDS, _PAUSE = 100, 0.005


@dataclass(frozen=True)
class _Process:
    pid: int
    parent: int
    session: int
    is_zombie: bool


def adopt_orphans() -> bool:
    """Become the parent of every descendant whose own parent dies; False where the system cannot do that."""
    if sys.platform != "linux":
        return False
    import ctypes

    return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


def kill_tree(root: int, mark: tuple[str, str] | None = None) -> None:
    """Kill `root`, its process group and all its descendants; `mark` is a variable of theirs and its value.

    The root is alive, or has not been waited for. A process may name itself: it is killed last.
    """
    if root != os.getpid():
        # Stopped, it starts nothing more, and still adopts what loses its parent.
        _signal(root, signal.SIGSTOP)
    _kill_all(root, mark)
    _kill_group(root)
    _signal(root, signal.SIGKILL)


def kill_left(root: int, mark: tuple[str, str], *, all_sessions: bool = True) -> None:
    """Kill what `root`, which has ended, left behind.

    Without `all_sessions` processes in its own session are spared: a JVM removes its temporary files when
    its parent ends.
    """
    if all_sessions:
        _kill_group(root)
    _kill_all(None, mark, spared_session=None if all_sessions else root)


def kill_detached() -> None:
    """Kill the descendants of this process that have left its session."""
    _kill_all(os.getpid(), None, spared_session=os.getsid(0))


def signal_name(number: int) -> str:
    """Return the name of a signal; most real-time signals have none of their own.

    >>> signal_name(9), signal_name(1000)
    ('SIGKILL', 'signal 1000')
    """
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _kill_all(root: int | None, mark: tuple[str, str] | None, spared_session: int | None = None) -> None:
    for _ in range(_ROUNDS):
        processes = {process.pid: process for process in _processes()}
        found = set(_descendants(root, processes)) if root is not None else set()
        found |= set(_marked(*mark, processes)) if mark is not None else set()
        found -= {root, os.getpid()}
        left = [
            pid for pid in found if not processes[pid].is_zombie and processes[pid].session != spared_session
        ]
        if not left:
            return
        for pid in left:
            _signal(pid, signal.SIGKILL)
        time.sleep(_PAUSE)


def _descendants(root: int, processes: Mapping[int, _Process]) -> Iterator[int]:
    """Yield the processes below `root`, without the daemon and what is below it."""
    children: dict[int, list[int]] = {}
    for process in processes.values():
        children.setdefault(process.parent, []).append(process.pid)
    waiting = [root]
    while waiting:
        for pid in children.get(waiting.pop(), ()):
            if not _is_daemon(pid):
                waiting.append(pid)
                yield pid


def _marked(variable: str, value: str, processes: Iterable[int]) -> Iterator[int]:
    entry = f"{variable}={value}".encode()
    for pid in processes:
        # Another user's process cannot be read; it does not belong to this run.
        with suppress(OSError):
            environ = Path(f"/proc/{pid}/environ").read_bytes()
            if entry in environ.split(b"\0") and not _is_daemon(pid):
                yield pid


def _is_daemon(pid: int) -> bool:
    if Path("/proc/self/cmdline").exists():
        with suppress(OSError):
            return _DAEMON in Path(f"/proc/{pid}/cmdline").read_bytes()
        return False
    return _DAEMON.decode() in _ps("-ww", "-o", "command=", "-p", str(pid))


def _processes() -> Iterator[_Process]:
    if not Path("/proc/self/stat").exists():
        yield from _listed_by_ps()
        return
    for place in Path("/proc").iterdir():
        name = place.name
        if name.isdecimal():
            # It may have ended meanwhile.
            with suppress(OSError, ValueError):
                stat = Path(f"/proc/{name}/stat").read_bytes()
                # The name of the command, in parentheses, may contain anything.
                state, parent, _, session = stat[stat.rindex(b")") + 2 :].split()[:4]
                yield _Process(int(name), int(parent), int(session), state in (b"Z", b"X"))


def _listed_by_ps() -> Iterator[_Process]:
    # The group serves as the session: `ps` shows no usable number of it everywhere.
    for line in _ps("-axo", "pid=,ppid=,pgid=,stat=").splitlines():
        pid, parent, group, state = line.split(maxsplit=3)
        yield _Process(int(pid), int(parent), int(group), state.startswith("Z"))


def _ps(*options: str) -> str:
    try:
        listed = subprocess.run(["ps", *options], capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return listed.stdout


def _kill_group(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)

"""Updates of pipeline tasks, which their pipelines list as their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakeward.workspace.runs.update_recorder import UpdateRecorder
from lakeward.workspace.state.store import Store


class TaskUpdates:
    """The updates of one run, by the task that makes them."""

    def __init__(self, store: Store, run_id: int) -> None:
        self._store, self._run_id = store, run_id
        self._open: dict[tuple[str, str], UpdateRecorder] = {}

    def on_event(self, task: str, pipeline_id: str, progress: Mapping[str, Any]) -> None:
        """A step of the update that `task` makes of a pipeline; the first one begins it."""
        recording = self._open.get((task, pipeline_id))
        if recording is None:
            pipeline = self._store.get("pipeline", pipeline_id)
            if pipeline is None:  # deleted meanwhile
                return
            _, recording = UpdateRecorder.begin(
                self._store, pipeline, cause="JOB_TASK", job_run_id=self._run_id
            )
            recording.started()
            self._open[task, pipeline_id] = recording
        recording.on_event(progress)

    def task_changed(self, task: str, state: str, update: Mapping[str, Any] | None) -> None:
        """Close the updates of a task that has started again or ended; `update` is the result of its own."""
        how = "is tried again" if state == "RUNNING" else f"ended as {state}"
        self._close(task, update or {}, canceled=state == "CANCELED", reason=f"The task {task} {how}.")

    def close(self, *, canceled: bool, reason: str) -> None:
        """The run is over."""
        for task in {task for task, _ in self._open}:
            self._close(task, {}, canceled=canceled, reason=reason)

    def _close(self, task: str, update: Mapping[str, Any], *, canceled: bool, reason: str) -> None:
        for key in [key for key in self._open if key[0] == task]:
            self._open.pop(key).ended(update, canceled=canceled, reason=reason)

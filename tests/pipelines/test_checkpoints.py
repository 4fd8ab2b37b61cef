"""A full refresh survives a kill at any of its steps: no row lost, none twice. It takes no Spark to see."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.errors import PipelineError
from lakeward.pipelines.execution.update_context import update_lock
from lakeward.pipelines.storage.checkpoints import Checkpoints

TABLE = ("main", "default", "t")


class Story:
    """A table and its one stream, reduced to the order of their writes; the source has 3 rows."""

    def __init__(self, storage: Path) -> None:
        self.checkpoints = Checkpoints(storage)
        self.rows = 0

    def update(self) -> None:
        if self.checkpoints.is_resetting(TABLE):
            self.reset(steps=3)
        offset = self.checkpoints.current(TABLE, "t") / "offset"
        if not offset.exists():
            offset.parent.mkdir(parents=True, exist_ok=True)
            self.rows += 3
            offset.touch()

    def reset(self, steps: int) -> None:
        if steps > 0:
            self.checkpoints.begin_reset(TABLE, ["t"])
        if steps > 1:
            self.rows = 0
        if steps > 2:
            self.checkpoints.finish_reset(TABLE)


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
@pytest.mark.parametrize("again", [0, 1, 2, 3])
def test_a_reset_cut_off_after_any_step_ends_well(tmp_path: Path, steps: int, again: int) -> None:
    story = Story(tmp_path)
    story.update()
    story.reset(steps)
    if story.checkpoints.is_resetting(TABLE):
        story.reset(again)
    story.update()
    assert story.rows == 3
    story.update()
    assert story.rows == 3 and not story.checkpoints.is_resetting(TABLE)


def test_a_reset_numbers_the_checkpoints_of_flows_that_are_gone_too(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    old = checkpoints.current(TABLE, "renamed")
    (old / "offsets").mkdir(parents=True)
    checkpoints.begin_reset(TABLE, ["new"])
    checkpoints.finish_reset(TABLE)
    assert checkpoints.current(TABLE, "renamed") == old.with_name("1")
    assert checkpoints.current(TABLE, "New").parts[-3:] == ("main.default.t", "new", "1")


def test_a_reset_deletes_what_former_checkpoints_hold_also_after_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoints = Checkpoints(tmp_path)
    auxiliary = checkpoints.auxiliary_table(TABLE)
    for folder in (auxiliary, checkpoints.current(TABLE, "t") / "state" / "0"):
        folder.mkdir(parents=True)
        (folder / "rows").write_text("Zoë Canary")
    auxiliary.with_name("0.carried").write_text("sequence")
    checkpoints.begin_reset(TABLE, ["t"])
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", killed)
        with pytest.raises(KeyboardInterrupt):
            checkpoints.finish_reset(TABLE)
    assert checkpoints.is_resetting(TABLE)
    checkpoints.finish_reset(TABLE)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert checkpoints.auxiliary_table(TABLE) == auxiliary.with_name("1")

    state = checkpoints.current(TABLE, "t") / "state"
    state.mkdir()
    checkpoints.restart(TABLE, "t")
    assert not state.exists() and checkpoints.current(TABLE, "t").name == "2"


def killed(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_names_become_single_folders(tmp_path: Path) -> None:
    place = Checkpoints(tmp_path).current(("main", "odd/schema", "täble"), "../flow")
    assert (
        place.relative_to(tmp_path).parts[0] == "checkpoints" and len(place.relative_to(tmp_path).parts) == 4
    )


def test_a_second_update_of_one_pipeline_is_refused(tmp_path: Path) -> None:
    with update_lock(tmp_path, "p"), pytest.raises(PipelineError, match="`p` is being updated by process"):  # noqa: SIM117
        with update_lock(tmp_path, "p"):
            pass
    with update_lock(tmp_path, "p"):
        pass

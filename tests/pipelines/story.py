"""A process that updates one pipeline, for tests that stop it: `story.py FOLDER [--full]`."""

from __future__ import annotations

import sys
from pathlib import Path

from lakeward import pipelines
from lakeward.session import Settings, session


def main(folder: Path, full: bool) -> int:
    settings = Settings.here(folder, environ={})
    update = pipelines.run(
        [folder / "files"],
        pipelines.UpdateOptions(
            name="story",
            storage=folder / "storage",
            full_refresh_all=full,
            on_event=lambda progress: print(progress.dataset, progress.state, flush=True),
        ),
        session=session(settings),
        settings=settings,
    )
    print("ENDED", update.state, update.error or "", flush=True)
    return {"COMPLETED": 0, "FAILED": 1, "CANCELED": 130}[update.state]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), "--full" in sys.argv))

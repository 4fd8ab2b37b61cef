"""A debugger stops in tasks, at the file and line that an editor shows (docs/editors.md)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.breakpoints import Breakpoints

from lakeward.jobs import JobRun

JOB = """
tasks:
  - task_key: file
    spark_python_task: {python_file: main.py, parameters: [seven]}
"""
FILES = {
    "main.py": "import sys\nfrom helper import double\nword = double(sys.argv[1])\n",
    "helper.py": "def double(word):\n    twice = word * 2\n    return twice\n",
}


def test_breakpoints_in_a_task_and_in_its_modules_are_met(
    run_job: Callable[..., JobRun], job_of: Callable[..., object], tmp_path: Path
) -> None:
    job_of(JOB, FILES)
    places = (tmp_path / "main.py", "word = double"), (tmp_path / "helper.py", "return twice")
    with Breakpoints(*places) as debugger:
        run = run_job(JOB, FILES)
    assert run.state == "COMPLETED", run
    assert [(file, line) for file, line, _ in debugger.stops] == [("main.py", 3), ("helper.py", 3)]
    assert debugger.stops[1][2]["twice"] == "sevenseven"

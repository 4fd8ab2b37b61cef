"""`python -m benchmarks [GLOB]…`: results on stdout, everything else on stderr.

Exit code 0: all cases were measured; 1: one could not be; 2: no case has such a name.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import measure
from benchmarks.registry import load_cases, matching
from benchmarks.report import as_json, line

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the cases that the arguments name and print a line for each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "globs", nargs="*", metavar="GLOB", help="cases to run, as 'autoloader.*'; default: all"
    )
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each side that count (default: 3)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line, with every round")
    options = parser.parse_args(argv)
    if options.rounds < 1:
        parser.error("--rounds needs at least 1.")
    cases = load_cases()
    chosen = matching(cases, options.globs)
    if not chosen:
        print(f"No case matches {' '.join(options.globs)}. There are: {', '.join(cases)}.", file=sys.stderr)
        return 2
    failed = False
    for case in chosen:
        print(f"{case.name} …", file=sys.stderr, flush=True)
        try:
            with (
                tempfile.TemporaryDirectory(prefix="benchmark-") as folder,
                case.setup(Path(folder)) as sides,
            ):
                measured = measure(sides, rounds=options.rounds, warmups=case.warmups)
                figures = sides.figures()
        except Exception:  # noqa: BLE001  # one case that fails must not take the results of the others
            traceback.print_exc()
            failed = True
            continue
        told = as_json if options.json else line
        result = told(case, measured, figures)
        print(result if isinstance(result, str) else json.dumps(result), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

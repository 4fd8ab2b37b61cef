"""`python -m lakeward` is the command `lakeward`."""

from __future__ import annotations

import sys

from lakeward.cli import main

if __name__ == "__main__":
    sys.exit(main())

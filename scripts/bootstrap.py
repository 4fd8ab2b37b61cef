"""Set-up from nothing but Python: finds one that is new enough and hands over to environment.py.

This file runs on any Python 3, to say which one is needed, so it uses nothing newer than 3.0.
"""

import os
import subprocess
import sys

OLDEST = (3, 10)
# Newest of those that are tested first; python3 itself goes before them.
OTHERS = ("python3.13", "python3.12", "python3.11", "python3.10", "python3.14")
PROBE = "import sys, venv, ensurepip; sys.exit(0 if sys.version_info[:2] >= (3, 10) else 3)"


def missing_here() -> str:
    """Return what this Python lacks, or an empty text."""
    if sys.version_info[:2] < OLDEST:
        return "python3 is version {}.{}".format(*sys.version_info[:2])
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        return "its Python {}.{} lacks the module venv".format(*sys.version_info[:2])
    return ""


def other_python():  # type: ignore[no-untyped-def]  # a union has no spelling that old
    """Return the first suitable Python on PATH, or None."""
    for name in OTHERS:
        try:
            with open(os.devnull, "w") as nothing:
                code = subprocess.call([name, "-S", "-c", PROBE], stdout=nothing, stderr=nothing)
        except OSError:
            continue
        if code == 0:
            return name
    return None


def main() -> int:
    """Set up for the level named on the command line: runtime (default), dev or bench."""
    lack = missing_here()
    if lack:
        other = other_python()  # type: ignore[no-untyped-call]
        if other is not None:
            os.execvp(other, [other, "-S", os.path.abspath(__file__)] + sys.argv[1:])
        cure = "Install Python 3.10 or newer."
        if "venv" in lack:
            cure = "Install it: on Debian and Ubuntu with `apt install python{}.{}-venv`.".format(
                *sys.version_info[:2]
            )
        sys.stderr.write(
            "lakeward needs Python >= 3.10 with the module venv, but {}. {}\n".format(lack, cure)
        )
        return 2
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import environment

    return environment.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())

"""Build the documentation site into build/site: `make site`. Every warning is an error, as a broken link.

The generator has an environment of its own in build/site-env, made again when its lock file changes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements" / "site.lock"


def main() -> int:
    """Build the site and return Sphinx's exit code."""
    python = environment(ROOT / "build" / "site-env")
    out = ROOT / "build" / "site"
    shutil.rmtree(out, ignore_errors=True)
    command = [str(python), "-m", "sphinx", "-W", "--keep-going", "-q", "-j", "auto", "-b", "dirhtml"]
    done = subprocess.run([*command, str(ROOT / "docs"), str(out)], cwd=ROOT, check=False)
    if done.returncode == 0:
        print(out.relative_to(ROOT) / "index.html")
    return done.returncode


def environment(folder: Path) -> Path:
    """Return the Python of an environment with the locked packages; it is made on first use."""
    stamp, digest = folder / "lock", hashlib.sha256(LOCK.read_bytes()).hexdigest()
    python = folder / "bin" / "python"
    if not (stamp.is_file() and stamp.read_text() == digest and os.access(python, os.X_OK)):
        venv.create(folder, clear=True, with_pip=True, symlinks=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(LOCK)]
        subprocess.run(install, check=True)
        stamp.write_text(digest)
    return python


if __name__ == "__main__":
    sys.exit(main())

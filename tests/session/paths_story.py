"""What users do with files below `/Volumes`, in the standard library alone: run by every Python there is.

`python paths_story.py SRC FOLDER` maps `/Volumes` to FOLDER/volumes and fails on the first broken promise.
"""

import functools
import glob
import gzip
import importlib.util
import os
import pathlib
import runpy
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from os import listdir, stat

sys.path.insert(0, sys.argv[1])
BASE = sys.argv[2]

from lakeward.session import path_redirection  # noqa: E402
from lakeward.session.paths import PathMap  # noqa: E402

for folder in ("volumes/c/s/v", "workspace", "dbfs"):
    os.makedirs(f"{BASE}/{folder}")
plain = {name: getattr(os, name) for name in ("stat", "listdir", "scandir", "open", "getcwd")}
sys.path.append("/Workspace/lib")
assert importlib.util.find_spec("package") is None
path_redirection.install(
    PathMap(tuple((f"/{n}", f"{BASE}/{n.lower()}") for n in ("Volumes", "Workspace", "dbfs")))
)

# os and open: the user's names in results and errors
os.makedirs("/Volumes/c/s/v/deep")
# A folder above volumes would be a catalog, a schema or a volume that nothing has declared.
for make in (
    os.mkdir,
    os.makedirs,
    lambda p: pathlib.Path(p).mkdir(parents=True),
    lambda p: os.mkdir(path=p),
):
    for path in ("/Volumes/none", "/Volumes/c/none", "/Volumes/c/s/none", "/Volumes/c/s/none/x"):
        try:
            make(path)
        except FileNotFoundError as error:
            assert error.filename and path.startswith(error.filename), error.filename
        else:
            raise AssertionError(path)
# Catalog, schema and volume are names of Unity Catalog, whose case does not count.
os.makedirs("/Volumes/C/S/V/Other")
assert os.listdir(f"{BASE}/volumes") == ["c"]
assert sorted(os.listdir("/Volumes/c/s/v")) == ["Other", "deep"]
shutil.rmtree("/Volumes/C/s/V/Other")
with open("/Volumes/c/s/v/a.txt", "w", encoding="utf-8") as out:
    out.write("hello")
with open("/Volumes/c/s/v/a.txt", "rb", buffering=0) as raw:
    assert raw.name == "/Volumes/c/s/v/a.txt"
    assert raw.read() == b"hello"
with open(b"/Volumes/c/s/v/a.txt", opener=os.open) as file:
    assert file.read() == "hello"
assert oct(os.stat("/Volumes/c/s/v/a.txt").st_mode & 0o111) == "0o0"
assert os.path.getsize(f"{BASE}/volumes/c/s/v/a.txt") == 5
assert os.listdir("/Volumes/c/s/v") == listdir("/Volumes/c/s/v")
assert stat("/Volumes/c/s/v/a.txt").st_size == 5
assert sorted(os.listdir(b"/Volumes/c/s/v")) == [b"a.txt", b"deep"]
assert [e.path for e in os.scandir("/Volumes/c/s")] == ["/Volumes/c/s/v"]
assert [e.path for e in os.scandir(b"/Volumes/c/s")] == [b"/Volumes/c/s/v"]
assert [root for root, _, _ in os.walk("/Volumes/c/s")] == [
    "/Volumes/c/s",
    "/Volumes/c/s/v",
    "/Volumes/c/s/v/deep",
]
assert os.path.exists("/Volumes") and os.path.isdir("/Volumes/c") and os.path.isfile("/Volumes/c/s/v/a.txt")
assert not os.path.exists("/Volumes/nothing") and not os.path.isdir("/Volumes2")
assert os.path.realpath("/Volumes/c/../c/s") == "/Volumes/c/s"
for action, path in (
    (open, "/Volumes/none/x"),
    (functools.partial(open, mode="w"), "/Volumes/none/x"),
    (os.listdir, "/Volumes/none"),
    (os.scandir, "/Volumes/none"),
    (lambda p: os.stat(path=p), "/Volumes/none"),
    (os.remove, "/Volumes/none"),
    (lambda p: os.stat(pathlib.Path(p)), "/Volumes/none"),
    (lambda p: pathlib.Path(p).read_text(), "/Volumes/none"),
):
    try:
        action(path)
    except FileNotFoundError as error:
        assert error.filename == path, error
        assert BASE not in str(error), error
    else:
        raise AssertionError(path)
try:
    os.rename("/Volumes/none", "/Volumes/other")
except FileNotFoundError as error:
    assert (error.filename, error.filename2) == ("/Volumes/none", "/Volumes/other")
try:
    pathlib.Path("/Volumes/c").read_text()
except IsADirectoryError as error:
    assert error.filename == "/Volumes/c"
os.replace("/Volumes/c/s/v/a.txt", "/Volumes/c/s/v/b.txt")
os.link("/Volumes/c/s/v/b.txt", "/Volumes/c/s/v/a.txt")
os.symlink("/Volumes/c/s/v", "/Volumes/c/link")
assert os.readlink("/Volumes/c/link") == "/Volumes/c/s/v"
assert os.path.realpath("/Volumes/c/link/b.txt") == "/Volumes/c/s/v/b.txt"
assert pathlib.Path("/Volumes/c/link/b.txt").read_text() == "hello"
os.chmod("/Volumes/c/s/v/a.txt", 0o600)
os.utime("/Volumes/c/s/v/a.txt", (1, 1))
assert os.stat(f"{BASE}/volumes/c/s/v/a.txt").st_mtime == 1
os.unlink("/Volumes/c/link")
os.truncate("/Volumes/c/s/v/a.txt", 1)
assert os.access("/Volumes/c/s/v/a.txt", os.R_OK)

# file descriptors and relative paths pass through
with open("/Volumes/c/s/v/b.txt") as file:
    assert os.stat(file.fileno()).st_size == len(file.read())
here = os.getcwd()
os.chdir("/Volumes/c/s")
assert os.getcwd() == "/Volumes/c/s" and os.listdir() == ["v"] and str(pathlib.Path.cwd()) == "/Volumes/c/s"
assert pathlib.Path("v").resolve() == pathlib.Path("/Volumes/c/s/v")
os.chdir(here)

# pathlib, glob, shutil, tempfile, archives
volume = pathlib.Path("/Volumes/c/s/v")
(volume / "p.txt").write_text("one")
assert (volume / "p.txt").read_text() == "one" and (volume / "p.txt").exists()
assert sorted(str(p) for p in volume.iterdir())[-1] == "/Volumes/c/s/v/p.txt"
assert [str(p) for p in pathlib.Path("/Volumes").rglob("p.txt")] == ["/Volumes/c/s/v/p.txt"]
assert [str(p) for p in volume.glob("p*")] == ["/Volumes/c/s/v/p.txt"]
assert str((volume / ".." / "v").resolve()) == "/Volumes/c/s/v"
(volume / "p.txt").rename(volume / "q.txt").unlink()
(volume / "x" / "y").mkdir(parents=True)
(volume / "x" / "y").touch(exist_ok=True)
assert glob.glob("/Volumes/*/s/**/b.txt", recursive=True) == ["/Volumes/c/s/v/b.txt"]
assert shutil.copytree("/Volumes/c/s/v", "/dbfs/d") == "/dbfs/d"
shutil.copy2("/dbfs/d/b.txt", "/Workspace")
assert shutil.move("/Workspace/b.txt", "/dbfs/b.txt") == "/dbfs/b.txt"
assert shutil.disk_usage("/Volumes").total > 0
assert shutil.rmtree.avoids_symlink_attacks
shutil.rmtree("/dbfs/d")
assert os.listdir("/Volumes") == ["c"]
with tempfile.NamedTemporaryFile(dir="/Volumes/c/s/v") as temporary:
    assert temporary.name.startswith("/Volumes/c/s/v/") and os.path.exists(temporary.name)
assert not os.path.exists(temporary.name)
with tempfile.TemporaryDirectory(dir="/Volumes/c/s/v") as name:
    open(f"{name}/x", "w").close()
assert os.path.basename(name) not in os.listdir("/Volumes/c/s/v")
with gzip.open("/Volumes/c/s/v/z.gz", "wt") as packed:
    packed.write("zipped")
with gzip.open("/Volumes/c/s/v/z.gz", "rt") as packed:
    assert packed.read() == "zipped"
with zipfile.ZipFile("/Volumes/c/s/v/z.zip", "w") as archive:
    archive.write("/Volumes/c/s/v/z.gz", "z.gz")
with tarfile.open("/Volumes/c/s/v/z.tar", "w") as tar:
    tar.add("/Volumes/c/s/v/z.gz", "z.gz")
shutil.unpack_archive("/Volumes/c/s/v/z.zip", "/Volumes/c/s/v/out")
assert os.listdir("/Volumes/c/s/v/out") == ["z.gz"]
# Imported only now: a library is patched whenever it is imported.
database = importlib.import_module("sqlite3").connect("/Volumes/c/s/v/db.sqlite")
database.execute("create table t (a int)")
database.close()
assert os.path.getsize(f"{BASE}/volumes/c/s/v/db.sqlite") > 0

# imports, scripts, programs
os.makedirs("/Workspace/lib/package")
open("/Workspace/lib/package/__init__.py", "w").close()
pathlib.Path("/Workspace/lib/package/part.py").write_text(
    "from pathlib import Path\nhere = Path(__file__).exists()\n"
)
assert importlib.import_module("package.part").here
pathlib.Path("/Workspace/script.py").write_text("answer = 42\n")
assert runpy.run_path("/Workspace/script.py")["answer"] == 42
assert subprocess.run(["ls"], cwd="/Workspace", capture_output=True, check=True).stdout == b"lib\nscript.py\n"

# another map in the same process, then everything given back
path_redirection.install(PathMap((("/Volumes", f"{BASE}/other"),)))
assert not os.path.exists("/Volumes/c") and not os.path.exists("/Workspace/lib")
path_redirection.install(PathMap((("/Volumes", f"{BASE}/volumes"),)))
kept = os.listdir
path_redirection.uninstall()
for name, function in plain.items():
    assert getattr(os, name) is function, name
assert listdir is plain["listdir"] and stat is plain["stat"]
assert not os.path.exists("/Volumes") and not pathlib.Path("/Workspace").exists()
try:
    kept("/Volumes")
except FileNotFoundError:
    print("passed")

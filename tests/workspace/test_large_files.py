"""Files that databricks-sdk uploads in parts: 50 MB and more, here less."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.workspace.server import Server

sdk = pytest.importorskip("databricks.sdk")
from databricks.sdk.service import catalog  # noqa: E402

CLIENT = "sdk/files"
VOLUME = "/Volumes/main/default/large"
CONTENT = bytes(range(256)) * 400


class Unseekable(io.BytesIO):
    """A stream such as a pipe."""

    def seekable(self) -> bool:
        return False


@pytest.fixture(scope="module")
def files(server: Server) -> Any:
    client = sdk.WorkspaceClient(host=server.host, token=server.token)
    client.volumes.create("main", "default", "large", catalog.VolumeType.MANAGED)
    client.files._config.files_ext_multipart_upload_min_stream_size = 10_000
    client.files._config.files_ext_parallel_download_min_file_size = 10_000
    return client.files


def from_file(files: Any, path: str, folder: Path, **options: Any) -> None:
    (folder / "large").write_bytes(CONTENT)
    files.upload_from(path, str(folder / "large"), **options)


UPLOADS: dict[str, Callable[..., None]] = {
    "stream": lambda files, path, _, **options: files.upload(path, io.BytesIO(CONTENT), **options),
    "pipe": lambda files, path, _, **options: files.upload(path, Unseekable(CONTENT), **options),
    "file": from_file,
}


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("source", UPLOADS)
def test_a_large_file_arrives(
    files: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture, source: str, parallel: bool
) -> None:
    path = f"{VOLUME}/{source} {parallel}/a.bin"
    UPLOADS[source](files, path, tmp_path, use_parallel=parallel, part_size=30_000)
    assert files.download(path).contents.read() == CONTENT
    with pytest.raises(sdk.errors.AlreadyExists):
        UPLOADS[source](files, path, tmp_path, use_parallel=parallel, overwrite=False)
    files.download_to(path, str(tmp_path / "copy"), use_parallel=parallel)
    assert (tmp_path / "copy").read_bytes() == CONTENT
    assert "Failed to abort" not in caplog.text


def test_a_large_file_needs_its_volume(files: Any) -> None:
    with pytest.raises(sdk.errors.NotFound, match=r"main\.default\.none"):
        files.upload("/Volumes/main/default/none/a.bin", io.BytesIO(CONTENT))


def test_other_steps_of_an_upload_in_parts_are_refused(server: Server) -> None:
    answer = server.answer("POST", f"/api/2.0/fs/files{VOLUME}/a.bin?action=complete-upload")
    assert answer.status_code == 501 and "one request" in answer.json()["message"]


@pytest.mark.parametrize(
    ("value", "status"), [("bytes=99999999999-", 416), ("bytes=5-1", 400), ("lines=1-2", 400), ("x", 400)]
)
def test_an_invalid_range_is_refused_as_json(files: Any, server: Server, value: str, status: int) -> None:
    files.upload(f"{VOLUME}/ranges.bin", io.BytesIO(CONTENT))
    answer = server.answer("GET", f"/api/2.0/fs/files{VOLUME}/ranges.bin", headers={"Range": value})
    assert (answer.status_code, answer.json()["error_code"]) == (status, "INVALID_PARAMETER_VALUE")
    assert answer.headers.get("Content-Range") == (f"bytes */{len(CONTENT)}" if status == 416 else None)


@pytest.mark.parametrize(
    ("since", "status"),
    [
        ("Wed, 21 Oct 2015 07:28:00 GMT", 412),
        ("Wed, 21 Oct 2099 07:28:00 GMT", 206),
        ("", 206),
        ("yesterday", 206),
    ],
)
def test_a_part_of_another_version_is_refused(files: Any, server: Server, since: str, status: int) -> None:
    files.upload(f"{VOLUME}/versions.bin", io.BytesIO(CONTENT))
    headers = {"Range": "bytes=1-2", **({"If-Unmodified-Since": since} if since else {})}
    answer = server.answer("GET", f"/api/2.0/fs/files{VOLUME}/versions.bin", headers=headers)
    assert answer.status_code == status
    if status == 412:
        assert answer.json()["error_code"] == "PRECONDITION_FAILED"
    else:
        assert answer.content == CONTENT[1:3]

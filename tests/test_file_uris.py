from pathlib import Path

from lakeward.file_uris import local_folder


def test_locations_elsewhere_are_no_folder() -> None:
    assert local_folder("s3a://bucket/w") is None
    assert local_folder("") is None


def test_uris_are_decoded_and_paths_are_not() -> None:
    assert local_folder("file:///a%20b") == Path("/a b")
    assert local_folder("/a%20b#c") == Path("/a%20b#c")
    assert local_folder("spark-warehouse") == Path("spark-warehouse").absolute()

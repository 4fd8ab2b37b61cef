"""Text, binary files, records as VARIANT, and compressed files (AL-1.5)."""

from __future__ import annotations

import bz2
import gzip
import json
import zlib
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql.types import StructType, VariantType, VariantVal

from lakeward.errors import CloudFilesError
from tests.autoloader.reader_harness import rows_of, schema_of

VALUE = schema_of(value="string")


def texts(path: Path, data: bytes, **options: object) -> list[str]:
    path.write_bytes(data)
    return [row["value"] for row in rows_of([path], VALUE, cf_format="text", **options)]


@pytest.mark.rule("1.5")
@pytest.mark.parametrize(
    ("data", "options", "expected"),
    [
        (b"a\nb\r\nc\rd\n\ne", {}, ["a", "b", "c", "d", "", "e"]),
        (b"a\nb\n", {"wholeText": True}, ["a\nb\n"]),
        (b"a;b;;c;", {"lineSep": ";"}, ["a", "b", "", "c"]),
        (b"", {}, []),
        (b"\xef\xbb\xbfx\n", {}, ["x"]),
        (b"", {"wholeText": True}, []),
        (b"\xef\xbb\xbfx\n", {"wholeText": True}, ["\ufeffx\n"]),
        ("é€ü".encode(), {"lineSep": "€"}, ["é", "ü"]),
        (b"a\x80b", {"lineSep": "€", "encoding": "windows-1252"}, ["a", "b"]),
    ],
)
def test_text_is_a_row_a_line_or_a_file(tmp_path: Path, data, options, expected) -> None:
    assert texts(tmp_path / "a.txt", data, **options) == expected


def test_texts_of_many_files_keep_their_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lakeward.autoloader.readers import raw_files

    monkeypatch.setattr(raw_files, "TEXT_ROWS", 3)
    monkeypatch.setattr(raw_files, "TEXT_BYTES", 8)
    paths = []
    for number in range(6):
        paths.append(tmp_path / f"{number}.txt")
        paths[-1].write_text("".join(f"{number}.{line}\n" for line in range(number)))
    expected = [f"{number}.{line}" for number in range(6) for line in range(number)]
    assert [row["value"] for row in rows_of(paths, VALUE, cf_format="text")] == expected


@pytest.mark.rule("1.5", "7.9")
def test_binary_files_are_loaded_unchanged(tmp_path: Path) -> None:
    packed = tmp_path / "a b.json.gz"
    packed.write_bytes(gzip.compress(b"x"))
    schema = schema_of(path="string", modificationTime="timestamp", length="long", content="binary")
    row = rows_of([packed], schema, cf_format="binaryFile")[0]
    assert (row["path"], row["length"]) == (f"file:{packed}", packed.stat().st_size)
    assert row["content"] == packed.read_bytes()
    assert abs(row["modificationTime"].timestamp() - packed.stat().st_mtime) < 0.002


def hadoop_snappy(data: bytes) -> bytes:
    codec = pa.Codec("snappy")
    out = len(data).to_bytes(4, "big")
    for first in range(0, len(data), 7):
        chunk = codec.compress(data[first : first + 7], asbytes=True)
        out += len(chunk).to_bytes(4, "big") + chunk
    return out


def zstandard(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize(
    ("ending", "pack"),
    [
        ("gz", gzip.compress),
        ("bz2", bz2.compress),
        ("zst", zstandard),
        ("deflate", zlib.compress),
        ("snappy", hadoop_snappy),
    ],
)
def test_packed_texts_are_unpacked_by_their_ending(tmp_path: Path, ending: str, pack) -> None:
    data = b"one line\nanother line\n" * 5
    assert texts(tmp_path / f"a.txt.{ending}", pack(data)) == ["one line", "another line"] * 5
    with pytest.raises(CloudFilesError, match=r"FAILED_READ_FILE\.NO_HINT"):
        texts(tmp_path / f"cut.txt.{ending}", pack(data)[:11])


def variants(path: Path, text: str, **options: object) -> list[object]:
    path.write_text(text)
    schema = StructType().add("v", VariantType())
    found = rows_of([path], schema, singleVariantColumn="v", **options)
    return [None if row["v"] is None else VariantVal(**row["v"]).toPython() for row in found]


@pytest.mark.rule("1.5", "7.10")
def test_whole_records_of_json_as_one_variant(tmp_path: Path) -> None:
    text = '{"a":1,"b":{"c":[1.5,"x",null]}}\n[1]\n{"a":\n'
    assert variants(tmp_path / "a.json", text) == [{"a": 1, "b": {"c": [1.5, "x", None]}}, [1], None]
    assert variants(tmp_path / "large.json", '{"a":"' + "x" * (17 << 20) + '"}\n') == [None]
    document = '{\n"a": 1\n}\n'
    assert variants(tmp_path / "b.json", document, multiLine=True) == [{"a": 1}]
    assert variants(tmp_path / "a.json", text, mode="DROPMALFORMED")[1:] == [[1]]
    with pytest.raises(CloudFilesError, match="MALFORMED_RECORD_IN_PARSING"):
        variants(tmp_path / "a.json", text, mode="FAILFAST")


@pytest.mark.rule("1.5")
def test_whole_records_of_xml_as_one_variant(tmp_path: Path) -> None:
    text = '<r><row id="7"><a>1</a><a>x</a><b><c>true</c></b></row></r>'
    found = variants(tmp_path / "a.xml", text, cf_format="xml", rowTag="row")
    assert found == [{"_id": 7, "a": [1, "x"], "b": {"c": True}}]


@pytest.mark.rule("1.5")
@pytest.mark.parametrize(
    ("option", "line"),
    [
        ("allowComments", '{"a":1 /* one */} // more'),
        ("allowUnquotedFieldNames", "{a:1}"),
        ("allowUnquotedFieldNames", "{c:null, a:1, d:true, e:false, b:null}"),
        ("allowNumericLeadingZeros", '{"a":001}'),
        ("allowBackslashEscapingAnyCharacter", '{"b":"\\$5","a":1}'),
        ("allowUnquotedControlChars", '{"b":"x\ty","a":1}'),
        ("allowSingleQuotes", "{'a':1}"),
    ],
)
def test_json_beyond_the_standard_is_read_with_options(tmp_path: Path, option: str, line: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(line + "\n")
    schema = schema_of(a="integer", b="string", _corrupt_record="string")
    assert [r["_corrupt_record"] for r in rows_of([path], schema, **{option: False})] == [line]
    rows = rows_of([path], schema, **{option: True})
    assert [(r["a"], r["_corrupt_record"]) for r in rows] == [(1, None)]
    assert rows[0]["b"] in (None, "$5", "x\ty")


@pytest.mark.rule("1.5")
def test_words_for_numbers_and_comments_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('// nothing\n{"a":NaN}\n')
    rows = rows_of([path], schema_of(a="double", _corrupt_record="string"), allowComments=True)
    assert [json.dumps(row["a"]) for row in rows] == ["NaN"]
    rows = rows_of(
        [path], schema_of(a="double"), allowComments=True, allowNonNumericNumbers=False, rescued="r"
    )
    assert [row["a"] for row in rows] == [None]

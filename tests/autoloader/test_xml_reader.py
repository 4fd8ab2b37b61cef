"""XML: records by row tag, types, no value is lost (AL-1.5, AL-2.2, AL-4)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql.types import ArrayType, DataType, IntegerType, MapType, StringType, StructType

from lakeward.autoloader.discovery.file_listing import FileStatus
from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.schema.schema_inference import infer_schema
from lakeward.errors import CloudFilesError
from tests.autoloader.reader_harness import rows_of, schema_of

XML = {"cf_format": "xml", "rowTag": "row"}


def written(folder: Path, body: str) -> Path:
    path = folder / "f.xml"
    path.write_text(f"<rows>{body}</rows>", encoding="utf-8")
    return path


def inferred(path: Path, **options: Any) -> str:
    given = {"cloudFiles.format": "xml", "rowTag": "row"}
    given |= {key.replace("cf_", "cloudFiles."): str(value).lower() for key, value in options.items()}
    return infer_schema([FileStatus("k", str(path), 1, 1)], Options.of(given)).simpleString()


@pytest.mark.rule("2.2")
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<row><b>1</b><a>x</a></row>", "struct<a:string,b:bigint>"),
        ('<row id="7"><a k="v">1.5</a></row>', "struct<_id:bigint,a:struct<_VALUE:double,_k:string>>"),
        ("<row><a>1</a><a>2.5</a></row><row><a>3</a></row>", "struct<a:array<double>>"),
        ("<row><a>2024-01-02</a><b>TRUE</b><c/></row>", "struct<a:date,b:boolean,c:string>"),
        ("<row><a>NaN</a><b>1d</b><c>99999999999999999999</c></row>", "struct<a:string,b:string,c:double>"),
        ("<row><a>1</a></row><row><a><b>2</b></a></row>", "struct<a:string>"),
        ("<row>one<a>1</a>two</row>", "struct<_VALUE:array<string>,a:bigint>"),
        ("<row>5</row>", "struct<_VALUE:bigint>"),
    ],
)
def test_types_are_sparks_on_request(tmp_path: Path, body: str, expected: str) -> None:
    assert inferred(written(tmp_path, body), cf_inferColumnTypes=True) == expected


@pytest.mark.rule("2.2", "1.5")
def test_everything_is_a_string_by_default_and_nested_elements_are_their_text(tmp_path: Path) -> None:
    path = written(tmp_path, '<row id="1"><a>1.10</a><b k="v"><c>x</c> &amp; <d/></b></row>')
    assert inferred(path) == "struct<_id:string,a:string,b:string>"
    row = rows_of([path], schema_of(_id="string", a="string", b="string"), rescued="_r", **XML)[0]
    assert (row["_id"], row["a"], row["b"]) == ("1", "1.10", "<c>x</c> & <d></d>")
    assert json.loads(row["_r"])["b"] == '<b k="v"><c>x</c> &amp; <d/></b>'


@pytest.mark.rule("1.5")
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {"_id": "1", "a": "x", "n:b": "2"}),
        ({"attributePrefix": "@"}, {"@id": "1", "a": "x", "n:b": "2"}),
        ({"attributePrefix": ""}, {"id": "1", "a": "x", "n:b": "2"}),
        ({"excludeAttribute": True}, {"a": "x", "n:b": "2"}),
        ({"ignoreNamespace": True}, {"_id": "1", "a": "x", "b": "2"}),
        ({"ignoreSurroundingSpaces": False}, {"_id": "1", "a": " x ", "n:b": "2"}),
        ({"nullValue": "x"}, {"_id": "1", "a": None, "n:b": "2"}),
    ],
)
def test_options_of_names_and_texts(
    tmp_path: Path, options: dict[str, Any], expected: dict[str, Any]
) -> None:
    path = tmp_path / "f.xml"
    path.write_text('<rows xmlns:n="urn:n"><row id="1"><a> x </a><n:b>2</n:b></row></rows>')
    assert rows_of([path], schema_of(**dict.fromkeys(expected, "string")), **XML, **options) == [expected]


@pytest.mark.rule("1.5", "4.2")
@pytest.mark.parametrize(
    ("options", "dtype", "value", "rescued"),
    [
        ({}, ArrayType(StringType()), ["1", "2", "3"], {}),
        ({}, StringType(), "3", {"xs_any": ["1", "2", "3"]}),
        ({}, IntegerType(), None, {"b": ["1", "3"], "c": "2"}),
        ({"wildcardColName": "others"}, ArrayType(StringType()), None, {"b": ["1", "3"], "c": "2"}),
    ],
)
def test_elements_without_a_column_go_to_the_wildcard_column(
    tmp_path: Path, options: dict[str, Any], dtype: DataType, value: Any, rescued: dict[str, Any]
) -> None:
    path = written(tmp_path, "<row><b>1</b><a>x</a><c>2</c><b>3</b></row>")
    schema = schema_of(a="string").add("xs_any", dtype)
    (row,) = rows_of([path], schema, rescued="_r", **XML, **options)
    assert (row["a"], row["xs_any"]) == ("x", value)
    found = json.loads(row["_r"] or "{}")
    found.pop("_file_path", None)
    assert found == rescued


@pytest.mark.rule("1.5", "4.2")
def test_attributes_and_other_spellings_at_a_wildcard_column(tmp_path: Path) -> None:
    path = written(tmp_path, '<row id="1"><A>1</A><b u="m">2</b></row>')
    schema = schema_of(a="string").add("any", ArrayType(StringType()))
    (row,) = rows_of([path], schema, rescued="_r", wildcardColName="any", **XML)
    assert (row["a"], row["any"]) == (None, ["1", "2"])
    rescued = json.loads(row["_r"])
    assert (rescued["_id"], rescued["any"]) == ("1", ["1", '<b u="m">2</b>'])
    (row,) = rows_of([path], schema, wildcardColName="any", readerCaseSensitive=False, **XML)
    assert (row["a"], row["any"]) == ("1", ["2"])


@pytest.mark.rule("1.5")
def test_nested_types(tmp_path: Path) -> None:
    first = '<row><s k="v">5</s><l>1</l><l>2</l><m><x>1</x><y>2</y></m><o><i><j>7</j></i></o></row>'
    body = first + "<row><s/></row>"
    schema = StructType().add("s", schema_of(_VALUE="integer", _k="string"))
    schema = schema.add("l", ArrayType(schema_of(a="integer")["a"].dataType))
    schema = schema.add("m", MapType(StringType(), StringType()))
    schema = schema.add("o", StructType().add("i", schema_of(j="integer")))
    assert rows_of([written(tmp_path, body)], schema, **XML) == [
        {
            "s": {"_VALUE": 5, "_k": "v"},
            "l": [1, 2],
            "m": [("x", "1"), ("y", "2")],
            "o": {"i": {"j": 7}},
        },
        {"s": {"_VALUE": None, "_k": None}, "l": None, "m": None, "o": None},
    ]


@pytest.mark.rule("4.2", "4.3.6")
@pytest.mark.parametrize(
    ("body", "value", "rescued"),
    [
        ("<a>x</a>", None, "x"),
        ("<a>1</a><a>2</a>", 2, ["1", "2"]),
        ('<a u="m">1</a>', 1, '<a u="m">1</a>'),
        ("<a><b>1</b></a>", None, "<a><b>1</b></a>"),
        ("<a/>", None, None),
        ("<a>99999999999</a>", None, "99999999999"),
    ],
)
def test_what_has_no_place_is_rescued(tmp_path: Path, body: str, value: Any, rescued: Any) -> None:
    row = rows_of([written(tmp_path, f"<row>{body}</row>")], schema_of(a="integer"), rescued="_r", **XML)[0]
    assert row["a"] == value
    assert (json.loads(row["_r"])["a"] if row["_r"] else None) == rescued


@pytest.mark.rule("4.2")
def test_several_elements_of_which_one_does_not_fit_are_rescued_together(tmp_path: Path) -> None:
    schema = StructType().add("a", ArrayType(schema_of(x="integer")["x"].dataType))
    path = written(tmp_path, "<row><a>1</a><a>x</a></row><row><a>1</a></row>")
    rows = rows_of([path], schema, rescued="_r", **XML)
    assert [row["a"] for row in rows] == [None, [1]]
    assert json.loads(rows[0]["_r"])["a"] == ["1", "x"]
    corrupt = rows_of(
        [path], StructType([*schema.fields, *schema_of(_corrupt_record="string").fields]), **XML
    )
    assert [row["_corrupt_record"] is None for row in corrupt] == [False, True]


XSD = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="row"><xs:complexType><xs:sequence>
    <xs:element name="a" type="xs:integer"/>
  </xs:sequence></xs:complexType></xs:element>
</xs:schema>"""


@pytest.mark.rule("1.5", "4.5.2")
def test_records_that_an_xsd_forbids_are_malformed(tmp_path: Path) -> None:
    xsd = tmp_path / "row.xsd"
    xsd.write_text(XSD)
    path = written(tmp_path, "<row><a>1</a></row><row><a>x</a></row><row><a>1</a><n:b/></row><row><b/></row>")
    schema = schema_of(a="string", corrupted="string")
    options = {"rowValidationXSDPath": xsd, "columnNameOfCorruptRecord": "corrupted", **XML}
    rows = rows_of([path], schema, rescued="_r", **options)
    assert [(row["a"], row["corrupted"]) for row in rows] == [
        ("1", None),
        (None, "<row><a>x</a></row>"),
        (None, "<row><a>1</a><n:b/></row>"),
        (None, "<row><b/></row>"),
    ]
    with pytest.raises(CloudFilesError, match=r"MALFORMED_RECORD_IN_PARSING.*XSD"):
        rows_of([path], schema, mode="FAILFAST", **options)
    with pytest.raises(CloudFilesError, match=r"CF_INVALID_OPTION_VALUE.*none\.xsd"):
        rows_of([path], schema, **{**options, "rowValidationXSDPath": tmp_path / "none.xsd"})


BROKEN = "<row><a>1</a></row><row><a>2</b></row><row><a>3</a></row><row><a>4</a>"


@pytest.mark.rule("4.5.2", "4.5.3")
def test_broken_records_are_kept_dropped_or_fatal(tmp_path: Path) -> None:
    path = written(tmp_path, BROKEN)
    kept = rows_of([path], schema_of(a="integer", _corrupt_record="string"), **XML)
    assert [(row["a"], row["_corrupt_record"]) for row in kept] == [
        (1, None),
        (None, "<row><a>2</b></row>"),
        (3, None),
        (None, "<row><a>4</a></rows>"),
    ]
    dropped = rows_of([path], schema_of(a="integer"), mode="DROPMALFORMED", **XML)
    assert [row["a"] for row in dropped] == [1, 3]
    with pytest.raises(CloudFilesError, match=r"MALFORMED_RECORD_IN_PARSING.*<row><a>2</b></row>"):
        rows_of([path], schema_of(a="integer"), mode="FAILFAST", **XML)
    rescued = rows_of([path], schema_of(a="integer"), rescued="_r", **XML)
    assert json.loads(rescued[1]["_r"])["_corrupt_record"] == "<row><a>2</b></row>"


@pytest.mark.rule("4.5.1", "4.5.6")
def test_a_value_of_another_type_is_malformed_only_where_nothing_rescues_it(tmp_path: Path) -> None:
    path = written(tmp_path, "<row><a>x</a><z>1</z></row>")
    schema = schema_of(a="integer", _corrupt_record="string")
    assert rows_of([path], schema, **XML)[0]["_corrupt_record"] == "<row><a>x</a><z>1</z></row>"
    assert rows_of([path], schema, rescued="_r", **XML)[0]["_corrupt_record"] is None
    assert (
        rows_of([path], schema_of(b="integer", _corrupt_record="string"), **XML)[0]["_corrupt_record"] is None
    )


@pytest.mark.parametrize(
    "text",
    [
        "<row><a>1</a></row><row><a>2</a></row>",
        '\ufeff<?xml version="1.0"?>\n<rows>\n <row>\n <a>1</a>\n</row><row><a>2</a></row></rows>\n',
        '<!DOCTYPE rows><rows><row><a>1</a></row><row a="x"><a>2</a></row></rows>',
        "<rows><!-- <row> --><row><a>1</a></row><x><row><a><![CDATA[2]]></a></row></x></rows>",
    ],
)
def test_records_are_found_at_any_depth(tmp_path: Path, text: str) -> None:
    path = tmp_path / "f.xml"
    path.write_text(text, encoding="utf-8")
    assert [row["a"] for row in rows_of([path], schema_of(a="integer"), **XML)] == [1, 2]


def test_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "f.xml"
    path.write_bytes('<?xml version="1.0" encoding="latin1"?><r><row><a>é</a></row></r>'.encode("latin-1"))
    assert rows_of([path], schema_of(a="string"), encoding="latin1", **XML) == [{"a": "é"}]


def test_an_entity_that_explodes_is_a_broken_record(tmp_path: Path) -> None:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    path = tmp_path / "f.xml"
    path.write_text(f'<!DOCTYPE r [<!ENTITY e0 "x">{entities}]><r><row><a>&e11;</a></row></r>')
    row = rows_of([path], schema_of(a="string", _corrupt_record="string"), **XML)[0]
    assert (row["a"], row["_corrupt_record"]) == (None, "<row><a>&e11;</a></row>")


TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn", "Co"]), max_size=6)
NAMES = st.sampled_from(["a", "b", "c", "z"])


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(st.lists(st.tuples(NAMES, TEXT), max_size=4), TEXT), max_size=4))
def test_columns_and_rescued_data_rebuild_every_record(tmp_path: Path, records: list[Any]) -> None:
    rows = "".join(
        f"<row id={quoteattr(mark)}>" + "".join(f"<{n}>{escape(t)}</{n}>" for n, t in fields) + "</row>"
        for fields, mark in records
    )
    options = {"rescued": "_r", "ignoreSurroundingSpaces": False, **XML}
    found = rows_of([written(tmp_path, rows)], schema_of(a="string", b="integer"), **options)
    assert len(found) == len(records)
    for (fields, mark), row in zip(records, found, strict=True):
        rescued = json.loads(row["_r"])
        assert rescued["_id"] == mark
        for name in {name for name, _ in fields}:
            texts = [text for other, text in fields if other == name]
            kept = rescued.get(name, row.get(name))
            kept = kept if isinstance(kept, list) else [kept]
            assert [str(k if k is not None else "") for k in kept] == texts

-- Paths into JSON text
SELECT raw:owner FROM VALUES ('{"owner": "amy"}') t(raw)
--= owner
--> ["amy"]
SELECT raw:OWNER, raw:['OWNER'] AS in_brackets, raw:['owner'] AS as_written FROM VALUES ('{"owner": "amy"}') t(raw)
--= OWNER, in_brackets, as_written
--> ["amy", null, "amy"]
SELECT t.raw:owner FROM VALUES ('{"owner": "amy"}') t(raw)
--= owner
--> ["amy"]
SELECT raw:store.bicycle FROM VALUES ('{"store": {"bicycle": {"price": 19.95, "color": "red"}}}') t(raw)
--= bicycle
--> ["{\"price\":19.95,\"color\":\"red\"}"]
SELECT raw:store.bicycle.price::double FROM VALUES ('{"store": {"bicycle": {"price": 19.95}}}') t(raw)
--= price
--> [19.95]
SELECT raw:store['bicycle'].color FROM VALUES ('{"store": {"bicycle": {"color": "red"}}}') t(raw)
--= color
--> ["red"]
SELECT raw:Store.BICYCLE.Color AS c FROM VALUES ('{"store": {"bicycle": {"color": "red"}}}') t(raw)
--> ["red"]
SELECT raw:`zip code`, raw:['fb:testid'] AS id FROM VALUES ('{"zip code": "94025", "fb:testid": "1234"}') t(raw)
--> ["94025", "1234"]
SELECT raw:["zip code"] AS z FROM VALUES ('{"zip code": "94025"}') t(raw)
--> ["94025"]
SELECT raw:`a.b` AS q, raw:a.b AS p FROM VALUES ('{"a.b": 1, "a": {"b": 2}}') t(raw)
--> ["1", "2"]
SELECT raw:basket[0], raw:basket[1][0] AS b FROM VALUES ('{"basket": [[1, 2, {"b": "y"}], [3, 4]]}') t(raw)
--> ["[1,2,{\"b\":\"y\"}]", "3"]
SELECT raw:fruit[*].weight FROM VALUES ('{"fruit": [{"weight": 8}, {"weight": 9}]}') t(raw)
--= weight
--> ["[8,9]"]
SELECT raw:[*].a AS all, raw:[1].a AS one FROM VALUES ('[{"a": 1}, {"a": 2}]') t(raw)
--> ["[1,2]", "2"]
SELECT raw:a.b.c, raw:a[7] AS d FROM VALUES ('{"a": [1]}') t(raw)
--> [null, null]
SELECT raw:a AS x FROM VALUES ('no json'), (NULL), ('{"a": null}'), ('{"a": ""}') t(raw)
--> [null], [null], [null], [""]
SELECT raw:a::int + 1 AS n FROM VALUES ('{"a": "41"}') t(raw)
--> [42]
SELECT raw:a::int FROM VALUES ('{"a": "many"}') t(raw)
--! CAST_INVALID_INPUT
SELECT raw:a?::int AS n FROM VALUES ('{"a": "many"}'), ('{"a": "3"}') t(raw)
--> [null], [3]
SELECT raw:a:b FROM VALUES ('{"a": "{\\"b\\": 5}"}') t(raw)
--= b
--> ["5"]
SELECT count(*) AS n FROM VALUES ('{"a": 1}'), ('{"a": 2}') t(raw) WHERE raw:a = '2'
--> [1]
SELECT raw:k, count(*) AS n FROM VALUES ('{"k": "x"}'), ('{"k": "x"}'), ('{"k": "y"}') t(raw) GROUP BY raw:k ORDER BY raw:k
--> ["x", 2], ["y", 1]
SELECT raw:a::bigint AS n FROM VALUES ('{"a": 3}'), ('{"a": 1}') t(raw) ORDER BY raw:a::int
--> [1], [3]
WITH c AS (SELECT raw:a AS a FROM VALUES ('{"a": {"b": 1}}') t(raw)) SELECT a:b FROM c WHERE a:b = 1
--> ["1"]
SELECT (SELECT max(raw:a::int) FROM VALUES ('{"a": 4}') s(raw)) AS m
--> [4]
SELECT '{"a": {"b": 1}}':a.b::int AS n
--> [1]
SELECT "{\"a\": 1}":a AS n
--> ["1"]
SELECT '{"a"' ': 7}':a AS n
--> ["7"]
SELECT concat('{"a"', ': 8}'):a AS n
--> ["8"]
SELECT from_json(raw:a, 'ARRAY<INT>')[1] AS n FROM VALUES ('{"a": [1, 2]}') t(raw)
--> [2]
SELECT CASE WHEN raw:a = 1 THEN raw:b ELSE 'none' END AS x FROM VALUES ('{"a": 1, "b": "yes"}') t(raw)
--> ["yes"]
SELECT transform(array(raw), x -> x:a) AS l FROM VALUES ('{"a": 1}') t(raw)
--> [["1"]]
SELECT id:a FROM range(1)
--! DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE
SELECT raw:`é` AS x, '😀' AS y, '{"ü": "😀"}':`ü` AS z FROM VALUES ('{"é": 1}') t(raw)
--> ["1", "😀", "😀"]
-- VARIANT
SELECT v:a.b::int, v:a['b']::string AS s FROM (SELECT parse_json('{"a": {"b": 1}}') AS v)
--= b, s
--> [1, "1"]
SELECT v:l[1]::string AS s, v:nope::int AS n FROM (SELECT parse_json('{"l": ["x", "y"]}') AS v)
--> ["y", null]
SELECT v:A::int AS upper, v:a::int AS lower FROM (SELECT parse_json('{"a": 1}') AS v)
--> [null, 1]
SELECT v:a?::int AS n FROM (SELECT parse_json('{"a": "x"}') AS v)
--> [null]
-- Casts
SELECT '5'::int AS a, 1::string || 'x' AS b, '2020-01-02'::date AS c
--> [5, "1x", "2020-01-02"]
SELECT 'x'::int
--! CAST_INVALID_INPUT
SELECT 'x'?::int AS a, '7'?::int AS b, NULL?::string AS c
--> [null, 7, null]
SELECT s?::int FROM VALUES ('1'), ('b') t(s)
--= s
--> [1], [null]
SELECT (s || '0')?::int AS n, s?::int + 1 AS m FROM VALUES ('1') t(s)
--> [10, 2]
SELECT s?::decimal(10, 2) AS d, '2020-13-01'?::date AS e, 'true'?::boolean AS f FROM VALUES ('1.239') t(s)
--> ["1.24", null, true]
SELECT '1'?::int?::string AS a, '1'::int::string AS b
--> ["1", "1"]
SELECT array('1', 'x')?::array<int> AS a
--> [[1, null]]
SELECT try_cast('x' AS INT) AS a
--> [null]
SELECT ':a ?:: b' AS a, "?::" AS b, `c ?:: d` FROM (SELECT 1 AS `c ?:: d`) -- x?::int
--> [":a ?:: b", "?::", 1]
SELECT 1 /* x?::int */ + '1'?::int AS n
--> [2]
-- Names from strings
SELECT IDENTIFIER('a') FROM (SELECT 1 AS a)
--> [1]
SELECT * FROM IDENTIFIER('range')(2)
--> [0], [1]

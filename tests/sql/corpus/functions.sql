-- Functions of SQL in a catalog of their own
CREATE FUNCTION main.corpus_functions.plus(x INT, y INT DEFAULT 1 COMMENT 'more') RETURNS INT COMMENT 'adds' RETURN x + y
--> ok
SELECT main.corpus_functions.plus(1) AS a, corpus_functions.plus(1, 5) AS b, plus(x => 2) AS c
--> [2, 6, 3]
CREATE FUNCTION plus(x INT) RETURNS INT RETURN x
--! ROUTINE_ALREADY_EXISTS
CREATE OR REPLACE FUNCTION plus(x INT) RETURNS INT RETURN x + 10
--> ok
CREATE FUNCTION IF NOT EXISTS plus(x INT) RETURNS INT RETURN x
--> ok
SELECT plus(1) AS n
--> [11]
CREATE FUNCTION upto(n INT) RETURNS TABLE (i INT, even BOOLEAN) RETURN SELECT v, v % 2 = 0 FROM VALUES (0), (1), (2) t(v) WHERE v < n
--> ok
SELECT * FROM main.corpus_functions.upto(2) ORDER BY i
--= i, even
--> [0, true], [1, false]
SELECT count(*) AS n FROM upto(3)
--> [3]
CREATE TABLE t AS SELECT 5 AS n FROM upto(1)
--> ok
CREATE FUNCTION biggest() RETURNS INT RETURN (SELECT max(n) FROM t)
--> ok
SELECT biggest() AS n
--> [5]
CREATE FUNCTION by_short_name(x INT) RETURNS INT RETURN plus(x) * `plus` (x => 1)
--> ok
CREATE FUNCTION by_long_name(x INT) RETURNS INT RETURN main.corpus_functions.plus(x) + biggest()
--> ok
CREATE FUNCTION by_schema(x INT) RETURNS INT RETURN CASE WHEN corpus_functions.plus(x) > 1 THEN by_short_name(x) END
--> ok
CREATE FUNCTION in_query(x INT) RETURNS TABLE (y INT) RETURN SELECT plus(n) + by_schema(x) FROM t WHERE plus(n) > (SELECT plus(-100))
--> ok
SELECT by_short_name(1) AS a, by_long_name(1) AS b, by_schema(1) AS c
--> [121, 16, 121]
SELECT y FROM in_query(1)
--> [136]
SELECT routine_definition AS d FROM information_schema.routines WHERE routine_name = 'by_short_name'
--> ["`main`.`corpus_functions`.`plus`(x) * `main`.`corpus_functions`.`plus`(x => 1)"]
CREATE OR REPLACE FUNCTION plus(x INT) RETURNS INT RETURN by_schema(x)
--! CYCLIC_FUNCTION_REFERENCE
CREATE OR REPLACE FUNCTION plus(x INT) RETURNS INT RETURN plus(x - 1)
--! CYCLIC_FUNCTION_REFERENCE
CREATE FUNCTION calls_nothing() RETURNS INT RETURN no_such_function(1)
--! UNRESOLVED_ROUTINE
CREATE FUNCTION owner_of(raw STRING) RETURNS STRING RETURN raw:owner.name
--> ok
SELECT owner_of('{"owner": {"NAME": "amy"}}') AS n
--> ["amy"]
CREATE FUNCTION as_number(s STRING) RETURNS INT RETURN s?::int
--> ok
SELECT as_number('x') AS a, as_number('7') AS b
--> [null, 7]
CREATE VIEW v AS SELECT plus(n) AS m FROM t
--> ok
SELECT m FROM v
--> [15]
DESCRIBE FUNCTION plus
--> ok
DESCRIBE FUNCTION EXTENDED main.corpus_functions.plus
--> ok
DROP FUNCTION main.corpus_functions.upto
--> ok
SELECT * FROM upto(3)
--! UNRESOLVABLE_TABLE_VALUED_FUNCTION
DROP FUNCTION upto
--! ROUTINE_NOT_FOUND
DROP FUNCTION IF EXISTS upto
--> ok
DESCRIBE FUNCTION upper
--> ok
-- The metastore
SELECT current_metastore() AS m, element_at(split(CURRENT_METASTORE(), ':'), 1) AS cloud
--> ["local:local:00000000-0000-0000-0000-000000000001", "local"]
SELECT current_metastore(1)
--! WRONG_NUM_ARGS.WITHOUT_SUGGESTION
-- Functions of a catalog that does not exist
SELECT no_catalog.s.f(1)
--! UNRESOLVED_ROUTINE
SELECT n FROM t WHERE no_catalog.s.f(n) > 0
--! UNRESOLVED_ROUTINE
INSERT INTO t SELECT no_catalog.s.f(n) FROM t
--! UNRESOLVED_ROUTINE
SELECT one.two.three.f(1)
--! UNRESOLVED_ROUTINE
SELECT * FROM no_catalog.s.f(1)
--! UNRESOLVABLE_TABLE_VALUED_FUNCTION
CREATE TEMPORARY VIEW of_no_catalog AS SELECT * FROM no_catalog.s.f(1) AS x JOIN t
--! UNRESOLVABLE_TABLE_VALUED_FUNCTION
SELECT * FROM one.two.three.f(1)
--! UNRESOLVABLE_TABLE_VALUED_FUNCTION
DESCRIBE FUNCTION no_catalog.s.f
--! UNRESOLVED_ROUTINE
CREATE FUNCTION no_catalog.s.f(x INT) RETURNS INT RETURN x
--! NO_SUCH_CATALOG_EXCEPTION
DROP FUNCTION no_catalog.s.f
--! NO_SUCH_CATALOG_EXCEPTION
DROP FUNCTION IF EXISTS no_catalog.s.f
--> ok
-- Functions of Spark by their full name
SELECT system.builtin.upper('a') AS a, builtin.upper('b') AS b
--> ["A", "B"]
SELECT id FROM system.builtin.range(2)
--> [0], [1]
SELECT id FROM builtin.range(1)
--> [0]
SELECT * FROM builtin.no_function(1)
--! UNRESOLVABLE_TABLE_VALUED_FUNCTION
-- Who asks
SELECT current_user() = session_user() AS same, current_user() IS NOT NULL AS known
--> [true, true]
SELECT is_member('users') AS a, is_account_group_member('account users') AS b, is_member('nobody') AS c
--> [true, true, false]
SELECT g, is_member(g) AS m FROM VALUES ('users'), ('x') t(g) ORDER BY g
--> ["users", true], ["x", false]
SET spark.lakeward.groups = engineers, x
--> ok
SELECT is_member('x') AS x, is_account_group_member('engineers') AS e
--> [true, true]
RESET spark.lakeward.groups
--> ok
-- The runtime
SELECT current_version().dbr_version RLIKE '^[0-9]+\\.[0-9]+$' AS dbr, current_version().dbsql_version AS sql
--> [true, null]
SELECT current_version(1)
--! WRONG_NUM_ARGS.WITHOUT_SUGGESTION
-- What the platform alone has
SELECT ai_query('model', 'text')
--! UNSUPPORTED_SQL
CREATE TEMPORARY FUNCTION ai_summarize(t STRING) RETURNS STRING RETURN left(t, 3)
--> ok
SELECT ai_summarize('a long text') AS s
--> ["a l"]
DROP TEMPORARY FUNCTION ai_summarize
--> ok
-- Other names
SELECT charindex('b', 'abc') AS a, charindex('b', 'abcb', 3) AS b, iff(true, 1, 2) AS c, getdate() IS NOT NULL AS d
--> [2, 4, 1, true]
-- Secrets
SELECT secret('corpus', 'nothing')
--! SECRET_NOT_FOUND
SELECT try_secret('corpus', 'nothing') AS s
--> [null]
SELECT secret('corpus')
--! NON_FOLDABLE_ARGUMENT
CREATE OR REPLACE FUNCTION f(x INT) RETURNS INT LANGUAGE PYTHON AS $$ return x + 1 $$
--> ok
SELECT f(1) AS n
--> [2]
-- The code of a function between tags, and the names of columns
CREATE FUNCTION tagged(x INT) RETURNS INT LANGUAGE PYTHON AS $code$ return x + len("$$") $code$
--> ok
SELECT tagged(1), tagged(2) + 1
--= main.corpus_functions.tagged(1), (main.corpus_functions.tagged(2) + 1)
--> [3, 5]
SELECT max(tagged(CAST(id AS INT))) OVER () FROM range(1)
--= max(main.corpus_functions.tagged(CAST(id AS INT))) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
--> [2]
-- Numeric arguments are cast to the narrower type that a function expects
SELECT date_add(DATE '2024-01-01', id), date_sub(DATE '2024-01-01', id), DATE '2024-01-01' + id, DATE '2024-01-01' - id FROM range(1, 2)
--> ["2024-01-02", "2023-12-31", "2024-01-02", "2023-12-31"]
SELECT date_add(TIMESTAMP '2024-01-01 10:00:00', 1L), date_add('2024-01-01', 1.9D), date_add(DATE '2024-01-01', 2.5)
--> ["2024-01-02", "2024-01-02", "2024-01-03"]
SELECT date_add(DATE '2024-01-01', CAST(-(id % 2) AS BIGINT)) FROM range(1, 2)
--> ["2023-12-31"]
SELECT array_repeat('x', id), format_number(1.5, id), repeat('x', id), substring('hello', id, 2) FROM range(2, 3)
--> [["x", "x"], "1.50", "xx", "el"]
SELECT element_at(ARRAY('a', 'b'), id), element_at(ARRAY('a', 'b'), -1L), try_element_at(ARRAY('a'), id) FROM range(1, 2)
--> ["a", "b", "a"]
SELECT element_at(MAP(1L, 'a'), id), array_insert(ARRAY(1, 2), id, 3), array_insert(ARRAY('a'), 1L, 'b') FROM range(1, 2)
--> ["a", [3, 1, 2], ["b", "a"]]
SELECT element_at(ARRAY('a', 'b'), 3000000000)
--! CAST_OVERFLOW
SELECT array_insert(ARRAY('a', 'b'), 'x', 1)
--! DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE
SELECT date_add(DATE '2024-01-01', 3000000000)
--! CAST_OVERFLOW
SELECT date_add(DATE '2024-01-01', true)
--! DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE
SELECT date_add(DATE '2024-01-01', ARRAY(1))
--! DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE
-- The table function event_log takes one argument
SELECT * FROM event_log()
--! WRONG_NUM_ARGS.WITHOUT_SUGGESTION
SELECT * FROM event_log('a', 'b')
--! WRONG_NUM_ARGS.WITHOUT_SUGGESTION
SELECT * FROM event_log(NULL)
--! EVENT_LOG_UNAVAILABLE
SELECT * FROM event_log('no such pipeline')
--! EVENT_LOG_UNAVAILABLE

SELECT string(zstd_decompress(unbase64("KLUv/SCCpQAAaEFwYWNoZSBTcGFyayABABLS+QU=")))
--> ["Apache Spark Apache Spark Apache Spark Apache Spark Apache Spark Apache Spark Apache Spark Apache Spark Apache Spark Apache Spark "]
SELECT string(zstd_decompress(zstd_compress(v))), string(try_zstd_decompress(zstd_compress(binary(v), 19L))), string(zstd_decompress(zstd_compress(v, level, true))) FROM VALUES ('Apache Spark', 7), ('', 1) AS t(v, level)
--> ["Apache Spark", "Apache Spark", "Apache Spark"], ["", "", ""]
SELECT zstd_decompress(zstd_compress(v)) FROM VALUES ('a') AS t(v) LIMIT 0
--= zstd_decompress(zstd_compress(v))
--> ok
SELECT base64(zstd_compress(repeat('Apache Spark ', 10)))
--> ["KLUv/SCCpQAAaEFwYWNoZSBTcGFyayABABLS+QU="]
SELECT zstd_compress(NULL), zstd_compress('a', NULL), zstd_decompress(NULL), try_zstd_decompress(NULL), typeof(zstd_compress('a'))
--> [null, null, null, null, "binary"]
SELECT try_zstd_decompress('invalid input'), try_zstd_decompress(x'DEADBEEF'), try_zstd_decompress(''), try_zstd_decompress(substring(zstd_compress('abc'), 1, 6))
--> [null, null, null, null]
SELECT zstd_decompress('invalid input')
--! INVALID_PARAMETER_VALUE.ZSTD_DECOMPRESS_INPUT
SELECT zstd_decompress(substring(zstd_compress(v), 1, 6)) FROM VALUES ('abc') AS t(v)
--! INVALID_PARAMETER_VALUE.ZSTD_DECOMPRESS_INPUT
SELECT zstd_compress('a', 99)
--! INVALID_PARAMETER_VALUE
SELECT zstd_decompress(1)
--! DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE
SELECT zstd_compress()
--! WRONG_NUM_ARGS.WITHOUT_SUGGESTION
SELECT zstd_decompress('a', 1)
--! WRONG_NUM_ARGS.WITHOUT_SUGGESTION
-- Table functions and default values that call functions
CREATE FUNCTION pair(x INT) RETURNS TABLE (v INT) RETURN SELECT x UNION ALL SELECT x + 1
--> ok
CREATE FUNCTION pair_of(x INT) RETURNS TABLE (v INT) RETURN SELECT * FROM pair(x)
--> ok
CREATE FUNCTION pair_of_schema(x INT) RETURNS TABLE (v INT) RETURN SELECT p.v + q.v FROM corpus_functions.pair(x) AS p JOIN pair_of(0) q ON true
--> ok
CREATE FUNCTION total(x INT) RETURNS INT RETURN (SELECT sum(v) FROM main.corpus_functions.`pair`(x))
--> ok
CREATE FUNCTION with_defaults(x INT, a INT DEFAULT plus(1), b DECIMAL(5, 1) DEFAULT corpus_functions.total(2), c INT DEFAULT main.corpus_functions.total(3) COMMENT 'c') RETURNS INT RETURN x + a + b + c
--> ok
CREATE OR REPLACE FUNCTION pair(x INT) RETURNS TABLE (v INT) RETURN SELECT * FROM pair_of(x)
--! CYCLIC_FUNCTION_REFERENCE
CREATE FUNCTION of_missing() RETURNS TABLE (v INT) RETURN SELECT * FROM no_such_table_function(1)
--! UNRESOLVABLE_TABLE_VALUED_FUNCTION
CREATE FUNCTION of_builtin(n INT) RETURNS BIGINT RETURN (SELECT sum(id) FROM range(4))
--> ok
CREATE VIEW of_pair AS SELECT v FROM pair(7)
--> ok
CREATE TEMPORARY VIEW temporary_of_pair AS SELECT v FROM pair(8)
--> ok
USE main.default
--> ok
SELECT corpus_functions.total(1) AS a, corpus_functions.with_defaults(1) AS b, corpus_functions.with_defaults(1, c => 0) AS c, corpus_functions.of_builtin(1) AS d
--> [3, 24, 17, 6]
SELECT v FROM corpus_functions.pair_of(4) ORDER BY v
--> [4], [5]
SELECT v FROM main.corpus_functions.pair_of_schema(4) ORDER BY v
--> [4], [5], [5], [6]
SELECT v FROM corpus_functions.of_pair ORDER BY v
--> [7], [8]
SELECT v FROM temporary_of_pair ORDER BY v
--> [8], [9]
USE main.corpus_functions
--> ok
SELECT routine_definition AS d FROM information_schema.routines WHERE routine_name = 'pair_of'
--> ["SELECT * FROM `main`.`corpus_functions`.`pair`(x)"]
SELECT parameter_name AS p, parameter_default AS d FROM information_schema.parameters WHERE specific_name = 'with_defaults' ORDER BY ordinal_position
--> ["x", null], ["a", "`main`.`corpus_functions`.`plus`(1)"], ["b", "`main`.`corpus_functions`.`total`(2)"], ["c", "`main`.`corpus_functions`.`total`(3)"]
DESCRIBE FUNCTION EXTENDED pair_of
--> ok
DROP VIEW temporary_of_pair
--> ok
--= schema_of_json_agg(a)
SELECT schema_of_json_agg(a) FROM VALUES ('{"a": 1}'), ('{"b": "x"}'), (NULL) AS t(a)
--> ["STRUCT<a: BIGINT, b: STRING>"]
SELECT k, schema_of_json_agg(a) FROM VALUES (1, '{"a": 1}'), (1, '{"a": 1.5}'), (2, '[1, 2]') AS t(k, a) GROUP BY k ORDER BY k
--> [1, "STRUCT<a: DOUBLE>"], [2, "ARRAY<BIGINT>"]
SELECT schema_of_json_agg(a, map('primitivesAsString', 'true')) FROM VALUES ('{"a": 1, "b": null}') AS t(a)
--> ["STRUCT<a: STRING, b: STRING>"]
SELECT schema_of_json_agg(a) FROM VALUES ('{"a": 1}'), ('{bad') AS t(a)
--! MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION
SELECT schema_of_json_agg(a) FROM VALUES ('{"a": [{"b": 1}]}'), ('{"a": [{"c": true}]}') AS t(a)
--> ["STRUCT<a: ARRAY<STRUCT<b: BIGINT, c: BOOLEAN>>>"]

SELECT schema_of_json_agg(DISTINCT a) FROM VALUES ('{"a": 1}'), ('{"a": 1}'), ('{"b": 1}') AS t(a)
--> ["STRUCT<a: BIGINT, b: BIGINT>"]
SELECT k, schema_of_json_agg(DISTINCT a), count(DISTINCT a) FROM VALUES (1, '{"a": 1}'), (1, '{"a": 1}'), (2, '2') AS t(k, a) GROUP BY k ORDER BY k
--> [1, "STRUCT<a: BIGINT>", 1], [2, "BIGINT", 1]
SELECT schema_of_json_agg(ALL a) FILTER (WHERE k > 1) FROM VALUES (1, '{"a": 1}'), (2, '{"b": 1}') AS t(k, a)
--> ["STRUCT<b: BIGINT>"]
SELECT k, schema_of_json_agg(a) OVER (PARTITION BY k % 2 ORDER BY k) AS s FROM VALUES (1, '{"a": 1}'), (3, '{"b": 1}'), (2, '{"c": 1}') AS t(k, a) ORDER BY k
--> [1, "STRUCT<a: BIGINT>"], [2, "STRUCT<c: BIGINT>"], [3, "STRUCT<a: BIGINT, b: BIGINT>"]
SELECT schema_of_json_agg(a) FROM VALUES (1) AS t(k) LATERAL VIEW explode(array('{"a": 1}', '{"a": 2.5}')) AS a HAVING schema_of_json_agg(a) LIKE '%DOUBLE%'
--> ["STRUCT<a: DOUBLE>"]
SELECT schema_of_json_agg(a) FROM VALUES ('{"a": 1}') AS t(a) WHERE false
--> ["STRING"]
SELECT schema_of_json_agg(a, b) FROM VALUES ('{"a": 1}', map('x', 'y')) AS t(a, b)
--! INVALID_OPTIONS.NON_MAP_FUNCTION
SELECT schema_of_json_agg(1)
--> ["BIGINT"]
SELECT schema_of_json_agg()
--! WRONG_NUM_ARGS.WITHOUT_SUGGESTION
SELECT http_request(conn => 'c', method => 'GET', path => '/')
--! UNSUPPORTED_SQL
SELECT * FROM read_kafka(bootstrapServers => 'host:9092', subscribe => 't')
--! UNSUPPORTED_SQL
SELECT * FROM STREAM read_kafka(bootstrapServers => 'host:9092', subscribe => 't')
--! UNSUPPORTED_SQL
SELECT * FROM ai_forecast(TABLE(nothing), horizon => '2024-01-01', time_col => 'd', value_col => 'v')
--! UNSUPPORTED_SQL
SELECT * FROM vector_search(index => 'a.b.c', query_text => 'x')
--! UNSUPPORTED_SQL
SELECT * FROM remote_query('c', database => 'd', query => 'SELECT 1')
--! UNSUPPORTED_SQL
SELECT * FROM STREAM read_kinesis(streamName => 's')
--! UNSUPPORTED_SQL
SELECT * FROM STREAM(read_pubsub(subscriptionId => 's'))
--! UNSUPPORTED_SQL
SELECT * FROM read_pulsar(serviceUrl => 'p')
--! UNSUPPORTED_SQL
CREATE FUNCTION vector_search(x STRING) RETURNS TABLE (y STRING) RETURN SELECT x
--> ok
SELECT * FROM vector_search('q')
--> ["q"]
SELECT schema_of_json('{bad')
--! MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION
SELECT schema_of_json('[1,', map('primitivesAsString', 'true'))
--! MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION
SELECT schema_of_json(concat('{"a"', ':1}')), schema_of_json('{''b'': NaN}'), schema_of_json('')
--> ["STRUCT<a: BIGINT>", "STRUCT<b: DOUBLE>", "STRING"]
SELECT schema_of_csv('')
--! MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION
SELECT schema_of_csv('1,a'), schema_of_csv('1|a', map('sep', '|'))
--> ["STRUCT<_c0: INT, _c1: STRING>", "STRUCT<_c0: INT, _c1: STRING>"]
SELECT schema_of_json(CAST(NULL AS STRING))
--! DATATYPE_MISMATCH.UNEXPECTED_NULL
SELECT schema_of_json(1)
--! DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE
SELECT is_member()
--! WRONG_NUM_ARGS.WITHOUT_SUGGESTION
SELECT is_member('a', 'b')
--! WRONG_NUM_ARGS.WITHOUT_SUGGESTION
SELECT is_account_group_member()
--! WRONG_NUM_ARGS.WITHOUT_SUGGESTION

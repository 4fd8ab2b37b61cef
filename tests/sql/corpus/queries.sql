SELECT 1 AS a, 'x' AS b
--= a, b
--> [1, "x"]
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 4) SELECT n FROM r ORDER BY n
--> [1], [2], [3], [4]
SELECT id FROM range(5) QUALIFY row_number() OVER (ORDER BY id DESC) = 1
--> [4]
SELECT a, sum(b) AS s FROM VALUES ('x', 1), ('x', 2), ('y', 5) t(a, b) GROUP BY ALL ORDER BY ALL
--> ["x", 3], ["y", 5]
SELECT * EXCEPT (b) FROM VALUES (1, 2) t(a, b)
--= a
--> [1]
SELECT id FROM range(10) ORDER BY id LIMIT 2 OFFSET 3
--> [3], [4]
SELECT * FROM VALUES ('a', 1), ('a', 2), ('b', 3) t(k, v) PIVOT (sum(v) FOR k IN ('a', 'b'))
--> [3, 3]
SELECT * FROM VALUES (1, 2) t(a, b) UNPIVOT (v FOR n IN (a, b)) ORDER BY n
--> ["a", 1], ["b", 2]
FROM range(4) |> WHERE id > 1 |> SELECT id * 10 AS n |> ORDER BY n
--> [20], [30]
SELECT sum(a) FILTER (WHERE a > 1) AS s FROM VALUES (1), (2), (3) t(a)
--> [5]
SELECT a, lead(a) OVER (ORDER BY a) AS n FROM VALUES (1), (2) t(a) ORDER BY a
--> [1, 2], [2, null]
SELECT a FROM VALUES (1), (2) t(a) INTERSECT SELECT 2 AS a
--> [2]
SELECT a FROM VALUES (1), (2) t(a) EXCEPT SELECT 2 AS a
--> [1]
SELECT a FROM VALUES (1), (NULL) t(a) WHERE a IS NOT DISTINCT FROM NULL
--> [null]
SELECT t.a, e.x FROM VALUES (array(1, 2)) t(a) LATERAL VIEW explode(a) e AS x ORDER BY x
--> [[1, 2], 1], [[1, 2], 2]
SELECT x.col AS n FROM VALUES (array(1, 2)) t(a), LATERAL explode(t.a) AS x ORDER BY n
--> [1], [2]
SELECT l.id FROM range(3) l LEFT SEMI JOIN range(1, 5) r ON l.id = r.id ORDER BY l.id
--> [1], [2]
SELECT l.id FROM range(3) l LEFT ANTI JOIN range(1, 5) r ON l.id = r.id
--> [0]
SELECT id FROM range(3) WHERE id IN (SELECT id FROM range(1)) OR EXISTS (SELECT 1 WHERE id = 2) ORDER BY id
--> [0], [2]
SELECT named_struct('a', 1, 'b', 'x') AS s
--> [[1, "x"]]
SELECT map('k', 1) AS m, map('k', 1)['k'] AS v
--> [{"k": 1}, 1]
SELECT array(1, 2)[0] AS a, element_at(array(1, 2), -1) AS b, try_element_at(array(1), 5) AS c
--> [1, 2, null]
SELECT filter(array(1, 2, 3), x -> x > 1) AS a, aggregate(array(1, 2), 0, (s, x) -> s + x) AS b, exists(array(1), x -> x = 1) AS c
--> [[2, 3], 3, true]
SELECT if(true, 1, 2) AS a, nvl(NULL, 3) AS b, coalesce(NULL, 4) AS c, nullif(1, 1) AS d, zeroifnull(NULL) AS e
--> [1, 3, 4, null, 0]
SELECT 7 DIV 2 AS a, 7 % 2 AS b, 1 / 2 AS c, 2 <=> NULL AS d
--> [3, 1, 0.5, false]
SELECT 1 / 0
--! DIVIDE_BY_ZERO
SELECT try_divide(1, 0) AS a, try_add(1, 2) AS b, try_to_number('x', '99') AS c
--> [null, 3, null]
SELECT date_add(DATE'2024-02-28', 1) AS a, datediff(DATE'2024-03-01', DATE'2024-02-28') AS b, last_day(DATE'2024-02-01') AS c
--> ["2024-02-29", 2, "2024-02-29"]
SELECT dateadd(MONTH, 1, DATE'2024-01-31') AS a, date_diff(DAY, DATE'2024-01-01', DATE'2024-01-03') AS b
--> ["2024-02-29 00:00:00", 2]
SELECT date_trunc('MONTH', TIMESTAMP'2024-02-15 10:00:00') AS a, trunc(DATE'2024-02-15', 'YEAR') AS b
--> ["2024-02-01 00:00:00", "2024-01-01"]
SELECT to_date('15/02/2024', 'dd/MM/yyyy') AS a, date_format(DATE'2024-02-15', 'yyyy-MM') AS b, try_to_timestamp('x') AS c
--> ["2024-02-15", "2024-02", null]
SELECT INTERVAL '1' DAY + DATE'2024-01-01' AS a, make_date(2024, 1, 2) AS b, extract(YEAR FROM DATE'2024-01-01') AS c
--> ["2024-01-02", "2024-01-02", 2024]
SELECT upper('a') AS a, len('abc') AS b, substr('abc', 2) AS c, split('a,b', ',') AS d, 'a' ILIKE 'A' AS e, 'ab' RLIKE '^a' AS f
--> ["A", 3, "bc", ["a", "b"], true, true]
SELECT startswith('ab', 'a') AS a, contains('ab', 'b') AS b, regexp_extract('a1', '([0-9])', 1) AS c, translate('abc', 'a', 'x') AS d
--> [true, true, "1", "xbc"]
SELECT 'a' LIKE ANY ('b', 'a%') AS a, 'it''s' AS b, r'a\n' AS c, "dq" AS d
--> [true, "it's", "a\\n", "dq"]
SELECT to_json(named_struct('a', 1)) AS a, from_json('{"a": 1}', 'a INT').a AS b, get_json_object('{"a": 2}', '$.a') AS c
--> ["{\"a\":1}", 1, "2"]
SELECT schema_of_json('{"a": 1}') AS a, to_json(parse_json('{"b": [1, 2]}')) AS b, is_variant_null(parse_json('null')) AS c
--> ["STRUCT<a: BIGINT>", "{\"b\":[1,2]}", true]
SELECT max_by(a, b) AS m, count_if(a > 1) AS c, any_value(a) IS NOT NULL AS n, mode(a) AS o FROM VALUES (1, 10), (2, 5), (2, 6) t(a, b)
--> [1, 2, true, 2]
SELECT approx_count_distinct(a) AS n, collect_set(a) AS s, array_agg(a) AS l, listagg(b, ',') AS t FROM VALUES (1, 'x') t(a, b)
--> [1, [1], [1], "x"]
SELECT listagg(c, ', ') WITHIN GROUP (ORDER BY c) AS a, lower(string_agg(DISTINCT c, ';')) AS b FROM VALUES ('x' COLLATE UTF8_LCASE), ('X' COLLATE UTF8_LCASE) t(c)
--> ["x, X", "x"]
SELECT listagg(c, ',' COLLATE UNICODE) AS a FROM VALUES ('x' COLLATE UTF8_LCASE) t(c)
--! DATATYPE_MISMATCH.DATA_DIFF_TYPES
SELECT percentile_approx(a, 0.5) AS p, median(a) AS m, stddev_pop(a) AS s FROM VALUES (1), (3) t(a)
--> [1, 2.0, 1.0]
SELECT CASE 1 WHEN 1 THEN 'one' ELSE 'other' END AS a, decode(2, 1, 'x', 2, 'y') AS b, greatest(1, 3) AS c
--> ["one", "y", 3]
SELECT grouping(a) AS g, sum(b) AS s FROM VALUES (1, 2), (3, 4) t(a, b) GROUP BY ROLLUP (a) ORDER BY g, s
--> [0, 2], [0, 4], [1, 6]
SELECT window.start AS s, count(*) AS n FROM VALUES (TIMESTAMP'2024-01-01 00:03:00') t(ts) GROUP BY window(ts, '5 minutes')
--> ["2024-01-01 00:00:00", 1]
SELECT explode(sequence(1, 3)) AS n
--> [1], [2], [3]
SELECT inline(array(struct(1 AS a, 'x' AS b)))
--= a, b
--> [1, "x"]
SELECT stack(2, 1, 2) AS n
--> [1], [2]
VALUES (1, 'a'), (2, 'b')
--> [1, "a"], [2, "b"]
SELECT nope FROM range(1)
--! UNRESOLVED_COLUMN.WITH_SUGGESTION
SELECT * FROM nope
--! TABLE_OR_VIEW_NOT_FOUND
SELEC 1
--! PARSE_SYNTAX_ERROR
SELECT no_such_function(1)
--! UNRESOLVED_ROUTINE
SELECT :missing
--! UNBOUND_SQL_PARAMETER
-- Variables and scripts
DECLARE OR REPLACE VARIABLE corpus_v INT DEFAULT 5
--> ok
SET VAR corpus_v = corpus_v + 1
--> ok
SELECT corpus_v AS v, session.corpus_v AS w
--> [6, 6]
EXECUTE IMMEDIATE 'SELECT 1 AS a'
--> [1]
BEGIN DECLARE x INT DEFAULT 1; SET x = x + 1; SELECT x AS n; END
--> [2]
CREATE OR REPLACE TEMPORARY FUNCTION corpus_plus(x INT) RETURNS INT RETURN x + 1
--> ok
SELECT corpus_plus(1) AS n
--> [2]
CREATE OR REPLACE TEMPORARY VIEW corpus_view AS SELECT '{"a": "7"}':a?::int AS n
--> ok
SELECT n FROM corpus_view
--> [7]
DROP VIEW corpus_view
--> ok
SELECT current_catalog() AS c, current_schema() AS s
--> ["main", "corpus_queries"]
SET corpus.k = 7
--> ok
SELECT ${corpus.k} + 1 AS n, '${corpus.k}' AS s
--> [8, "7"]
SELECT '{"a": "${corpus.k}"}':a AS a
--> ["7"]
RESET corpus.k
--> ok
BEGIN TRANSACTION
--> ok
ROLLBACK TRANSACTION
--> ok

-- MERGE with all columns but some
CREATE TABLE t (id INT, v STRING, `w-x` INT) TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')
--> ok
INSERT INTO t VALUES (1, 'a', 10), (2, 'b', 20)
--> ok
CREATE TABLE s AS SELECT * FROM VALUES (2, 'n', 21), (3, 'm', 30) AS s(id, v, `w-x`)
--> ok
MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * EXCEPT (id, V)
--> [1, 1, 0, 0]
SELECT * FROM t ORDER BY id
--> [1, "a", 10], [2, "b", 21]
MERGE INTO t AS target USING (SELECT * FROM s) AS source ON target.id = source.id
WHEN MATCHED AND source.v = 'n' THEN UPDATE SET * EXCEPT (`w-x`)
WHEN NOT MATCHED THEN INSERT * EXCEPT (v)
--> [2, 1, 0, 1]
SELECT * FROM t ORDER BY id
--> [1, "a", 10], [2, "n", 21], [3, null, 30]
MERGE INTO main.corpus_merges.t USING main.corpus_merges.s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * EXCEPT (id)
--> [2, 2, 0, 0]
MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * EXCEPT ()
--! PARSE_SYNTAX_ERROR
MERGE INTO nope USING s ON nope.id = s.id WHEN MATCHED THEN UPDATE SET * EXCEPT (id)
--! TABLE_OR_VIEW_NOT_FOUND
MERGE INTO t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * EXCEPT (id)
--! DELTA_MERGE_UNRESOLVED_EXPRESSION

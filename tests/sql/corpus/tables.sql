CREATE TABLE t (id INT, b STRING COMMENT 'q') PARTITIONED BY (b) COMMENT 'the table' TBLPROPERTIES ('team' = 'x')
--> ok
INSERT INTO t VALUES (1, 'x'), (2, 'y')
--> ok
SELECT id FROM main.corpus_tables.t ORDER BY id
--> [1], [2]
COMMENT ON COLUMN main.corpus_tables.t.id IS 'the id'
--> ok
COMMENT ON COLUMN t.nope IS 'x'
--! UNRESOLVED_COLUMN.WITH_SUGGESTION
COMMENT ON TABLE t IS 'it\'s a table'
--> ok
CREATE TABLE u DEEP CLONE t
--> ok
SELECT * FROM u ORDER BY id
--> [1, "x"], [2, "y"]
DESCRIBE TABLE u
--> ["id", "int", "the id"], ["b", "string", "q"], ["# Partition Information", "", ""], ["# col_name", "data_type", "comment"], ["b", "string", "q"]
SHOW TBLPROPERTIES u ('team')
--> ["team", "x"]
CREATE TABLE u CLONE t
--! TABLE_OR_VIEW_ALREADY_EXISTS
CREATE TABLE IF NOT EXISTS u CLONE t
--> ok
CREATE TABLE w CLONE nope
--! TABLE_OR_VIEW_NOT_FOUND
CREATE TABLE a (id INT) CLUSTER BY AUTO
--> ok
ALTER TABLE a CLUSTER BY AUTO
--> ok
ALTER TABLE nope CLUSTER BY AUTO
--! TABLE_OR_VIEW_NOT_FOUND
CREATE OR REPLACE TABLE a CLUSTER BY AUTO AS SELECT '5'?::int AS n
--> ok
SELECT n FROM a
--> [5]
CREATE TABLE g (id BIGINT GENERATED ALWAYS AS IDENTITY, b INT, c INT GENERATED ALWAYS AS (b + 1))
--> ok
INSERT INTO g (b) VALUES (3)
--> ok
SELECT b, c FROM g
--> [3, 4]
ALTER TABLE g ADD CONSTRAINT positive CHECK (b > 0)
--> ok
CREATE TABLE j AS SELECT '{"k": "v", "n": "2"}' AS raw
--> ok
UPDATE j SET raw = concat('{"k": "', raw:k, '2"}') WHERE raw:n?::int = 2
--> ok
SELECT raw:k FROM j
--= k
--> ["v2"]
CREATE VIEW jv AS SELECT raw:k?::int AS n, raw:K FROM j
--> ok
SELECT * FROM jv
--= n, K
--> [null, "v2"]
UNDROP TABLE never
--! TABLE_OR_VIEW_NOT_FOUND
UNDROP TABLE nothing.never
--! SCHEMA_NOT_FOUND
UNDROP TABLE WITH ID '6ca7be55-8f58-47a7-85ee-7a59082fd17a'
--! TABLE_OR_VIEW_NOT_FOUND
FSCK REPAIR TABLE t
--! UNSUPPORTED_SQL
-- Governance
ALTER TABLE t SET TAGS ('pii' = 'no', 'team')
--> ok
ALTER TABLE t ALTER COLUMN id SET TAGS ('key' = 'yes')
--> ok
ALTER TABLE t UNSET TAGS ('team')
--> ok
SET TAG ON TABLE t cost = low
--> ok
UNSET TAG ON TABLE t cost
--> ok
ALTER TABLE nope SET TAGS ('a' = 'b')
--! TABLE_OR_VIEW_NOT_FOUND
ALTER TABLE t OWNER TO `someone else`
--> ok
ALTER SCHEMA main.corpus_tables SET OWNER TO someone
--> ok
GRANT SELECT, MODIFY ON TABLE t TO `data team`
--> ok
GRANT USE SCHEMA ON SCHEMA corpus_tables TO readers
--> ok
SHOW GRANTS ON TABLE t
--= Principal, ActionType, ObjectType, ObjectKey
--> ["readers", "USE SCHEMA", "SCHEMA", "main.corpus_tables"], ["data team", "MODIFY", "TABLE", "main.corpus_tables.t"], ["data team", "SELECT", "TABLE", "main.corpus_tables.t"]
REVOKE MODIFY ON t FROM `data team`
--> ok
SHOW GRANTS `data team` ON TABLE t
--> ["data team", "SELECT", "TABLE", "main.corpus_tables.t"]
REVOKE ALL PRIVILEGES ON TABLE t FROM `data team`
--> ok
SHOW GRANTS `data team` ON TABLE t
--> 
GRANT SELECT ON TABLE nope TO readers
--! TABLE_OR_VIEW_NOT_FOUND
GRANT SELECT ON SCHEMA corpus_nope TO readers
--! SCHEMA_NOT_FOUND
DROP TABLE t
--> ok
CREATE TABLE t (id INT)
--> ok
SHOW GRANTS `data team` ON TABLE t
--> 
-- Inserts that replace
CREATE TABLE r AS SELECT * FROM VALUES (1, 'a'), (1, 'b'), (2, 'c'), (CAST(NULL AS INT), 'd') t(k, v)
--> ok
INSERT INTO r REPLACE USING (k) SELECT * FROM VALUES (1, 'x'), (1, 'y'), (9, 'z') t(k, v)
--> ok
SELECT k, v FROM r ORDER BY k NULLS FIRST, v
--> [null, "d"], [1, "x"], [1, "y"], [2, "c"], [9, "z"]
INSERT INTO r AS t REPLACE ON t.k = s.low OR t.v = 'd' (SELECT 2 AS low, 'new' AS w) AS s
--> ok
SELECT k, v FROM r ORDER BY k, v
--> [1, "x"], [1, "y"], [2, "new"], [9, "z"]
INSERT INTO r AS t BY NAME REPLACE ON t.k = s.k (SELECT 'named' AS v, 2 AS k) AS s
--> ok
SELECT k, v FROM r WHERE k = 2
--> [2, "named"]
INSERT INTO r AS t REPLACE ON t.k = s.k AND t.k = 2 VALUES (2, 'inline'), (3, 'third') AS s(k, v)
--> ok
INSERT INTO r AS t REPLACE ON (t.k = s.k) VALUES (2, 'without AS'), (3, 'fourth') s (k, v)
--> ok
INSERT INTO r AS t REPLACE ON t.k <=> s.col1 VALUES (2, 'unnamed') AS s
--> ok
INSERT INTO r AS t REPLACE ON t.k = s.`low` (SELECT 3, 'listed') AS s(`low`, w)
--> ok
INSERT INTO r AS t REPLACE ON t.k = s.low (VALUES (3, CAST('values' AS STRING))) s(low, w)
--> ok
SELECT k, v FROM r WHERE k IN (2, 3) ORDER BY k
--> [2, "unnamed"], [3, "values"]
INSERT INTO r AS t REPLACE ON t.k = low VALUES (3, CAST('cast' AS STRING)), (3, 'z') AS s(low, w) ORDER BY w LIMIT 1
--> ok
SELECT k, v FROM r WHERE k = 3
--> [3, "cast"]
DELETE FROM r WHERE k = 3
--> ok
INSERT INTO r t BY NAME REPLACE USING (k) SELECT 'new' AS v, 2 AS k
--> ok
INSERT INTO r (v, k) REPLACE USING (k) SELECT 'nine' AS q, 9 AS p
--> ok
SELECT v FROM r WHERE k = 9
--> ["nine"]
CREATE TABLE collated_keys (k STRING COLLATE UTF8_LCASE, v INT)
--> ok
INSERT INTO collated_keys VALUES ('a', 1), ('B', 2), ('b', 3)
--> ok
INSERT INTO collated_keys REPLACE USING (k) SELECT 'A', 9
--> [1, 1]
INSERT INTO collated_keys BY NAME REPLACE USING (k) SELECT 8 AS v, 'b' COLLATE UNICODE AS k
--> [1, 1]
INSERT INTO collated_keys (v, k) REPLACE USING (k) VALUES (7, NULL)
--> [1, 1]
SELECT k, v, collation(k) AS c FROM collated_keys ORDER BY v
--> [null, 7, "SYSTEM.BUILTIN.UTF8_LCASE"], ["b", 8, "SYSTEM.BUILTIN.UTF8_LCASE"], ["A", 9, "SYSTEM.BUILTIN.UTF8_LCASE"]
INSERT INTO r REPLACE USING (nope) SELECT 1 AS k, 'x' AS v
--! UNRESOLVED_COLUMN.WITH_SUGGESTION
INSERT INTO r REPLACE USING (k) SELECT 1 AS k
--! INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS
-- Keys, statistics, statements shown
CREATE TABLE k (id BIGINT NOT NULL PRIMARY KEY, o INT CONSTRAINT f FOREIGN KEY REFERENCES r (k), CONSTRAINT g FOREIGN KEY (o) REFERENCES r)
--! FOREIGN_KEY_MISMATCH
CREATE TABLE kr (k INT PRIMARY KEY)
--> ok
CREATE TABLE k (id BIGINT NOT NULL PRIMARY KEY, o INT CONSTRAINT f FOREIGN KEY REFERENCES kr (k), CONSTRAINT g FOREIGN KEY (o) REFERENCES kr)
--> ok
DESCRIBE TABLE k
--> ["id", "bigint", null], ["o", "int", null]
ALTER TABLE k ADD CONSTRAINT pk PRIMARY KEY (id) RELY
--! MULTIPLE_PRIMARY_KEYS
ALTER TABLE k DROP PRIMARY KEY IF EXISTS
--> ok
ALTER TABLE k ADD CONSTRAINT pk PRIMARY KEY (id) RELY
--> ok
ALTER TABLE nope ADD CONSTRAINT pk PRIMARY KEY (id)
--! TABLE_OR_VIEW_NOT_FOUND
-- UNIQUE is informational, too; CHECK belongs to ALTER TABLE
CREATE TABLE uk (id INT NOT NULL UNIQUE NOT ENFORCED COMMENT 'UNIQUE', `unique` STRING, s STRUCT<unique: MAP<INT, ARRAY<INT>>> UNIQUE, CONSTRAINT u UNIQUE (id, `unique`) RELY, UNIQUE (`unique`))
--> ok
DESCRIBE TABLE uk
--> ["id", "int", "UNIQUE"], ["unique", "string", null], ["s", "struct<unique:map<int,array<int>>>", null]
INSERT INTO uk VALUES (1, 'a', null), (1, 'a', null)
--> [2, 2]
SELECT constraint_name, constraint_type, enforced FROM information_schema.table_constraints WHERE table_schema = 'corpus_tables' AND table_name = 'uk' ORDER BY ALL
--> ["u", "UNIQUE", "NO"], ["uk_id_unique", "UNIQUE", "NO"], ["uk_s_unique", "UNIQUE", "NO"], ["uk_unique_unique", "UNIQUE", "NO"]
ALTER TABLE uk ADD CONSTRAINT later UNIQUE (id) NOT ENFORCED
--> ok
ALTER TABLE uk ADD UNIQUE (nope)
--! UNRESOLVED_COLUMN.WITH_SUGGESTION
ALTER TABLE uk DROP CONSTRAINT u
--> ok
CREATE TABLE uq (unique INT, id INT GENERATED ALWAYS AS (unique + 1))
--> ok
SELECT count(*) FROM information_schema.table_constraints WHERE table_schema = 'corpus_tables' AND table_name = 'uq'
--> [0]
CREATE TABLE ck (id INT, CONSTRAINT positive CHECK (id > 0))
--! PARSE_SYNTAX_ERROR
CREATE TABLE IF NOT EXISTS ck (id INT, CHECK (id > 0))
--! PARSE_SYNTAX_ERROR
CREATE OR REPLACE TABLE ck (id INT NOT NULL CHECK (id > 0), v STRING)
--! PARSE_SYNTAX_ERROR
CREATE TABLE ck (`check` INT, v STRING COMMENT 'CHECK (v)')
--> ok
ALTER TABLE ck ADD CONSTRAINT positive CHECK (`check` > 0)
--> ok
ANALYZE TABLE k COMPUTE STATISTICS FOR ALL COLUMNS
--> ok
ANALYZE TABLE k COMPUTE DELTA STATISTICS
--> ok
ANALYZE TABLE nope COMPUTE DELTA STATISTICS
--! TABLE_OR_VIEW_NOT_FOUND
ANALYZE TABLE nope COMPUTE STATISTICS
--! TABLE_OR_VIEW_NOT_FOUND
SHOW CREATE TABLE u
--= createtab_stmt
--> ["CREATE TABLE main.corpus_tables.u (\n  id INT COMMENT 'the id',\n  b STRING COMMENT 'q')\nUSING delta\nPARTITIONED BY (b)\nCOMMENT 'it\\'s a table'\nTBLPROPERTIES (\n  'team' = 'x')\n"]
SHOW CREATE TABLE jv
--> ["CREATE VIEW main.corpus_tables.jv AS SELECT raw:k?::int AS n, raw:K FROM j"]
SHOW CREATE TABLE nope
--! TABLE_OR_VIEW_NOT_FOUND
CREATE OR REPLACE TABLE sc SHALLOW CLONE r
--> ok
CREATE OR REPLACE TABLE sc SHALLOW CLONE r VERSION AS OF 0
--> ok
SELECT count(*) AS n FROM sc
--> [4]
CREATE TABLE uniform (id INT) TBLPROPERTIES ('delta.enableIcebergCompatV2' = 'true', 'delta.universalFormat.enabledFormats' = 'iceberg')
--> ok
INSERT INTO uniform VALUES (1), (2)
--> ok
UPDATE uniform SET id = 3 WHERE id = 2
--> ok
SELECT * FROM uniform ORDER BY id
--> [1], [3]
SHOW TBLPROPERTIES uniform ('delta.universalFormat.enabledFormats')
--> ["delta.universalFormat.enabledFormats", "iceberg"]
CREATE TABLE uniform_later AS SELECT 1 AS id
--> ok
ALTER TABLE uniform_later SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.enableIcebergCompatV2' = 'true', 'delta.universalFormat.enabledFormats' = 'iceberg')
--> ok
INSERT INTO uniform_later VALUES (2)
--> ok
REORG TABLE uniform_later APPLY (UPGRADE UNIFORM (ICEBERG_COMPAT_VERSION = 2))
--> ok
CREATE TABLE managed (id INT) TBLPROPERTIES ('delta.feature.catalogManaged' = 'supported', 'delta.feature.catalogOwned-preview' = 'supported')
--> ok
INSERT INTO managed VALUES (1)
--> ok
SELECT * FROM managed
--> [1]
-- Bloom filter indexes change no result; their tables and columns must exist
CREATE TABLE bloomed (id INT, place STRUCT<city: STRING>, name STRING)
--> ok
CREATE BLOOMFILTER INDEX ON TABLE bloomed FOR COLUMNS (id OPTIONS (fpp = 0.1, numItems = 50000000), NAME)
--> ok
CREATE BLOOMFILTER INDEX ON bloomed FOR COLUMNS (name) OPTIONS (fpp = 0.1)
--> ok
CREATE BLOOMFILTER INDEX ON bloomed
--> ok
CREATE BLOOMFILTER INDEX ON TABLE bloomed FOR COLUMNS (id, nope)
--! DELTA_CANNOT_CREATE_BLOOM_FILTER_NON_EXISTING_COL
CREATE BLOOMFILTER INDEX ON TABLE nope FOR COLUMNS (id)
--! TABLE_OR_VIEW_NOT_FOUND
CREATE BLOOMFILTER INDEX ON TABLE bloomed FOR COLUMNS id
--! PARSE_SYNTAX_ERROR
DROP BLOOMFILTER INDEX ON TABLE bloomed FOR COLUMNS (id, name)
--> ok
DROP BLOOMFILTER INDEX ON bloomed
--> ok
DROP BLOOMFILTER INDEX ON TABLE bloomed FOR COLUMNS (nope)
--! DELTA_BLOOM_FILTER_DROP_ON_NON_EXISTING_COLUMNS
DROP BLOOMFILTER INDEX ON TABLE bloomed FOR COLUMNS (id OPTIONS (fpp = 0.1))
--! PARSE_SYNTAX_ERROR
CREATE TABLE bloomless (id INT) USING parquet
--> ok
CREATE BLOOMFILTER INDEX ON TABLE bloomless FOR COLUMNS (id)
--! DELTA_ONLY_OPERATION
CREATE TABLE collated (id INT, name STRING COLLATE UTF8_LCASE, code STRING) DEFAULT COLLATION UNICODE_CI
--> ok
INSERT INTO collated VALUES (1, 'Ada', 'É'), (2, 'bo', 'x')
--> ok
SELECT id FROM collated WHERE name = 'ADA' AND code = 'é'
--> [1]
SELECT id FROM collated WHERE name = 'ada' COLLATE UTF8_BINARY
--> 
SELECT id FROM collated WHERE name > 'AZ'
--> [2]

-- statements on views
CREATE OR REPLACE TEMPORARY VIEW of_values AS SELECT 1 AS id, 'x' AS v
--> ok
DELETE FROM of_values
--! UNSUPPORTED_FEATURE.TABLE_OPERATION
DELETE FROM of_values AS o WHERE o.id = 1
--! UNSUPPORTED_FEATURE.TABLE_OPERATION
UPDATE of_values SET id = 2
--! UNSUPPORTED_FEATURE.TABLE_OPERATION
MERGE INTO of_values o USING (SELECT 1 AS id) s ON o.id = s.id WHEN MATCHED THEN DELETE
--! UNSUPPORTED_FEATURE.TABLE_OPERATION
ANALYZE TABLE of_values COMPUTE STATISTICS
--! EXPECT_PERMANENT_VIEW_NOT_TEMP
ANALYZE TABLE of_values COMPUTE STATISTICS FOR COLUMNS id
--! UNSUPPORTED_FEATURE.ANALYZE_UNCACHED_TEMP_VIEW
SHOW CREATE TABLE of_values
--! EXPECT_PERMANENT_VIEW_NOT_TEMP
CREATE VIEW stored_view AS SELECT 1 AS id
--> ok
ANALYZE TABLE stored_view COMPUTE STATISTICS
--! UNSUPPORTED_FEATURE.ANALYZE_VIEW
ANALYZE TABLE stored_view COMPUTE STATISTICS FOR ALL COLUMNS
--! UNSUPPORTED_FEATURE.ANALYZE_VIEW
ANALYZE TABLE information_schema.tables COMPUTE STATISTICS NOSCAN
--! UNSUPPORTED_FEATURE.ANALYZE_VIEW
SHOW CREATE TABLE information_schema.tables
--! UNSUPPORTED_SQL
CREATE TABLE analyzed (id INT, Name STRING)
--> ok
ANALYZE TABLE analyzed COMPUTE STATISTICS FOR COLUMNS ID, name
--> ok
ANALYZE TABLE analyzed COMPUTE STATISTICS FOR COLUMNS id, nope
--! COLUMN_NOT_FOUND
CREATE TEMPORARY TABLE private_rows AS SELECT 1 AS id
--> ok
ANALYZE TABLE private_rows COMPUTE STATISTICS FOR COLUMNS id
--> ok
DROP TEMPORARY TABLE private_rows
--> ok

-- a file that does not exist breaks no later job
ADD ARCHIVE '/nothing/nothing.zip#name'
--! PATH_NOT_FOUND
ADD FILE '/nothing/nothing.txt'
--! PATH_NOT_FOUND
SELECT sum(id) FROM range(3)
--> [3]
CREATE TABLE clustering_missing (id INT) CLUSTER BY (nope)
--! DELTA_COLUMN_NOT_FOUND_IN_SCHEMA
CREATE OR REPLACE TABLE clustering_missing CLUSTER BY (nope) AS SELECT 1 AS id
--! DELTA_COLUMN_NOT_FOUND_IN_SCHEMA
CREATE TABLE clustering_missing (id INT, s STRUCT<a: INT>) CLUSTER BY (id, s.b)
--! DELTA_COLUMN_NOT_FOUND_IN_SCHEMA
CREATE TABLE clustering_case (id INT, s STRUCT<a: INT>) CLUSTER BY (ID, S.A)
--> ok
CREATE TABLE unknown_property (id INT) TBLPROPERTIES (delta.enableChangeDataFeeed = true)
--! DELTA_UNKNOWN_CONFIGURATION
CREATE TABLE unknown_property TBLPROPERTIES ('delta.nope' = '1') AS SELECT 1 AS id
--! DELTA_UNKNOWN_CONFIGURATION
ALTER TABLE clustering_case SET TBLPROPERTIES ('delta.nope' = '1')
--! DELTA_UNKNOWN_CONFIGURATION
CREATE TABLE property_of_a_family (id INT) TBLPROPERTIES ('delta.enableIcebergCompatV9' = 'true', 'delta.checkpoint.inSomeOtherFormat' = 'x')
--> ok
CREATE OR REPLACE TABLE isolated (id INT) TBLPROPERTIES ('delta.isolationLevel' = 'WriteSerializable', 'delta.autoOptimize.autoCompact' = 'auto')
--> ok
INSERT INTO isolated VALUES (1)
--> ok
ALTER TABLE isolated SET TBLPROPERTIES ('delta.isolationLevel' = 'Serializable', 'delta.autoOptimize.autoCompact' = 'legacy')
--> ok
SHOW TBLPROPERTIES isolated ('delta.autoOptimize.autoCompact')
--> ok
ALTER TABLE isolated SET TBLPROPERTIES ('delta.isolationLevel' = 'sometimes')
--! DELTA_INVALID_ISOLATION_LEVEL
ALTER TABLE clustering_case SET TBLPROPERTIES ('delta.tuneFileSizesForRewrites' = 'true', 'delta.targetFileSize' = '1mb', 'delta.parquet.compression.codec' = 'zstd', 'mine' = '1')
--> ok

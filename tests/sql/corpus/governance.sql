-- Row filters and column masks
CREATE FUNCTION hidden(s STRING) RETURNS STRING RETURN 'x'
--> ok
CREATE FUNCTION low(n INT, most INT) RETURNS BOOLEAN RETURN n <= most
--> ok
CREATE TABLE t (id INT, name STRING MASK hidden, n DECIMAL(5, 2)) WITH ROW FILTER low ON (id, 2)
--> ok
INSERT INTO t VALUES (1, 'a', 1.5), (2, 'b', 2.5), (3, 'c', 3.5)
--> ok
SELECT * FROM t ORDER BY id
--= id, name, n
--> [1, "x", "1.50"], [2, "x", "2.50"]
SELECT count(*) FROM t
--> [2]
SELECT a.name, b.id FROM t a JOIN t b ON a.id = b.id + 1
--> ["x", 1]
SELECT id FROM t WHERE name = 'a'
--> 
SELECT * FROM t VERSION AS OF 0
--! ROW_LEVEL_SECURITY_FEATURE_NOT_SUPPORTED.TIME_TRAVEL
SELECT filter_name, filter_col_usage FROM information_schema.row_filters WHERE table_name = 't'
--> ["low", "id, 2"]
UPDATE t SET n = 9 WHERE name = 'c'
--> ok
ALTER TABLE t DROP ROW FILTER
--> ok
SELECT id, name, n FROM t WHERE n = 9
--> [3, "x", "9.00"]
ALTER TABLE t ALTER COLUMN name DROP MASK
--> ok
ALTER TABLE t ALTER COLUMN name DROP MASK
--> ok
SELECT name FROM t VERSION AS OF 1 ORDER BY name
--> ["a"], ["b"], ["c"]
ALTER TABLE t ALTER COLUMN nope SET MASK hidden
--! UNRESOLVED_COLUMN.WITH_SUGGESTION
ALTER TABLE t ALTER COLUMN name SET MASK nope
--! UNRESOLVED_ROUTINE
ALTER TABLE t SET ROW FILTER hidden ON (name)
--! DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN
ALTER TABLE t ALTER COLUMN id SET MASK low USING COLUMNS (id)
--! COLUMN_MASKS_USING_COLUMN_NAME_SAME_AS_TARGET_COLUMN
CREATE TABLE t2 (a INT MASK nope)
--! UNRESOLVED_ROUTINE
SELECT * FROM t2
--! TABLE_OR_VIEW_NOT_FOUND
CREATE TABLE masked (mask STRING, s STRUCT<mask: INT, b: INT>)
--> ok
ALTER TABLE t ADD CONSTRAINT small CHECK (id < 100)
--> ok
ALTER TABLE t SET ROW FILTER low ON (id, 2)
--! ROW_LEVEL_SECURITY_FEATURE_NOT_SUPPORTED.CHECK_CONSTRAINT
ALTER TABLE t DROP CONSTRAINT small
--> ok
ALTER TABLE t DROP CONSTRAINT small
--! DELTA_CONSTRAINT_DOES_NOT_EXIST
ALTER TABLE t DROP CONSTRAINT IF EXISTS small
--> ok
ALTER TABLE nope SET ROW FILTER low ON (id, 2)
--! TABLE_OR_VIEW_NOT_FOUND
-- Keys
CREATE TABLE parent (id INT NOT NULL, CONSTRAINT parents PRIMARY KEY (id))
--> ok
CREATE TABLE child (id INT PRIMARY KEY, up INT REFERENCES parent (id))
--> ok
SELECT table_name, constraint_name, column_name FROM information_schema.key_column_usage WHERE table_schema = 'corpus_governance' ORDER BY ALL
--> ["child", "child_parent_fk", "up"], ["child", "child_pk", "id"], ["parent", "parents", "id"]
ALTER TABLE child DROP FOREIGN KEY (up)
--> ok
ALTER TABLE child DROP FOREIGN KEY (up)
--! CONSTRAINT_DOES_NOT_EXIST
ALTER TABLE child DROP FOREIGN KEY IF EXISTS (up)
--> ok
ALTER TABLE child DROP CONSTRAINT child_pk
--> ok
ALTER TABLE child ADD PRIMARY KEY (nope)
--! UNRESOLVED_COLUMN.WITH_SUGGESTION
SELECT constraint_name FROM information_schema.key_column_usage WHERE table_name = 'child'
--> 
-- Columns of a primary key are NOT NULL
CREATE TABLE implied (id INT PRIMARY KEY, a STRUCT<q: INT NOT NULL>, c STRING COMMENT 'NOT NULL', d INT)
--> ok
SELECT column_name FROM information_schema.columns WHERE table_name = 'implied' AND is_nullable = 'NO'
--> ["id"]
INSERT INTO implied (id) VALUES (NULL)
--! DELTA_NOT_NULL_CONSTRAINT_VIOLATED
CREATE OR REPLACE TABLE implied (id BIGINT GENERATED ALWAYS AS IDENTITY, a STRUCT<q: INT NOT NULL>, c STRING COMMENT 'NOT NULL', d INT, CONSTRAINT k PRIMARY KEY (ID, a, c))
--> ok
SELECT column_name FROM information_schema.columns WHERE table_name = 'implied' AND is_nullable = 'NO' ORDER BY 1
--> ["a"], ["c"], ["id"]
SELECT max(version) FROM (DESCRIBE HISTORY implied)
--> [1]
CREATE TABLE added (id INT, d INT NOT NULL)
--> ok
ALTER TABLE added ADD CONSTRAINT k PRIMARY KEY (d, id)
--! INVALID_PARAMETER_VALUE
ALTER TABLE added ADD PRIMARY KEY (d)
--> ok
-- Rights, tags and routines in the information schema
GRANT SELECT ON TABLE parent TO `data team`
--> ok
SELECT grantee, privilege_type, is_grantable, inherited_from FROM information_schema.table_privileges WHERE table_name = 'parent' AND grantee = 'data team'
--> ["data team", "SELECT", "NO", "NONE"]
ALTER TABLE parent SET TAGS ('pii' = 'no')
--> ok
SELECT tag_name, tag_value FROM information_schema.table_tags WHERE schema_name = 'corpus_governance'
--> ["pii", "no"]
SELECT routine_name, full_data_type, routine_definition FROM information_schema.routines WHERE routine_schema = 'corpus_governance' ORDER BY ALL
--> ["hidden", "string", "'x'"], ["low", "boolean", "n <= most"]
SELECT parameter_name, ordinal_position FROM information_schema.parameters WHERE specific_name = 'low' AND specific_schema = 'corpus_governance' ORDER BY 2
--> ["n", 1], ["most", 2]
CREATE VOLUME files COMMENT 'of the corpus'
--> ok
SELECT volume_type, comment FROM information_schema.volumes WHERE volume_schema = 'corpus_governance'
--> ["MANAGED", "of the corpus"]
DROP VOLUME files
--> ok
SELECT catalog_name FROM information_schema.catalogs
--> ["main"]
SELECT count(*) > 0 AS some FROM system.information_schema.schemata WHERE catalog_name = 'main'
--> [true]
-- What there is not on one machine
SHOW SHARES
--= name, created_at, created_by, comment
--> 
SHOW SHARES LIKE 'vaccine*'
--> 
SHOW SHARES 'vaccine*'
--> 
SHOW SHARES IN main
--! PARSE_SYNTAX_ERROR
SHOW ALL IN SHARE s
--! UNSUPPORTED_SQL
SHOW RECIPIENTS
--! UNSUPPORTED_SQL
SHOW PROVIDERS
--! UNSUPPORTED_SQL
SHOW CONNECTIONS
--! UNSUPPORTED_SQL
show storage credentials
--= name, comment
--> 
SHOW SERVICE CREDENTIALS LIKE 'x'
--> 
CREATE RECIPIENT r
--! UNSUPPORTED_SQL
CREATE STORAGE CREDENTIAL c
--! UNSUPPORTED_SQL
VACUUM t
--> ok
VACUUM nope
--! TABLE_OR_VIEW_NOT_FOUND
-- The change data feed, by options and by function
CREATE TABLE fed (id INT, name STRING) TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')
--> ok
INSERT INTO fed VALUES (1, 'a')
--> ok
SELECT * EXCEPT (_commit_timestamp) FROM fed WITH ('readChangeFeed' = 'true', 'startingVersion' = '0')
--= id, name, _change_type, _commit_version
--> [1, "a", "insert", 1]
SELECT f.name, f._change_type FROM fed WITH ('readchangedata' = 'true', 'startingVersion' = '0') AS f
--> ["a", "insert"]
SELECT * FROM fed WITH ('readChangeFeed' = 'false')
--= id, name
--> [1, "a"]
SELECT * FROM fed WITH ('readChangeFeed' = 'yes')
--! DELTA_ILLEGAL_OPTION
ALTER TABLE fed ALTER COLUMN name SET MASK hidden
--> ok
SELECT * EXCEPT (_commit_timestamp) FROM fed WITH ('readChangeFeed' = 'true', 'startingVersion' = '0')
--= id, name, _change_type, _commit_version
--> [1, "x", "insert", 1]
SELECT name, _change_type FROM table_changes('fed', 0)
--> ["x", "insert"]
DESCRIBE STORAGE CREDENTIAL `x`
--! UNSUPPORTED_SQL
desc storage credential x
--! UNSUPPORTED_SQL
ALTER STORAGE CREDENTIAL x SET OWNER TO u
--! UNSUPPORTED_SQL
DROP STORAGE CREDENTIAL IF EXISTS x
--! UNSUPPORTED_SQL
DESCRIBE SERVICE CREDENTIAL `x`
--! UNSUPPORTED_SQL
desc service credential x
--! UNSUPPORTED_SQL
ALTER SERVICE CREDENTIAL x SET OWNER TO u
--! UNSUPPORTED_SQL
DROP SERVICE CREDENTIAL IF EXISTS x
--! UNSUPPORTED_SQL
DESCRIBE CREDENTIAL `x`
--! UNSUPPORTED_SQL
desc credential x
--! UNSUPPORTED_SQL
ALTER CREDENTIAL x SET OWNER TO u
--! UNSUPPORTED_SQL
DROP CREDENTIAL IF EXISTS x
--! UNSUPPORTED_SQL
DESCRIBE CONNECTION `x`
--! UNSUPPORTED_SQL
desc connection x
--! UNSUPPORTED_SQL
ALTER CONNECTION x SET OWNER TO u
--! UNSUPPORTED_SQL
DROP CONNECTION IF EXISTS x
--! UNSUPPORTED_SQL
DESCRIBE SHARE `x`
--! UNSUPPORTED_SQL
desc share x
--! UNSUPPORTED_SQL
ALTER SHARE x SET OWNER TO u
--! UNSUPPORTED_SQL
DROP SHARE IF EXISTS x
--! UNSUPPORTED_SQL
DESCRIBE RECIPIENT `x`
--! UNSUPPORTED_SQL
desc recipient x
--! UNSUPPORTED_SQL
ALTER RECIPIENT x SET OWNER TO u
--! UNSUPPORTED_SQL
DROP RECIPIENT IF EXISTS x
--! UNSUPPORTED_SQL
DESCRIBE PROVIDER `x`
--! UNSUPPORTED_SQL
desc provider x
--! UNSUPPORTED_SQL
ALTER PROVIDER x SET OWNER TO u
--! UNSUPPORTED_SQL
DROP PROVIDER IF EXISTS x
--! UNSUPPORTED_SQL
SHOW ALL IN SHARE x
--! UNSUPPORTED_SQL
CREATE FOREIGN CATALOG f USING CONNECTION c
--! UNSUPPORTED_SQL
CREATE CATALOG shared USING SHARE provider.sales
--! UNSUPPORTED_SQL
CREATE CATALOG IF NOT EXISTS shared USING SHARE provider.sales COMMENT 'theirs'
--! UNSUPPORTED_SQL
CREATE GROUP analysts WITH USER `a@b.c`
--! UNSUPPORTED_SQL
ALTER GROUP analysts ADD USER `a@b.c`
--! UNSUPPORTED_SQL
DROP GROUP analysts
--! UNSUPPORTED_SQL
VALIDATE STORAGE CREDENTIAL x
--! UNSUPPORTED_SQL
CREATE CONNECTION c TYPE mysql OPTIONS (host 'h')
--! UNSUPPORTED_SQL
CREATE TABLE share (id INT, x INT)
--> ok
DESCRIBE TABLE share
--> ok
DESCRIBE share
--> ok
DROP TABLE share
--> ok
GRANT SELECT ON SHARE s TO RECIPIENT r
--! UNSUPPORTED_SQL
SHOW GRANTS ON SHARE s
--! UNSUPPORTED_SQL
SHOW GRANT TO RECIPIENT r
--! UNSUPPORTED_SQL
SHOW GRANTS u ON STORAGE CREDENTIAL c
--! UNSUPPORTED_SQL
CREATE TABLE connection (id INT)
--> ok
GRANT SELECT ON TABLE connection TO u
--> ok
GRANT SELECT ON connection TO u
--> ok
DROP TABLE connection
--> ok
--- Grants on objects without a name
GRANT CREATE CATALOG, CREATE EXTERNAL LOCATION ON METASTORE TO `grants team`
--> ok
SHOW GRANTS ON METASTORE
--= Principal, ActionType, ObjectType, ObjectKey
--> ["grants team", "CREATE CATALOG", "METASTORE", ""], ["grants team", "CREATE EXTERNAL LOCATION", "METASTORE", ""]
REVOKE CREATE CATALOG ON METASTORE FROM `grants team`
--> ok
SHOW GRANT `grants team` ON METASTORE
--> ["grants team", "CREATE EXTERNAL LOCATION", "METASTORE", ""]
REVOKE ALL PRIVILEGES ON METASTORE FROM `grants team`
--> ok
SHOW GRANTS ON METASTORE
--> 
grant select, modify on any file to `grants team`
--> ok
SHOW GRANTS `grants team` ON ANY FILE
--> ["grants team", "MODIFY", "ANY FILE", ""], ["grants team", "SELECT", "ANY FILE", ""]
REVOKE ALL PRIVILEGES ON ANY FILE FROM `grants team`
--> ok
GRANT USE CATALOG ON CATALOG TO `grants team`
--> ok
SHOW GRANTS `grants team` ON CATALOG
--> ["grants team", "USE CATALOG", "CATALOG", "main"]
SHOW GRANTS `grants team` ON CATALOG main
--> ["grants team", "USE CATALOG", "CATALOG", "main"]
REVOKE USE CATALOG ON CATALOG FROM `grants team`
--> ok
SHOW GRANTS `grants team` ON CATALOG main
--> 
CREATE TABLE metastore (id INT)
--> ok
GRANT SELECT ON TABLE metastore TO `grants team`
--> ok
SHOW GRANTS `grants team` ON TABLE metastore
--> ["grants team", "SELECT", "TABLE", "main.corpus_governance.metastore"]
GRANT SELECT ON corpus_governance.metastore TO `grants team`
--> ok
DROP TABLE metastore
--> ok
GRANT SELECT ON ANY TO `grants team`
--! TABLE_OR_VIEW_NOT_FOUND
GRANT SELECT ON CATALOG nope TO `grants team`
--! NO_SUCH_CATALOG_EXCEPTION

-- GRANT and REVOKE have one principal, which is a name, and no option after it.
GRANT SELECT ON SCHEMA default TO a, b
--! PARSE_SYNTAX_ERROR
GRANT SELECT ON SCHEMA default TO current_user()
--! PARSE_SYNTAX_ERROR
REVOKE SELECT ON SCHEMA default FROM a, b
--! PARSE_SYNTAX_ERROR
GRANT SELECT ON SCHEMA default TO a WITH GRANT OPTION
--! PARSE_SYNTAX_ERROR
-- REPLACE TABLE has the clauses of CREATE TABLE, and replaces the keys
CREATE TABLE keyed (id INT CONSTRAINT before PRIMARY KEY, v INT)
--> ok
REPLACE TABLE keyed (id INT, w INT CONSTRAINT behind PRIMARY KEY, UNIQUE (id))
--> ok
SELECT constraint_name, column_name FROM main.information_schema.key_column_usage WHERE table_schema = 'corpus_governance' AND table_name = 'keyed' ORDER BY 1
--> ["behind", "w"], ["keyed_id_unique", "id"]
INSERT INTO keyed VALUES (1, NULL)
--! DELTA_NOT_NULL_CONSTRAINT_VIOLATED
REPLACE TABLE keyed (id INT CHECK (id > 1))
--! PARSE_SYNTAX_ERROR
DROP TABLE keyed
--> ok
CREATE SERVER srv TYPE mysql OPTIONS (host 'h')
--! UNSUPPORTED_SQL
DROP SERVER srv
--! UNSUPPORTED_SQL
-- Each kind of object has privileges of its own; a schema and a catalog have those of what is in them
CREATE TABLE granted (id INT)
--> ok
CREATE VOLUME granted
--> ok
CREATE FUNCTION granted(x INT) RETURNS INT RETURN x
--> ok
GRANT SELECT, MODIFY, APPLY TAG, MANAGE, ALL PRIVILEGES ON TABLE granted TO `granted team`
--> ok
REVOKE SELECT, MODIFY, APPLY TAG, MANAGE, ALL PRIVILEGES ON TABLE granted FROM `granted team`
--> ok
GRANT READ VOLUME, WRITE VOLUME ON VOLUME granted TO `granted team`
--> ok
REVOKE READ VOLUME, WRITE VOLUME ON VOLUME granted FROM `granted team`
--> ok
GRANT EXECUTE ON FUNCTION granted TO `granted team`
--> ok
REVOKE EXECUTE ON FUNCTION granted FROM `granted team`
--> ok
GRANT SELECT, READ VOLUME, EXECUTE, USE SCHEMA, CREATE TABLE, CREATE MATERIALIZED VIEW ON SCHEMA corpus_governance TO `granted team`
--> ok
REVOKE SELECT, READ VOLUME, EXECUTE, USE SCHEMA, CREATE TABLE, CREATE MATERIALIZED VIEW ON SCHEMA corpus_governance FROM `granted team`
--> ok
GRANT USE CATALOG, CREATE SCHEMA, BROWSE, SELECT, EXTERNAL USE SCHEMA ON CATALOG main TO `granted team`
--> ok
REVOKE USE CATALOG, CREATE SCHEMA, BROWSE, SELECT, EXTERNAL USE SCHEMA ON CATALOG main FROM `granted team`
--> ok
GRANT CREATE SHARE ON METASTORE TO `granted team`
--> ok
REVOKE CREATE SHARE ON METASTORE FROM `granted team`
--> ok
GRANT USAGE ON TABLE granted TO `granted team`
--! INVALID_PARAMETER_VALUE
GRANT EXECUTE ON TABLE granted TO `granted team`
--! INVALID_PARAMETER_VALUE
GRANT READ VOLUME ON TABLE granted TO `granted team`
--! INVALID_PARAMETER_VALUE
GRANT USE SCHEMA ON TABLE granted TO `granted team`
--! INVALID_PARAMETER_VALUE
GRANT NONSENSE ON TABLE granted TO `granted team`
--! INVALID_PARAMETER_VALUE
GRANT CREATE TABLE ON granted TO `granted team`
--! INVALID_PARAMETER_VALUE
GRANT SELECT ON VOLUME granted TO `granted team`
--! INVALID_PARAMETER_VALUE
GRANT SELECT ON FUNCTION granted TO `granted team`
--! INVALID_PARAMETER_VALUE
GRANT USE CATALOG ON SCHEMA corpus_governance TO `granted team`
--! INVALID_PARAMETER_VALUE
GRANT USAGE ON SCHEMA corpus_governance TO `granted team`
--! INVALID_PARAMETER_VALUE
GRANT CREATE SCHEMA ON SCHEMA corpus_governance TO `granted team`
--! INVALID_PARAMETER_VALUE
GRANT CREATE ON SCHEMA corpus_governance TO `granted team`
--! INVALID_PARAMETER_VALUE
GRANT USAGE ON CATALOG main TO `granted team`
--! INVALID_PARAMETER_VALUE
GRANT CREATE CATALOG ON CATALOG main TO `granted team`
--! INVALID_PARAMETER_VALUE
GRANT SELECT ON METASTORE TO `granted team`
--! INVALID_PARAMETER_VALUE
GRANT USE CATALOG ON METASTORE TO `granted team`
--! INVALID_PARAMETER_VALUE
REVOKE USAGE ON SCHEMA corpus_governance FROM `granted team`
--! INVALID_PARAMETER_VALUE
GRANT SELECT, USAGE ON TABLE granted TO `granted team`
--! INVALID_PARAMETER_VALUE
SHOW GRANTS `granted team` ON TABLE granted
--> 
CREATE SCHEMA hive_metastore.granted
--> ok
GRANT USAGE ON SCHEMA hive_metastore.granted TO `granted team`
--> ok
DROP SCHEMA hive_metastore.granted
--> ok
GRANT READ VOLUME ON VOLUME absent TO `granted team`
--! VOLUME_NOT_FOUND
GRANT EXECUTE ON FUNCTION absent TO `granted team`
--! ROUTINE_NOT_FOUND
REVOKE EXECUTE ON FUNCTION absent FROM `granted team`
--! ROUTINE_NOT_FOUND
ALTER FUNCTION absent OWNER TO `granted team`
--! ROUTINE_NOT_FOUND

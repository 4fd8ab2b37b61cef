-- Catalogs
CREATE CATALOG IF NOT EXISTS corpus_c1 COMMENT 'first'
--> ok
CREATE CATALOG corpus_c1
--! CATALOG_ALREADY_EXISTS
CREATE CATALOG IF NOT EXISTS corpus_c1
--> ok
SHOW CATALOGS LIKE 'corpus_c*'
--= catalog
--> ["corpus_c1"]
-- a comment before the statement
SHOW CATALOGS 'corpus_c1|nothing*'
--> ["corpus_c1"]
DESCRIBE CATALOG corpus_c1
--= info_name, info_value
--> ok
DESC CATALOG EXTENDED `corpus_c1`
--> ok
DESCRIBE CATALOG corpus_nope
--! NO_SUCH_CATALOG_EXCEPTION
USE CATALOG corpus_nope
--! NO_SUCH_CATALOG_EXCEPTION
USE CATALOG corpus_c1
--> ok
SELECT current_catalog() AS c, current_schema() AS s
--> ["corpus_c1", "default"]
CREATE CATALOG corpus_c2
--> ok
USE CATALOG corpus_c2
--> ok
CREATE TABLE t AS SELECT 7 AS n
--> ok
DROP CATALOG corpus_c2
--! CATALOG_NOT_EMPTY
DROP CATALOG IF EXISTS `Corpus_C2` CASCADE
--> ok
SHOW CATALOGS LIKE 'corpus_c2'
--> 
SELECT current_catalog() AS c
--> ["corpus_c2"]
CREATE TABLE t AS SELECT 7 AS n
--! SCHEMA_NOT_FOUND
DROP SCHEMA IF EXISTS s CASCADE
--> ok
CREATE CATALOG corpus_c2
--> ok
CREATE TABLE t AS SELECT 8 AS n
--> ok
SELECT n FROM corpus_c2.default.t
--> [8]
DROP CATALOG corpus_c2 CASCADE
--> ok
USE CATALOG corpus_c1
--> ok
CREATE TABLE t AS SELECT 7 AS n
--> ok
SELECT n FROM corpus_c1.default.t
--> [7]
USE CATALOG 'main';
--> ok
SELECT n FROM corpus_c1.default.t
--> [7]
DROP CATALOG corpus_c1 RESTRICT
--! CATALOG_NOT_EMPTY
COMMENT ON CATALOG corpus_c1 IS 'second'
--> ok
DROP CATALOG corpus_c1 CASCADE
--> ok
DROP CATALOG corpus_c1
--! NO_SUCH_CATALOG_EXCEPTION
DROP CATALOG IF EXISTS corpus_c1
--> ok
SHOW CATALOGS LIKE 'corpus_c1'
--> 
-- Catalogs that every workspace has
SHOW CATALOGS LIKE 'hive_metastore|main|samples|system'
--> ["hive_metastore"], ["main"], ["samples"], ["system"]
CREATE CATALOG samples
--! CATALOG_ALREADY_EXISTS
CREATE CATALOG IF NOT EXISTS system
--> ok
DESCRIBE CATALOG system
--> ok
USE CATALOG hive_metastore
--> ok
SELECT current_catalog() AS c, current_schema() AS s
--> ["hive_metastore", "default"]
USE CATALOG `system`
--> ok
SHOW SCHEMAS LIKE 'default'
--> 
USE CATALOG 'samples'
--> ok
USE SCHEMA nyctaxi
--> ok
SELECT count(*) > 0 AS n FROM trips
--> [true]
USE main.corpus_names
--> ok
-- Schemas
CREATE SCHEMA IF NOT EXISTS main.corpus_names
--> ok
DESCRIBE SCHEMA main.corpus_names
--= database_description_item, database_description_value
--> ok
DESC DATABASE EXTENDED `corpus_names`
--= database_description_item, database_description_value
--> ok
DESCRIBE SCHEMA main.corpus_nope
--! SCHEMA_NOT_FOUND
SHOW SCHEMAS IN main LIKE 'corpus_names'
--> ["corpus_names"]
USE SCHEMA corpus_names
--> ok
USE SCHEMA corpus_nope
--! SCHEMA_NOT_FOUND
-- With a catalog, which becomes the current one
USE CATALOG samples
--> ok
USE SCHEMA main.corpus_names
--> ok
SELECT current_catalog() AS c, current_schema() AS s
--> ["main", "corpus_names"]
USE DATABASE `samples`.nyctaxi
--> ok
SELECT current_catalog() AS c, current_schema() AS s
--> ["samples", "nyctaxi"]
USE SCHEMA IDENTIFIER('main' || '.corpus_names')
--> ok
SELECT current_catalog() AS c, current_schema() AS s
--> ["main", "corpus_names"]
USE SCHEMA identifier('samples.nyctaxi')
--> ok
SELECT current_catalog() AS c, current_schema() AS s
--> ["samples", "nyctaxi"]
USE SCHEMA main.corpus_nope
--! SCHEMA_NOT_FOUND
USE SCHEMA main.corpus_names
--> ok
USE SCHEMA IDENTIFIER('corpus_names')
--> ok
SELECT current_catalog() AS c, current_schema() AS s
--> ["main", "corpus_names"]
-- Volumes
CREATE VOLUME v COMMENT 'files'
--> ok
CREATE VOLUME main.corpus_names.v
--! VOLUME_ALREADY_EXISTS
CREATE VOLUME IF NOT EXISTS main.corpus_names.v
--> ok
CREATE VOLUME main.corpus_nope.v
--! SCHEMA_NOT_FOUND
CREATE VOLUME corpus_nope.default.v
--! NO_SUCH_CATALOG_EXCEPTION
SHOW VOLUMES
--= database, volume_name
--> ["corpus_names", "v"]
SHOW VOLUMES IN main.corpus_names LIKE 'w*'
--> 
DESCRIBE VOLUME main.corpus_names.v
--= name, catalog, database, owner, storageLocation, volumeType, comment
--> ok
DESC VOLUME w
--! VOLUME_NOT_FOUND
COMMENT ON VOLUME v IS NULL
--> ok
LIST '/Volumes/main/corpus_names'
--= path, name, size, modification_time
--> ok
LIST '/Volumes/main/corpus_names/v' LIMIT 3
--> 
LIST '/Volumes/main/corpus_names/none'
--! PATH_NOT_FOUND
DROP VOLUME v
--> ok
DROP VOLUME v
--! VOLUME_NOT_FOUND
DROP VOLUME IF EXISTS v
--> ok
-- What there is nothing of
CREATE SHARE s
--! UNSUPPORTED_SQL
SHOW STORAGE CREDENTIALS
--= name, comment
--> 
CREATE CONNECTION c TYPE postgresql OPTIONS (host 'h')
--! UNSUPPORTED_SQL
-- What there is
CREATE TABLE main.corpus_names.t (id INT NOT NULL COMMENT 'key', s STRUCT<a: INT>) COMMENT 'one'
--> ok
CREATE VIEW main.corpus_names.w AS SELECT id FROM main.corpus_names.t
--> ok
SELECT table_catalog, table_schema, table_name, table_type, comment, data_source_format FROM main.information_schema.tables WHERE table_schema = 'corpus_names' ORDER BY table_name
--> ["main", "corpus_names", "t", "MANAGED", "one", "DELTA"], ["main", "corpus_names", "w", "VIEW", null, null]
SELECT table_name, column_name, ordinal_position, is_nullable, full_data_type, data_type, comment FROM information_schema.columns WHERE table_schema = 'corpus_names' ORDER BY ALL
--> ["t", "id", 1, "NO", "int", "INT", "key"], ["t", "s", 2, "YES", "struct<a:int>", "STRUCT", null], ["w", "id", 1, "NO", "int", "INT", "key"]
SELECT catalog_name, schema_name FROM INFORMATION_SCHEMA.SCHEMATA WHERE schema_name = 'corpus_names'
--> ["main", "corpus_names"]
SELECT view_definition FROM main.information_schema.views WHERE table_schema = 'corpus_names'
--> ["SELECT id FROM main.corpus_names.t"]
SELECT count(*) > 0 AS any FROM main.information_schema.tables
--> [true]
SELECT * FROM main.information_schema.nothing
--! TABLE_OR_VIEW_NOT_FOUND
-- Names that would lead elsewhere
CREATE CATALOG `../elsewhere`
--! INVALID_NAME
CREATE VOLUME `../elsewhere`
--! INVALID_NAME
DROP VOLUME IF EXISTS main.corpus_names.`/tmp`
--! INVALID_NAME
DROP CATALOG `..`
--! NO_SUCH_CATALOG_EXCEPTION
CREATE SCHEMA main.`../elsewhere`
--! INVALID_SCHEMA_OR_RELATION_NAME
LIST '/Volumes/../elsewhere'
--! PATH_NOT_FOUND
DROP SCHEMA main.`..` CASCADE
--! SCHEMA_NOT_FOUND
SHOW SCHEMAS IN main LIKE 'corpus_names'
--> ["corpus_names"]
CREATE SCHEMA main.corpus_names_2 MANAGED LOCATION 's3://nowhere/tables' COMMENT 'x'
--> ok
CREATE TABLE main.corpus_names_2.t (id INT)
--> ok
SELECT count(*) AS n FROM main.corpus_names_2.t@v0
--> [0]
DROP SCHEMA main.corpus_names_2 CASCADE
--> ok
-- A dropped catalog takes its functions along, also those that were called
CREATE CATALOG corpus_c5
--> ok
CREATE FUNCTION corpus_c5.default.f() RETURNS INT RETURN 1
--> ok
CREATE FUNCTION corpus_c5.default.g() RETURNS TABLE (n INT) RETURN SELECT 1
--> ok
SELECT corpus_c5.default.f(), n FROM corpus_c5.default.g()
--> [1, 1]
DROP CATALOG corpus_c5 CASCADE
--> ok
CREATE CATALOG corpus_c5
--> ok
SELECT corpus_c5.default.f()
--! UNRESOLVED_ROUTINE
CREATE FUNCTION corpus_c5.default.f() RETURNS INT RETURN 2
--> ok
CREATE FUNCTION corpus_c5.default.g() RETURNS TABLE (n INT) RETURN SELECT 2
--> ok
SELECT corpus_c5.default.f(), n FROM corpus_c5.default.g()
--> [2, 2]
DROP CATALOG corpus_c5 CASCADE
--> ok
-- The default catalogs of a workspace exist, with a schema `default`
SHOW CATALOGS LIKE 'workspace|main'
--> ["main"], ["workspace"]
CREATE TABLE workspace.default.corpus_t AS SELECT 1 AS n
--> ok
SELECT n FROM workspace.default.corpus_t
--> [1]
DROP TABLE workspace.default.corpus_t
--> ok
CREATE SCHEMA workspace.corpus_bronze
--> ok
DROP SCHEMA workspace.corpus_bronze
--> ok
CREATE TABLE a.b.c.d (id INT)
--! REQUIRES_SINGLE_PART_NAMESPACE
CREATE TABLE main.a.b.c AS SELECT 1 AS id
--! REQUIRES_SINGLE_PART_NAMESPACE
CREATE OR REPLACE TABLE a.b.c.d (id INT)
--! REQUIRES_SINGLE_PART_NAMESPACE
CREATE TABLE a.b.c.d (id INT) USING parquet
--! REQUIRES_SINGLE_PART_NAMESPACE
-- The name of a function has three parts at most
CREATE FUNCTION a.b.c.d(x INT) RETURNS INT RETURN x
--! REQUIRES_SINGLE_PART_NAMESPACE
CREATE OR REPLACE FUNCTION main.b.c.d() RETURNS INT RETURN 1
--! REQUIRES_SINGLE_PART_NAMESPACE
CREATE FUNCTION a.b.c.d(x INT) RETURNS TABLE (y INT) RETURN SELECT x
--! REQUIRES_SINGLE_PART_NAMESPACE
CREATE FUNCTION IF NOT EXISTS IDENTIFIER('a.b.c.d')() RETURNS INT RETURN 1
--! REQUIRES_SINGLE_PART_NAMESPACE
DROP FUNCTION a.b.c.d
--! REQUIRES_SINGLE_PART_NAMESPACE
DROP FUNCTION IF EXISTS main.b.c.d
--! REQUIRES_SINGLE_PART_NAMESPACE

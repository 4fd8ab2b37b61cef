CREATE TABLE t (id INT, p INT, q STRING) PARTITIONED BY (p, q)
--> ok
INSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'b')
--> ok
CREATE VIEW v AS SELECT 1 AS a
--> ok
CREATE TEMPORARY VIEW corpus_temporary AS SELECT 1 AS a
--> ok
SHOW TABLES LIKE '*'
--= database, tableName, isTemporary
--> ["corpus_listings", "t", false], ["corpus_listings", "v", false], ["", "corpus_temporary", true]
SHOW TABLES IN main.corpus_listings 't|w'
--= database, tableName, isTemporary
--> ["corpus_listings", "t", false]
show tables from corpus_listings like 'corpus_temp*'
--= database, tableName, isTemporary
--> ["", "corpus_temporary", true]
SHOW TABLES IN main.corpus_nothing
--! SCHEMA_NOT_FOUND
SHOW VIEWS
--= namespace, viewName, isTemporary
--> ["corpus_listings", "v", false], ["", "corpus_temporary", true]
SHOW VIEWS IN main.corpus_listings LIKE 'v*'
--= namespace, viewName, isTemporary
--> ["corpus_listings", "v", false]
-- Local temporary views are listed with each schema
SHOW VIEWS IN main.default LIKE 'corpus_temporary'
--> ["", "corpus_temporary", true]
SHOW TABLE EXTENDED IN main.corpus_nothing LIKE 'nothing'
--! SCHEMA_NOT_FOUND
SHOW TABLE EXTENDED IN main.corpus_listings
--! PARSE_SYNTAX_ERROR
SHOW TABLE EXTENDED IN main.corpus_listings LIKE 'nothing'
--= database, tableName, isTemporary, information
--> ok
SHOW SCHEMAS LIKE 'corpus_listings'
--= databaseName
--> ["corpus_listings"]
SHOW DATABASES IN main 'corpus_listings'
--= databaseName
--> ["corpus_listings"]
DROP VIEW corpus_temporary
--> ok
-- Partitions of a Delta table
SHOW PARTITIONS t PARTITION (p = 1)
--= p, q
--> [1, "a"]
MSCK REPAIR TABLE t
--! DELTA_OPERATION_NOT_ALLOWED
ALTER TABLE t RECOVER PARTITIONS
--! DELTA_OPERATION_NOT_ALLOWED
MSCK REPAIR TABLE t SYNC METADATA
--> ok
REPAIR TABLE main.corpus_listings.t SYNC METADATA
--> ok
MSCK REPAIR TABLE nothing SYNC METADATA
--! TABLE_OR_VIEW_NOT_FOUND
-- Partitions of another format are its folders
CREATE TABLE f (id INT, p INT, q STRING) USING parquet PARTITIONED BY (p, q)
--> ok
INSERT INTO f VALUES (1, 1, 'a b'), (2, 2, 'b'), (3, 1, 'x=y')
--> ok
SHOW PARTITIONS f
--= partition
--> ["p=1/q=a b"], ["p=1/q=x%3Dy"], ["p=2/q=b"]
SHOW PARTITIONS main.corpus_listings.f PARTITION (P = 1, q = 'x=y')
--> ["p=1/q=x%3Dy"]
SHOW PARTITIONS f PARTITION (p = 3)
--> 
MSCK REPAIR TABLE f
--> ok
REPAIR TABLE f SYNC PARTITIONS
--> ok
ALTER TABLE f RECOVER PARTITIONS
--> ok
CREATE TABLE n (id INT) USING parquet
--> ok
SHOW PARTITIONS n
--! INVALID_PARTITION_OPERATION.PARTITION_MANAGEMENT_IS_UNSUPPORTED
SHOW PARTITIONS v
--! EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE
ANALYZE TABLE f COMPUTE DELTA STATISTICS
--! DELTA_ONLY_OPERATION
ANALYZE TABLES IN corpus_listings COMPUTE STATISTICS NOSCAN
--> ok
ANALYZE TABLES COMPUTE STATISTICS
--> ok
ANALYZE TABLES FROM corpus_nothing COMPUTE STATISTICS
--! SCHEMA_NOT_FOUND
SHOW TABLES DROPPED
--= catalogName, schemaName, tableName, tableId, tableType, deletedAt, createdAt, updatedAt, createdBy, owner, comment
--> ok
SHOW TABLES DROPPED FROM corpus_nothing LIMIT 3
--! SCHEMA_NOT_FOUND
SHOW USERS LIKE 'no*|nothing'
--= name
-->
DESCRIBE TABLE EXTENDED nothing AS JSON
--! TABLE_OR_VIEW_NOT_FOUND
DESCRIBE TABLE EXTENDED v AS JSON
--= json_metadata
--> ok
SHOW CREDENTIALS
--= name, comment
--> 
SHOW GROUPS
--= name, directGroup
--> ["admins", null], ["users", null]
SHOW GROUPS WITH GROUP admins
-->
SHOW GROUPS WITH USER stranger LIKE '*'
-->
SHOW POLICIES ON CATALOG main
--= Policy Name, Policy Type
-->
CREATE TABLE shown (id INT, name STRING)
--> ok
SHOW COLUMNS IN shown IN main.corpus_listings
--> ["id"], ["name"]
SHOW COLUMNS FROM shown FROM Main.Corpus_Listings
--> ["id"], ["name"]
SHOW COLUMNS IN corpus_listings.shown IN main.corpus_listings
--> ["id"], ["name"]
SHOW COLUMNS IN main.corpus_listings.shown IN `main`.`corpus_listings`
--> ["id"], ["name"]
SHOW COLUMNS IN default.shown IN main.corpus_listings
--! SHOW_COLUMNS_WITH_CONFLICT_NAMESPACE
SHOW COLUMNS IN shown IN main.corpus_nothing
--! TABLE_OR_VIEW_NOT_FOUND
SHOW ARCHIVED FILES FOR shown
--! UNSUPPORTED_SQL
DESCRIBE POLICY p ON TABLE shown
--! POLICY_NOT_FOUND
DESC POLICY p ON CATALOG main
--! POLICY_NOT_FOUND

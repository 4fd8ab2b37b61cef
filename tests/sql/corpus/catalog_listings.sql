CREATE TABLE people (id INT NOT NULL PRIMARY KEY, born DATE NOT NULL COMMENT 'day')
--> ok
CREATE TABLE pets (id INT, d DECIMAL(10, 2), owner INT, CONSTRAINT of_owner FOREIGN KEY (owner) REFERENCES people (id)) COMMENT 'all pets'
--> ok
CREATE VIEW seen AS SELECT id FROM pets
--> ok
CREATE FUNCTION plus_one(x INT) RETURNS INT COMMENT 'adds' RETURN x + 1
--> ok
SHOW TABLES IN CATALOG main SCHEMA LIKE 'corpus_catalog_listings'
--= namespace, tableName, isTemporary, information, catalogName, tableType, remarks
--> ["corpus_catalog_listings", "people", false, "", "main", "TABLE", null], ["corpus_catalog_listings", "pets", false, "", "main", "TABLE", "all pets"], ["corpus_catalog_listings", "seen", false, "", "main", "VIEW", null]
show tables in catalog `main` schema like 'corpus_catalog_l*' like 'PEOPLE|se.n'
--> ["corpus_catalog_listings", "people", false, "", "main", "TABLE", null], ["corpus_catalog_listings", "seen", false, "", "main", "VIEW", null]
SHOW TABLES IN ALL CATALOGS SCHEMA LIKE 'corpus_catalog_listings' LIKE 'pets'
--> ["corpus_catalog_listings", "pets", false, "", "main", "TABLE", "all pets"]
SHOW TABLES IN CATALOG main LIKE 'corpus_nothing'
-->
SHOW TABLES IN CATALOG corpus_nothing
--! NO_SUCH_CATALOG_EXCEPTION
-- A schema may have the name `catalog`
SHOW TABLES IN catalog
--! SCHEMA_NOT_FOUND
SHOW COLUMNS IN CATALOG main SCHEMA LIKE 'corpus_catalog_listings' TABLE LIKE 'pe*'
--= col_name, catalogName, namespace, tableName, columnType, columnSize, decimalDigits, radix, isNullable, remarks, ordinalPosition, isAutoIncrement, isGenerated
--> ["id", "main", "corpus_catalog_listings", "people", "INT", 32, 0, 2, "false", null, 1, "NO", "NO"], ["born", "main", "corpus_catalog_listings", "people", "DATE", null, null, null, "false", "day", 2, "NO", "NO"], ["id", "main", "corpus_catalog_listings", "pets", "INT", 32, 0, 2, "true", null, 1, "NO", "NO"], ["d", "main", "corpus_catalog_listings", "pets", "DECIMAL(10,2)", 10, 2, 10, "true", null, 2, "NO", "NO"], ["owner", "main", "corpus_catalog_listings", "pets", "INT", 32, 0, 2, "true", null, 3, "NO", "NO"]
SHOW COLUMNS IN CATALOG main SCHEMA LIKE 'corpus_catalog_listings' LIKE 'born'
--> ["born", "main", "corpus_catalog_listings", "people", "DATE", null, null, null, "false", "day", 2, "NO", "NO"]
-- Columns of a table, as before
SHOW COLUMNS IN people
--> ["id"], ["born"]
SHOW FUNCTIONS IN CATALOG main SCHEMA LIKE 'corpus_catalog_listings' LIKE 'plus*'
--= functionName, namespace, catalogName, remarks, functionType, specificName
--> ["plus_one", "corpus_catalog_listings", "main", "adds", 1, "main.corpus_catalog_listings.plus_one"]
SHOW KEYS IN CATALOG main IN SCHEMA corpus_catalog_listings IN TABLE people
--= catalogName, namespace, tableName, col_name, keySeq, constraintName
--> ["main", "corpus_catalog_listings", "people", "id", 1, "people_pk"]
SHOW KEYS IN CATALOG main IN SCHEMA corpus_catalog_listings IN TABLE pets
-->
SHOW FOREIGN KEYS IN CATALOG main IN SCHEMA corpus_catalog_listings IN TABLE pets
--= parentCatalogName, parentNamespace, parentTableName, parentColName, catalogName, namespace, tableName, col_name, keySeq, updateRule, deleteRule, constraintName, deferrability
--> ["main", "corpus_catalog_listings", "people", "id", "main", "corpus_catalog_listings", "pets", "owner", 1, 3, 3, "of_owner", 7]
SHOW FOREIGN KEYS IN CATALOG main IN SCHEMA corpus_catalog_listings IN TABLE corpus_nothing
--! TABLE_OR_VIEW_NOT_FOUND
CREATE TABLE types (a TINYINT, b SMALLINT, c INT, d BIGINT, e FLOAT, f DOUBLE, g DECIMAL(20, 3), h STRING, i DATE, j TIMESTAMP, k TIMESTAMP_NTZ)
--> ok
CREATE VIEW intervals AS SELECT INTERVAL '1-2' YEAR TO MONTH AS l, INTERVAL '1' DAY AS m, INTERVAL '1 2:3:4' DAY TO SECOND AS n
--> ok
SELECT column_name, numeric_precision, numeric_precision_radix, numeric_scale, datetime_precision, interval_type FROM main.information_schema.columns WHERE table_schema = 'corpus_catalog_listings' AND table_name IN ('types', 'intervals') ORDER BY 1
--> ["a", 8, 2, 0, null, null], ["b", 16, 2, 0, null, null], ["c", 32, 2, 0, null, null], ["d", 64, 2, 0, null, null], ["e", 24, 2, null, null, null], ["f", 53, 2, null, null, null], ["g", 20, 10, 3, null, null], ["h", null, null, null, null, null], ["i", null, null, null, 0, null], ["j", null, null, null, 3, null], ["k", null, null, null, 3, null], ["l", null, null, null, 0, "YEAR TO MONTH"], ["m", null, null, null, 0, "DAY"], ["n", null, null, null, 3, "DAY TO SECOND"]

package lakeward;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.analysis.DatabaseAlreadyExistsException;
import org.apache.spark.sql.catalyst.analysis.NoSuchDatabaseException;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException;
import org.apache.spark.sql.catalyst.catalog.CatalogDatabase;
import org.apache.spark.sql.catalyst.catalog.CatalogFunction;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.CatalogTableType;
import org.apache.spark.sql.catalyst.catalog.InMemoryCatalog;
import org.apache.spark.sql.catalyst.catalog.SessionCatalog;
import org.apache.spark.sql.catalyst.util.QuotingUtils;
import org.apache.spark.sql.catalyst.util.StringUtils;
import org.apache.spark.sql.errors.QueryCompilationErrors;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.Seq;

/**
 * Spark's external catalog on a {@link WarehouseLayout}. Every call reads the folder, so tables of other
 * processes are visible immediately. Partitions are found by listing, as for Delta: the inherited in-memory
 * partition methods are not used.
 */
public class WarehouseCatalog extends InMemoryCatalog {

    private final WarehouseLayout folder;
    private final String declared;

    public WarehouseCatalog(SparkConf spark, Configuration hadoop, String warehouse) {
        super(spark, hadoop);
        folder = new WarehouseLayout(warehouse, hadoop);
        declared = warehouse;
    }

    /** Unity Catalog's rule for all objects: 255 characters without periods, spaces, slashes and control characters. */
    static void requireName(String name) {
        boolean isGood = !name.isEmpty() && name.length() <= 255;
        for (int k = 0; k < name.length(); k++) isGood &= name.charAt(k) > ' ' && "./:\u007f".indexOf(name.charAt(k)) < 0;
        if (isGood) return;
        ObjectNode parameters = WarehouseLayout.JSON.createObjectNode();
        parameters.put("name", QuotingUtils.quoteIdentifier(name));
        throw sneak(new org.apache.spark.sql.AnalysisException("INVALID_SCHEMA_OR_RELATION_NAME", ObjectDefinitions.scalaMap(parameters)));
    }

    /** Spark's session catalog refuses names with anything but letters, digits and `_`, which Unity Catalog allows. */
    static void admitNames(SessionCatalog catalog) {
        try {
            Field field = SessionCatalog.class.getDeclaredField("validNameFormat");
            field.setAccessible(true);
            field.set(catalog, new scala.util.matching.Regex("[^\\x00-\\x20./:\\x7f]{1,255}", PythonUtils.toSeq(new ArrayList())));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("This Spark keeps the rule for names elsewhere than 4.2 does", e);
        }
    }

    // ---- databases

    public void createDatabase(CatalogDatabase database, boolean ignoreIfExists) {
        String name = database.name();
        if (databaseExists(name)) {
            if (ignoreIfExists) return;
            throw sneak(new DatabaseAlreadyExistsException(name));
        }
        folder.makeFolder(folder.schema(name));
        if (!describe(withCollation(database))) folder.linkSchema(name);
    }

    /** A schema without a default collation has that of its catalog. */
    private CatalogDatabase withCollation(CatalogDatabase database) {
        if (database.properties().contains("collation")) return database;
        ObjectNode about = folder.read(folder.catalogObject(database.name()));
        if (about == null || !about.hasNonNull("default_collation")) return database;
        if ("UTF8_BINARY".equalsIgnoreCase(about.get("default_collation").asText())) return database;
        ObjectNode properties = ObjectDefinitions.map(database.properties());
        properties.put("collation", about.get("default_collation").asText());
        return new CatalogDatabase(database.name(), database.description(), database.locationUri(), ObjectDefinitions.scalaMap(properties));
    }

    public void alterDatabase(CatalogDatabase database) {
        requireDatabase(database.name());
        describe(database);
    }

    /** Returns whether the schema has a LOCATION. */
    private boolean describe(CatalogDatabase database) {
        ObjectNode json = WarehouseLayout.JSON.createObjectNode();
        json.put("comment", database.description());
        json.set("properties", ObjectDefinitions.map(database.properties()));
        // Spark proposes <warehouse>/<name>.db; any other path is a LOCATION of the user.
        String proposed = new Path(declared, database.name() + ".db").toUri().getPath();
        String location = database.locationUri().getPath();
        if (!location.equals(proposed) && !location.equals(folder.schema(database.name()).toUri().getPath())) {
            json.put("location", ObjectDefinitions.kept(database.locationUri()));
        }
        folder.write(folder.object(database.name(), "", "schema"), json);
        return json.has("location");
    }

    public CatalogDatabase getDatabase(String name) {
        requireDatabase(name);
        ObjectNode json = folder.read(folder.object(name, "", "schema"));
        URI location = folder.schema(name).toUri();
        if (json == null) return new CatalogDatabase(name, "", location, ObjectDefinitions.scalaMap(null));
        if (json.has("location")) location = URI.create(json.get("location").asText());
        return new CatalogDatabase(name, json.get("comment").asText(), location, ObjectDefinitions.scalaMap(json.get("properties")));
    }

    public void dropDatabase(String name, boolean ignoreIfNotExists, boolean cascade) {
        if (!databaseExists(name)) {
            if (ignoreIfNotExists) return;
            throw sneak(new NoSuchDatabaseException(name));
        }
        if (!cascade && !(names(name).isEmpty() && folder.objects(name, "view").isEmpty() && folder.objects(name, "function").isEmpty())) {
            throw sneak(QueryCompilationErrors.cannotDropNonemptyDatabaseError(name));
        }
        ObjectNode json = folder.read(folder.object(name, "", "schema"));
        if (json != null && json.has("location")) {
            // Managed tables are in the schema's LOCATION, not in the folder that is removed below.
            List tables = names(name);
            for (int i = 0; i < tables.size(); i++) dropTable(name, (String) tables.get(i), true, false);
            folder.deleteIfEmpty(new Path(URI.create(json.get("location").asText())));
        }
        folder.remove(folder.schema(name));
        folder.unlinkSchema(name);
    }

    public boolean databaseExists(String name) {
        if (folder.isFolder(folder.schema(name))) return true;
        boolean hasVolumes = folder.volumeSchemas(IdentifierCodec.catalog(name)).contains(IdentifierCodec.schema(name));
        if (!name.equals("default") && !hasVolumes) return false;
        // Spark expects the database `default` in every lakehouse. A schema may have volumes alone.
        folder.makeFolder(folder.schema(name));
        return true;
    }

    public Seq listDatabases() {
        List all = new ArrayList();
        List catalogs = folder.folders(folder.root());
        for (int c = 0; c < catalogs.size(); c++) {
            String catalog = (String) catalogs.get(c);
            List schemas = folder.folders(new Path(folder.root(), catalog));
            for (int s = 0; s < schemas.size(); s++) all.add(IdentifierCodec.database(catalog, (String) schemas.get(s)));
        }
        return PythonUtils.toSeq(all);
    }

    public Seq listDatabases(String pattern) {
        return StringUtils.filterPattern(listDatabases(), pattern);
    }

    // ---- tables

    private boolean isPlain(CatalogTable table) {
        if (!table.tableType().equals(CatalogTableType.MANAGED()) || table.provider().isEmpty()) return false;
        if (!((String) table.provider().get()).equalsIgnoreCase("delta")) return false;
        if (table.storage().locationUri().isEmpty()) return true;
        return isInWarehouse((String) table.identifier().database().get(), table.identifier().table(), new Path((URI) table.storage().locationUri().get()));
    }

    private boolean isInWarehouse(String database, String table, Path place) {
        return place.toUri().getPath().equals(folder.table(database, table).toUri().getPath());
    }

    public void createTable(CatalogTable table, boolean ignoreIfExists) {
        String database = (String) table.identifier().database().get();
        String name = table.identifier().table();
        requireDatabase(database);
        // Delta commits before it registers: an existing log belongs to this table.
        if (isPlain(table)) return;
        if (tableExists(database, name)) {
            if (ignoreIfExists) return;
            throw sneak(new TableAlreadyExistsException(database, name));
        }
        if (table.tableType().equals(CatalogTableType.MANAGED()) && table.storage().locationUri().isEmpty()) {
            Path place = folder.managed(database, name);
            folder.makeFolder(place);
            table = table.withNewStorage(new scala.Some(place.toUri()), table.storage().inputFormat(), table.storage().outputFormat(),
                false, table.storage().serde(), table.storage().properties(), ObjectDefinitions.none());
        }
        folder.write(folder.object(database, name, "table"), ObjectDefinitions.toJson(table));
    }

    public void alterTable(CatalogTable table) {
        String database = (String) table.identifier().database().get();
        requireTable(database, table.identifier().table());
        if (isPlain(table)) return;
        folder.write(folder.object(database, table.identifier().table(), "table"), ObjectDefinitions.toJson(table));
    }

    public void alterTableSchema(String database, String table, StructType schema) {
        ObjectNode json = folder.read(folder.object(database, table, "table"));
        requireTable(database, table);
        if (json == null) return;
        json.put("schema", schema.json());
        folder.write(folder.object(database, table, "table"), json);
    }

    public void alterTableDataSchema(String database, String table, StructType schema) {
        alterTableSchema(database, table, schema);
    }

    public void alterTableStats(String database, String table, Option stats) {
        // Statistics are used by a session's optimizer only; they are not stored.
        requireTable(database, table);
    }

    public void dropTable(String database, String table, boolean ignoreIfNotExists, boolean purge) {
        requireDatabase(database);
        if (!tableExists(database, table)) {
            if (ignoreIfNotExists) return;
            throw sneak(new NoSuchTableException(database, table));
        }
        CatalogTable entry = getTable(database, table);
        Path place = entry.tableType().equals(CatalogTableType.MANAGED()) ? new Path((URI) entry.storage().locationUri().get()) : null;
        boolean isKept = place != null && !purge && DroppedTables.isKept(folder, database, table, place);
        if (isKept) DroppedTables.move(folder, database, table, place);
        if (entry.tableType().equals(CatalogTableType.EXTERNAL()) && !purge) DroppedTables.keepExternal(folder, database, table);
        folder.remove(folder.object(database, table, "table"));
        folder.remove(folder.object(database, table, "table.about"));
        if (place != null && !isKept) folder.remove(place);
        DroppedTables.removeExpired(folder, database);
    }

    public void renameTable(String database, String from, String to) {
        requireTable(database, from);
        if (tableExists(database, to)) throw sneak(new TableAlreadyExistsException(database, to));
        ObjectNode json = folder.read(folder.object(database, from, "table"));
        CatalogTable entry = getTable(database, from);
        boolean managed = entry.tableType().equals(CatalogTableType.MANAGED());
        Path place = managed ? new Path((URI) entry.storage().locationUri().get()) : null;
        Path target = folder.table(database, to);
        // A table of a schema with a LOCATION stays there.
        if (managed && !isInWarehouse(database, from, place)) target = new Path(place.getParent(), target.getName());
        Path about = folder.object(database, to, "table.about");
        Path definition = folder.object(database, to, "table");
        ObjectNode metadata = folder.read(folder.object(database, from, "table.about"));
        // The rows last: a kill leaves them under the former name, or under both with their policies, grants and tags.
        try {
            if (metadata == null) folder.remove(about);
            else folder.write(about, metadata);
            if (json != null && managed) json.put("location", target.toUri().toString());
            if (json != null) folder.write(definition, json);
            if (managed) folder.rename(place, target);
        } catch (RuntimeException e) {
            folder.remove(definition);
            folder.remove(about);
            throw e;
        }
        folder.remove(folder.object(database, from, "table"));
        folder.remove(folder.object(database, from, "table.about"));
    }

    public boolean tableExists(String database, String table) {
        if (isPath(table)) return false;
        if (folder.exists(folder.object(database, table, "table"))) return true;
        return folder.isDelta(folder.table(database, table)) && !isBeingRegistered();
    }

    /** delta.`/some/path` is requested as table "/some/path" of database "delta". */
    private static boolean isPath(String table) {
        return table.isEmpty() || table.startsWith(".") || table.indexOf('/') >= 0;
    }

    /**
     * Delta writes the first commit, then creates the entry in the session catalog, which refuses an existing
     * table. Here the commit is the entry: for that caller the table does not exist yet.
     */
    private static boolean isBeingRegistered() {
        StackTraceElement[] frames = new Throwable().getStackTrace();
        for (int i = 0; i < frames.length && i < 12; i++) {
            if (frames[i].getMethodName().equals("createTable") && frames[i].getClassName().endsWith(".SessionCatalog")) return true;
        }
        return false;
    }

    public CatalogTable getTable(String database, String table) {
        if (isPath(table)) throw sneak(new NoSuchTableException(database, table));
        ObjectNode json = folder.read(folder.object(database, table, "table"));
        if (json != null) return ObjectDefinitions.table(database, table, json);
        requireTable(database, table);
        Path place = folder.table(database, table);
        try {
            return ObjectDefinitions.delta(database, table, place.toUri(), folder.files.getFileStatus(place).getModificationTime());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public Seq getTablesByName(String database, Seq tables) {
        List found = new ArrayList();
        for (int i = 0; i < tables.length(); i++) {
            if (tableExists(database, (String) tables.apply(i))) found.add(getTable(database, (String) tables.apply(i)));
        }
        return PythonUtils.toSeq(found);
    }

    private List names(String database) {
        requireDatabase(database);
        return folder.tables(database);
    }

    public Seq listTables(String database) {
        return PythonUtils.toSeq(names(database));
    }

    public Seq listTables(String database, String pattern) {
        return StringUtils.filterPattern(listTables(database), pattern);
    }

    public Seq listViews(String database, String pattern) {
        List views = new ArrayList();
        List all = names(database);
        for (int i = 0; i < all.size(); i++) {
            String name = (String) all.get(i);
            if (getTable(database, name).tableType().equals(CatalogTableType.VIEW())) views.add(name);
        }
        return StringUtils.filterPattern(PythonUtils.toSeq(views), pattern);
    }

    // ---- functions

    public void createFunction(String database, CatalogFunction function) {
        requireName(function.identifier().funcName());
        requireDatabase(database);
        requireFunctionNotExists(database, function.identifier().funcName());
        folder.write(folder.object(database, function.identifier().funcName(), "function"), ObjectDefinitions.toJson(function));
    }

    public void alterFunction(String database, CatalogFunction function) {
        requireFunctionExists(database, function.identifier().funcName());
        folder.write(folder.object(database, function.identifier().funcName(), "function"), ObjectDefinitions.toJson(function));
    }

    public void dropFunction(String database, String name) {
        requireFunctionExists(database, name);
        folder.remove(folder.object(database, name, "function"));
    }

    public void renameFunction(String database, String from, String to) {
        requireFunctionExists(database, from);
        requireFunctionNotExists(database, to);
        folder.rename(folder.object(database, from, "function"), folder.object(database, to, "function"));
    }

    public CatalogFunction getFunction(String database, String name) {
        requireFunctionExists(database, name);
        return ObjectDefinitions.function(database, name, folder.read(folder.object(database, name, "function")));
    }

    public boolean functionExists(String database, String name) {
        return folder.exists(folder.object(database, name, "function"));
    }

    public Seq listFunctions(String database, String pattern) {
        return StringUtils.filterPattern(PythonUtils.toSeq(folder.objects(database, "function")), pattern);
    }

    // ---- errors

    private void requireDatabase(String name) {
        if (!databaseExists(name)) throw sneak(new NoSuchDatabaseException(name));
    }

    private void requireTable(String database, String table) {
        if (!tableExists(database, table)) throw sneak(new NoSuchTableException(database, table));
    }

    /** Scala methods declare no checked exceptions, so these overrides cannot either. */
    static RuntimeException sneak(Throwable e) {
        org.apache.spark.unsafe.Platform.throwException(e);
        return null;
    }
}

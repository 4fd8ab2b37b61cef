package lakeward;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.analysis.NoSuchViewException;
import org.apache.spark.sql.catalyst.analysis.ViewAlreadyExistsException;
import org.apache.spark.sql.catalyst.util.QuotingUtils;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.CatalogV2Util;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.NamespaceChange;
import org.apache.spark.sql.connector.catalog.Relation;
import org.apache.spark.sql.connector.catalog.RelationCatalog;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.catalog.TableInfo;
import org.apache.spark.sql.connector.catalog.View;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.delta.catalog.DeltaTableV2;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The objects of one catalog of the lakehouse (dev, prod, main …). Delegates to Delta's catalog. Gives each schema of
 * each catalog its own database, stores views, and resolves schema-only datasets.
 */
public abstract class LakehouseCatalog extends org.apache.spark.sql.delta.catalog.DeltaCatalog implements RelationCatalog {

    /** Set while a shallow clone is made (sql/constructs/clone.py). */
    private static final String CLONING = "spark.lakeward.shallowClone";
    private static final String HIGHEST_ID = "delta.columnMapping.maxColumnId";
    private static final String NOT_OWNER = "User is not an owner of";

    String catalog;
    private WarehouseLayout folder;
    private ViewStore views;
    /** Whether its schema `default` exists from the start (session/configuration/session_conf.py). */
    private boolean hasDefault;
    SparkSession session;

    public void initialize(String name, CaseInsensitiveStringMap options) {
        session = (SparkSession) org.apache.spark.sql.SparkSession.active();
        WarehouseCatalog.admitNames(session.sessionState().catalog());
        setDelegateCatalog(SparkCatalog.own(session.sessionState().catalogManager()));
        super.initialize(name, options);
        catalog = name;
        hasDefault = options.getBoolean("hasDefault", false);
        folder = new WarehouseLayout(session.sharedState().conf().get("spark.sql.warehouse.dir"), session.sessionState().newHadoopConf());
        views = new ViewStore(folder);
    }

    public String name() {
        return catalog;
    }

    public String[] defaultNamespace() {
        return new String[] {"default"};
    }

    // ---- names

    /** Delta's catalog calls itself with names that are mapped already: these are not mapped again. */
    private boolean isIn(String[] namespace) {
        return namespace.length != 1 || namespace[0].startsWith(IdentifierCodec.encode(catalog) + "__");
    }

    private String[] in(String[] namespace) {
        return isIn(namespace) ? namespace : new String[] {IdentifierCodec.database(catalog, namespace[0])};
    }

    private Identifier in(Identifier i) {
        return isPath(i) || isIn(i.namespace()) ? i : Identifier.of(in(i.namespace()), PrivateTables.stored(session, catalog, i));
    }

    /** delta.`/some/folder`, parquet.`…` */
    private static boolean isPath(Identifier i) {
        return i.namespace().length != 1 || i.name().indexOf('/') >= 0;
    }

    /**
     * Check the name of a new table or view. It is one folder or file of its schema, and Delta makes the folder of
     * a table from its name as it is written, so a name with a slash or ".." would be a way out.
     */
    private static void requireName(Identifier i) {
        if (i.namespace().length == 1 && i.namespace()[0].equalsIgnoreCase("delta") && i.name().indexOf('/') >= 0) return;
        WarehouseCatalog.requireName(i.name());
    }

    private Path view(Identifier i) {
        return folder.object(in(i.namespace())[0], in(i).name(), "view");
    }

    /** Metadata of a table outside its definition (owner, tags, policies); null without any. */
    ObjectNode about(Identifier i) {
        return isPath(i) ? null : folder.read(folder.object(in(i.namespace())[0], in(i).name(), "table.about"));
    }

    /** The same about the schema of a table. */
    ObjectNode aboutSchema(Identifier i) {
        return isPath(i) ? null : folder.read(folder.object(in(i.namespace())[0], "", "schema.about"));
    }

    /** The same about its catalog. */
    ObjectNode aboutCatalog(Identifier i) {
        return isPath(i) ? null : folder.read(folder.catalogObject(in(i.namespace())[0]));
    }

    // ---- tables

    /** Spark passes a name with an unknown catalog with that part in the namespace: no such table. */
    private static boolean isElsewhere(Identifier i) {
        return i.namespace().length > 1 && i.name().indexOf('/') < 0;
    }

    public Table loadTable(Identifier i) {
        Table planned = PlannedTable.find(catalog, i);
        if (planned == null) planned = InformationSchema.find(this, folder, i);
        if (planned == null && isElsewhere(i)) throw WarehouseCatalog.sneak(new NoSuchTableException(i));
        if (planned != null) return planned;
        provide(i);
        return super.loadTable(in(i));
    }

    /** The table that a planned one has the name of; null before its first update. */
    Table storedTable(Identifier i) {
        return super.tableExists(in(i)) ? super.loadTable(in(i)) : null;
    }

    public Table loadTable(Identifier i, java.util.Set privileges) {
        InformationSchema.requireOther(this, i, "User does not have MODIFY on");
        Table table = loadTable(i);
        MaterializedViews.checkPrivileges(table, session, quoted(i), privileges);
        return NonDeltaTarget.of(table, session, catalog, i);
    }

    private void provide(Identifier i) {
        if (!isPath(i)) BuiltinTables.make(catalog, i, folder, in(i.namespace())[0]);
    }

    public Table loadTable(Identifier i, String version) {
        provide(i);
        return super.loadTable(in(i), version);
    }

    public Table loadTable(Identifier i, long timestamp) {
        provide(i);
        return super.loadTable(in(i), timestamp);
    }

    public boolean tableExists(Identifier i) {
        if (PlannedTable.find(catalog, i) != null || InformationSchema.find(this, folder, i) != null || BuiltinTables.hasTable(catalog, i)) return true;
        return !isElsewhere(i) && (super.tableExists(in(i)) || viewExists(i));
    }

    public void invalidateTable(Identifier i) {
        super.invalidateTable(in(i));
    }

    public Table createTable(Identifier i, StructType schema, Transform[] partitions, Map properties) {
        requireName(i);
        requireSchema(i);
        return super.createTable(in(i), schema, ClusteringColumns.forDelta(partitions), PlatformFeatures.without(properties));
    }

    public Table createTable(Identifier i, Column[] columns, Transform[] partitions, Map properties) {
        requireName(i);
        requireSchema(i);
        NonDeltaColumns.requirePlain(properties, columns, quoted(i));
        sweep(i, properties);
        return super.createTable(in(i), columns, ClusteringColumns.forDelta(partitions), withoutCounter(PlatformFeatures.without(properties)));
    }

    /**
     * A shallow clone is made as a table without rows first, with the columns and properties of its source. Delta
     * refuses the highest id among them, which it counts itself; a statement that names it is refused still.
     */
    private Map withoutCounter(Map properties) {
        if (session.conf().get(CLONING, null) == null || !properties.containsKey(HIGHEST_ID)) return properties;
        Map known = new java.util.HashMap(properties);
        known.remove(HIGHEST_ID);
        return known;
    }

    /** A managed table starts in its own folder; leftovers of an interrupted CREATE are removed first. */
    private void sweep(Identifier i, Map properties) {
        if (isPath(i) || properties.get("location") != null || super.tableExists(in(i))) return;
        folder.sweep(folder.table(in(i.namespace())[0], in(i).name()));
        forgetDropped(i);
    }

    private void forgetDropped(Identifier i) {
        if (!isPath(i) && !super.tableExists(in(i)) && !viewExists(i)) DroppedTables.forget(folder, in(i.namespace())[0], in(i).name());
    }

    /** Delta's own error would name the schema as Spark's session catalog stores it. */
    private void requireSchema(Identifier i) {
        if (isElsewhere(i)) throw severalParts(catalog, i.namespace());
        if (!isPath(i)) requireSchema(i.namespace());
    }

    /** The schema of a new table or view; both need the same privilege on the platform. */
    private void requireSchema(String[] namespace) {
        requireSchema(namespace, "CREATE TABLE");
    }

    void requireSchema(String[] namespace, String privilege) {
        if (!namespaceExists(namespace)) throw WarehouseCatalog.sneak(missing(namespace));
        InformationSchema.requireOther(catalog, namespace, "User does not have " + privilege + " on");
    }

    private NoSuchNamespaceException missing(String[] namespace) {
        boolean isFull = namespace.length > 1 && namespace[0].equals(catalog);
        return new NoSuchNamespaceException(isFull ? namespace : (catalog + "\0" + String.join("\0", namespace)).split("\0"));
    }

    /** Spark checks before it creates; another process may create the table in between. */
    private void requireAbsent(Identifier i) {
        if (!isPath(i) && (super.tableExists(in(i)) || folder.exists(view(i)))) {
            throw WarehouseCatalog.sneak(new org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException(i));
        }
    }

    /** A view and a table have names of one namespace: a table would be hidden behind the view. */
    private void requireNoView(Identifier i) {
        if (!viewExists(i)) return;
        throw PythonSqlBridge.error("DELTA_CANNOT_WRITE_INTO_VIEW", "0A000", fullName(i) + " is a view. Writes to a view are not supported.");
    }

    public Table createTable(Identifier i, TableInfo info) {
        requireAbsent(i);
        return createTable(i, info.columns(), info.partitions(), info.properties());
    }

    public Table createTableLike(Identifier i, TableInfo info, Table source) {
        requireName(i);
        requireSchema(i);
        Table created = super.createTableLike(in(i), NonDeltaTable.like(info, source), source);
        if (IdentityValues.restart(created)) created = super.loadTable(in(i));
        return DatasetChanges.isDataset(source) ? super.alterTable(in(i), DatasetChanges.asTable()) : created;
    }

    public StagedTable stageCreate(Identifier i, StructType s, Transform[] t, Map m) {
        return staged("create", i, s, t, m);
    }

    public StagedTable stageReplace(Identifier i, StructType s, Transform[] t, Map m) {
        return staged("replace", i, s, t, m);
    }

    public StagedTable stageCreateOrReplace(Identifier i, StructType s, Transform[] t, Map m) {
        return staged("create or replace", i, s, t, m);
    }

    private StagedTable staged(final String how, final Identifier i, final StructType s, final Transform[] t, Map properties) {
        requireName(i);
        requireSchema(i);
        requireNoView(i);
        if (!how.equals("create") && !isPath(i) && super.tableExists(in(i))) {
            Map before = super.loadTable(in(i)).properties();
            MaterializedViews.checkKind(before.get(DatasetChanges.KIND), session, quoted(i), "CREATE OR REPLACE TABLE");
            DatasetChanges.requireReplaceable(before, session, quoted(i));
        }
        final Map m = PlatformFeatures.without(properties);
        if (isPath(i) || !NonDeltaTable.is(m)) return byDelta(how, i, s, ClusteringColumns.forDelta(t), m);
        NonDeltaColumns.requirePlain(m, CatalogV2Util.structTypeToV2Columns(s, false), quoted(i));
        Path own = folder.managed(in(i.namespace())[0], in(i).name());
        return new NonDeltaTable(i, s, t, m, how.equals("create"), catalog.equals("hive_metastore") ? own.toString() : null) {
            StagedTable made(Map known) {
                return byDelta(how, i, s, t, known);
            }
        };
    }

    StagedTable byDelta(String how, final Identifier i, StructType s, final Transform[] t, Map m) {
        // CREATE TABLE AS SELECT: Delta ignores files that an earlier attempt left.
        if (how.equals("create")) {
            forgetDropped(i);
            return super.stageCreate(in(i), s, t, m);
        }
        sweep(i, m);
        StagedTable staged = how.equals("replace") ? super.stageReplace(in(i), s, t, m) : super.stageCreateOrReplace(in(i), s, t, m);
        if (isPath(i) || !(staged instanceof SupportsWrite)) return staged;
        return new ReplacedTable(staged, folder, folder.object(in(i.namespace())[0], in(i).name(), "table.about")) {
            void prepareOverwrite(boolean hasNewSchema) {
                supportClustering(i, t, hasNewSchema);
            }
        };
    }

    private void supportClustering(Identifier i, Transform[] partitions, boolean hasNewSchema) {
        if (!ClusteringColumns.isIn(partitions) || !super.tableExists(in(i))) return;
        Table before = super.loadTable(in(i));
        if (before instanceof DeltaTableV2) ClusteringColumns.support((DeltaTableV2) before, hasNewSchema);
    }

    public Table alterTable(Identifier i, TableChange[] changes) {
        InformationSchema.requireOther(this, i, NOT_OWNER);
        if (!isPath(i)) DatasetChanges.requireAlterable(loadTable(i).properties(), session, quoted(i), changes);
        Policies.requireUnused(catalog, i, about(i), changes);
        TableChange[] known = PlatformFeatures.without(changes);
        if (known.length == 0 && changes.length > 0) return loadTable(i);
        Table before = loadTable(i);
        NonDeltaColumns.requireUnchanged(before, quoted(i), known);
        Table altered = super.alterTable(in(i), known);
        // The session catalog keeps the relation of a table that was read, with its old columns.
        if (NonDeltaTable.is(before.properties())) super.invalidateTable(in(i));
        ObjectNode about = about(i);
        boolean hasChanged = Policies.followColumns(about, known);
        if (TableKeys.followColumns(about, known) || hasChanged) folder.write(folder.object(in(i.namespace())[0], in(i).name(), "table.about"), about);
        return altered;
    }

    public boolean dropTable(Identifier i) {
        requireTable(i);
        return super.dropTable(in(i));
    }

    public boolean purgeTable(Identifier i) {
        requireTable(i);
        return super.purgeTable(in(i));
    }

    private void requireTable(Identifier i) {
        InformationSchema.requireOther(this, i, NOT_OWNER);
        DatasetChanges.requireDroppable(readableProperties(i), session, fullName(i), "TABLE");
        if (!viewExists(i)) return;
        throw PythonSqlBridge.error("WRONG_COMMAND_FOR_OBJECT_TYPE", "42809", "The operation DROP TABLE requires a TABLE. But " + fullName(i) + " is a VIEW. Use DROP VIEW instead.");
    }

    /** Properties of a table; none of a table that does not exist or whose log is damaged, which can be dropped. */
    private Map readableProperties(Identifier i) {
        try {
            Table table = isPath(i) ? null : storedTable(i);
            return table == null ? Collections.emptyMap() : table.properties();
        } catch (Exception e) {
            return Collections.emptyMap();
        }
    }

    private String quoted(Identifier i) {
        // A name of two parts has a catalog and no schema.
        return QuotingUtils.quoteIdentifier(catalog) + "." + QuotingUtils.fullyQuoted(i);
    }

    private String fullName(Identifier i) {
        return catalog + "." + i.namespace()[0] + "." + i.name();
    }

    public void renameTable(Identifier from, Identifier to) throws NoSuchTableException, org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException {
        requireName(to);
        InformationSchema.requireOther(this, from, NOT_OWNER);
        String[] namespace = to.namespace();
        if (namespace.length == 0) namespace = from.namespace();
        if (namespace.length == 2 && namespace[0].equalsIgnoreCase(catalog)) namespace = new String[] {namespace[1]};
        InformationSchema.requireOther(catalog, namespace, "User does not have CREATE TABLE on");
        if (super.tableExists(in(from))) DatasetChanges.requireTable(super.loadTable(in(from)).properties(), session, quoted(from), "ALTER TABLE", "INVALID_ALTER");
        Identifier target = Identifier.of(requireSameSchema("table", from, namespace), to.name());
        if (viewExists(target)) throw new org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException(target);
        super.renameTable(in(from), in(target));
    }

    /**
     * A table and a view keep their catalog and their schema.
     * Source: https://docs.databricks.com/aws/en/error-messages/error-classes (CANNOT_RENAME_ACROSS_SCHEMA)
     */
    private String[] requireSameSchema(String type, Identifier from, String[] namespace) {
        String[] parts = namespace;
        if (parts.length == 2 && !parts[0].equalsIgnoreCase(catalog)) {
            throw PythonSqlBridge.error("CANNOT_RENAME_ACROSS_CATALOG", "0AKD0", "Renaming a " + type + " across catalogs is not allowed: "
                + fullName(from) + " cannot move to the catalog " + parts[0] + ".");
        }
        if (parts.length == 2) parts = new String[] {parts[1]};
        if (parts.length == 1 && parts[0].equalsIgnoreCase(from.namespace()[0])) return from.namespace();
        if (parts.length == 0) return from.namespace();
        throw PythonSqlBridge.error("CANNOT_RENAME_ACROSS_SCHEMA", new String[] {"type", type});
    }

    public Identifier[] listTables(String[] namespace) throws NoSuchNamespaceException {
        if (!namespaceExists(namespace)) throw missing(namespace);
        if (InformationSchema.holds(catalog, namespace)) return new Identifier[0];
        java.util.TreeSet all = new java.util.TreeSet(folder.tables(in(namespace)[0]));
        all.addAll(BuiltinTables.tables(catalog, namespace[0]));
        return identifiers(namespace, new ArrayList(all));
    }

    // ---- schemas

    public String[][] listNamespaces() throws NoSuchNamespaceException {
        List found = new ArrayList();
        java.util.TreeSet all = new java.util.TreeSet(folder.folders(new Path(folder.root(), catalog)));
        all.addAll(BuiltinTables.schemas(catalog));
        all.addAll(folder.volumeSchemas(catalog));
        if (InformationSchema.isIn(catalog)) all.add(InformationSchema.NAME);
        List schemas = new ArrayList(all);
        for (int k = 0; k < schemas.size(); k++) found.add(new String[] {(String) schemas.get(k)});
        return (String[][]) found.toArray(new String[0][]);
    }

    public String[][] listNamespaces(String[] namespace) throws NoSuchNamespaceException {
        return namespace.length == 0 ? listNamespaces() : new String[0][];
    }

    public boolean namespaceExists(String[] namespace) {
        boolean isBuiltIn = namespace.length == 1 && (BuiltinTables.hasSchema(catalog, namespace[0])
            || (hasDefault && namespace[0].equalsIgnoreCase("default")));
        if (isBuiltIn) folder.makeFolder(folder.schema(in(namespace)[0]));
        return PlannedTable.hasNamespace(catalog, namespace) || InformationSchema.holds(catalog, namespace) || super.namespaceExists(in(namespace));
    }

    public Map loadNamespaceMetadata(String[] namespace) throws NoSuchNamespaceException {
        if (InformationSchema.holds(catalog, namespace)) return InformationSchema.description();
        namespaceExists(namespace);
        return super.loadNamespaceMetadata(in(namespace));
    }

    public void createNamespace(String[] namespace, Map metadata) throws org.apache.spark.sql.catalyst.analysis.NamespaceAlreadyExistsException {
        if (namespace.length != 1) throw severalParts(catalog, namespace);
        WarehouseCatalog.requireName(namespace[0]);
        // Spark's error would have the name of the database.
        if (InformationSchema.holds(catalog, namespace) || super.namespaceExists(in(namespace))) throw new org.apache.spark.sql.catalyst.analysis.NamespaceAlreadyExistsException(namespace);
        super.createNamespace(in(namespace), metadata);
    }

    /**
     * A schema's name has one part after its catalog; the base class has an error without a name.
     * Source: https://docs.databricks.com/aws/en/error-messages/error-classes (REQUIRES_SINGLE_PART_NAMESPACE)
     */
    static RuntimeException severalParts(String catalog, String[] namespace) {
        String quoted = QuotingUtils.quoteNameParts(PythonUtils.toSeq(Arrays.asList((Object[]) namespace)));
        return PythonSqlBridge.error("REQUIRES_SINGLE_PART_NAMESPACE", new String[] {"sessionCatalog", catalog, "identifier", quoted});
    }

    public void alterNamespace(String[] namespace, NamespaceChange[] changes) throws NoSuchNamespaceException {
        InformationSchema.requireOther(catalog, namespace, NOT_OWNER);
        super.alterNamespace(in(namespace), changes);
    }

    public boolean dropNamespace(String[] namespace, boolean cascade) throws NoSuchNamespaceException, org.apache.spark.sql.catalyst.analysis.NonEmptyNamespaceException {
        InformationSchema.requireOther(catalog, namespace, NOT_OWNER);
        String database = in(namespace)[0];
        boolean isEmpty = folder.tables(database).isEmpty() && folder.objects(database, "view").isEmpty() && folder.objects(database, "function").isEmpty();
        if (!cascade && !isEmpty && namespaceExists(namespace)) {
            throw new org.apache.spark.sql.catalyst.analysis.NonEmptyNamespaceException(namespace);
        }
        return super.dropNamespace(in(namespace), cascade);
    }

    // ---- functions

    public org.apache.spark.sql.connector.catalog.functions.UnboundFunction loadFunction(Identifier i) throws org.apache.spark.sql.catalyst.analysis.NoSuchFunctionException {
        // Spark also resolves `missing_catalog.schema.function` here, as a name of two schemas.
        if (i.namespace().length != 1) throw new org.apache.spark.sql.catalyst.analysis.NoSuchFunctionException(i);
        return super.loadFunction(in(i));
    }

    /** Spark's session catalog would list functions of extensions as functions of every schema. */
    public Identifier[] listFunctions(String[] namespace) throws NoSuchNamespaceException {
        if (!namespaceExists(namespace)) throw missing(namespace);
        if (InformationSchema.holds(catalog, namespace)) return new Identifier[0];
        return identifiers(namespace, folder.objects(in(namespace)[0], "function"));
    }

    public boolean functionExists(Identifier i) {
        return i.namespace().length == 1 && super.functionExists(in(i));
    }

    // ---- views

    public Relation loadRelation(Identifier i) throws NoSuchTableException {
        boolean isComputed = PlannedTable.find(catalog, i) != null || InformationSchema.find(this, folder, i) != null;
        if (!isComputed && !isPath(i) && folder.exists(view(i))) {
            try {
                return stored(i, true);
            } catch (NoSuchViewException gone) {
                throw new NoSuchTableException(i);
            }
        }
        return (Relation) loadTable(i);
    }

    /** The view as it was declared. */
    public View loadView(Identifier i) throws NoSuchViewException {
        return stored(i, false);
    }

    private View stored(Identifier i, boolean forQueries) throws NoSuchViewException {
        View found = isPath(i) ? null : views.read(view(i), forQueries);
        if (found == null) throw new NoSuchViewException(i);
        return found;
    }

    private void keep(Identifier i, View v) {
        requireName(i);
        views.write(view(i), v);
    }

    /** Replace the columns of a view: those of its query have changed. */
    void storeColumns(Identifier i, StructType columns) {
        views.writeColumns(view(i), columns);
    }

    public boolean viewExists(Identifier i) {
        return !isPath(i) && folder.exists(view(i));
    }

    public void invalidateView(Identifier i) {
    }

    public Identifier[] listViews(String[] namespace) throws NoSuchNamespaceException {
        if (!namespaceExists(namespace)) throw missing(namespace);
        if (InformationSchema.holds(catalog, namespace)) return identifiers(namespace, java.util.Arrays.asList((Object[]) InformationSchema.names()));
        return identifiers(namespace, folder.objects(in(namespace)[0], "view"));
    }

    private static Identifier[] identifiers(String[] namespace, List names) {
        Identifier[] out = new Identifier[names.size()];
        for (int k = 0; k < out.length; k++) out[k] = Identifier.of(namespace, (String) names.get(k));
        return out;
    }

    public View createView(Identifier i, View v) throws ViewAlreadyExistsException, NoSuchNamespaceException {
        requireSchema(i.namespace());
        if (viewExists(i) || super.tableExists(in(i))) throw new ViewAlreadyExistsException(i);
        keep(i, v);
        return v;
    }

    public View replaceView(Identifier i, View v) throws NoSuchViewException {
        if (!viewExists(i)) throw new NoSuchViewException(i);
        keep(i, v);
        return v;
    }

    public View createOrReplaceView(Identifier i, View v) throws ViewAlreadyExistsException, NoSuchNamespaceException {
        requireSchema(i.namespace());
        if (super.tableExists(in(i))) throw new ViewAlreadyExistsException(i);
        keep(i, v);
        return v;
    }

    public boolean dropView(Identifier i) {
        InformationSchema.requireOther(this, i, NOT_OWNER);
        if (!viewExists(i)) {
            DatasetChanges.requireDroppable(readableProperties(i), session, fullName(i), "VIEW");
            return false;
        }
        folder.remove(view(i));
        return true;
    }

    public void renameView(Identifier from, Identifier to) throws NoSuchViewException, ViewAlreadyExistsException {
        InformationSchema.requireOther(this, from, NOT_OWNER);
        InformationSchema.requireOther(catalog, to.namespace(), "User does not have CREATE TABLE on");
        if (!viewExists(from)) throw new NoSuchViewException(from);
        requireName(to);
        Identifier target = Identifier.of(requireSameSchema("view", from, to.namespace()), to.name());
        if (viewExists(target) || super.tableExists(in(target))) throw new ViewAlreadyExistsException(target);
        folder.rename(view(from), view(target));
    }
}

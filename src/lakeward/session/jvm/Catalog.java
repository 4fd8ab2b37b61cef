package lakeward;

import java.util.Map;
import org.apache.spark.sql.catalyst.analysis.AnalysisContext;
import org.apache.spark.sql.catalyst.analysis.NamespaceAlreadyExistsException;
import org.apache.spark.sql.catalyst.analysis.NoSuchFunctionException;
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.analysis.NoSuchViewException;
import org.apache.spark.sql.catalyst.analysis.NonEmptyNamespaceException;
import org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException;
import org.apache.spark.sql.catalyst.analysis.ViewAlreadyExistsException;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.CatalogManager;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.NamespaceChange;
import org.apache.spark.sql.connector.catalog.Relation;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.catalog.TableInfo;
import org.apache.spark.sql.connector.catalog.View;
import org.apache.spark.sql.connector.catalog.functions.UnboundFunction;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.types.StructType;

/**
 * A catalog of the lakehouse, to which Spark gives names without a schema.
 *
 * Spark takes the first of two parts for a catalog if one has that name. On the platform it is always a schema of the
 * current catalog. So this catalog passes a name without a schema to the current one, with its own name as the schema.
 */
public class Catalog extends LakehouseCatalog {

    /** The catalog that names without one are in: in a view that of its definition. Null for one of another product. */
    static Catalog current(SparkSession session) {
        CatalogManager manager = session.sessionState().catalogManager();
        scala.collection.immutable.Seq context = AnalysisContext.get().catalogAndNamespace();
        Object found = context.isEmpty() ? manager.currentCatalog() : manager.catalog((String) context.apply(0));
        return found instanceof Catalog ? (Catalog) found : null;
    }

    private Catalog current() {
        return current(session);
    }

    private boolean isShort(String[] namespace) {
        return namespace.length == 0 && current() != null;
    }

    private boolean isShort(Identifier i) {
        return i.name().indexOf('/') < 0 && isShort(i.namespace());
    }

    private String[] full(String[] none) {
        return new String[] {catalog};
    }

    private Identifier full(Identifier i) {
        return Identifier.of(full(i.namespace()), i.name());
    }

    // ---- tables

    public Table loadTable(Identifier i) {
        return isShort(i) ? current().loadTable(full(i)) : super.loadTable(i);
    }

    public Table loadTable(Identifier i, String version) {
        return isShort(i) ? current().loadTable(full(i), version) : super.loadTable(i, version);
    }

    public Table loadTable(Identifier i, long timestamp) {
        return isShort(i) ? current().loadTable(full(i), timestamp) : super.loadTable(i, timestamp);
    }

    public boolean tableExists(Identifier i) {
        return isShort(i) ? current().tableExists(full(i)) : super.tableExists(i);
    }

    public void invalidateTable(Identifier i) {
        if (isShort(i)) current().invalidateTable(full(i));
        else super.invalidateTable(i);
    }

    public Table createTable(Identifier i, StructType schema, Transform[] partitions, Map properties) {
        return isShort(i) ? current().createTable(full(i), schema, partitions, properties) : super.createTable(i, schema, partitions, properties);
    }

    public Table createTable(Identifier i, Column[] columns, Transform[] partitions, Map properties) {
        return isShort(i) ? current().createTable(full(i), columns, partitions, properties) : super.createTable(i, columns, partitions, properties);
    }

    public Table createTable(Identifier i, TableInfo info) {
        return isShort(i) ? current().createTable(full(i), info) : super.createTable(i, info);
    }

    public Table createTableLike(Identifier i, TableInfo info, Table source) {
        return isShort(i) ? current().createTableLike(full(i), info, source) : super.createTableLike(i, info, source);
    }

    public StagedTable stageCreate(Identifier i, StructType s, Transform[] t, Map m) {
        return isShort(i) ? current().stageCreate(full(i), s, t, m) : super.stageCreate(i, s, t, m);
    }

    public StagedTable stageReplace(Identifier i, StructType s, Transform[] t, Map m) {
        return isShort(i) ? current().stageReplace(full(i), s, t, m) : super.stageReplace(i, s, t, m);
    }

    public StagedTable stageCreateOrReplace(Identifier i, StructType s, Transform[] t, Map m) {
        return isShort(i) ? current().stageCreateOrReplace(full(i), s, t, m) : super.stageCreateOrReplace(i, s, t, m);
    }

    public Table alterTable(Identifier i, TableChange[] changes) {
        return isShort(i) ? current().alterTable(full(i), changes) : super.alterTable(i, changes);
    }

    public boolean dropTable(Identifier i) {
        return isShort(i) ? current().dropTable(full(i)) : super.dropTable(i);
    }

    public boolean purgeTable(Identifier i) {
        return isShort(i) ? current().purgeTable(full(i)) : super.purgeTable(i);
    }

    public void renameTable(Identifier from, Identifier to) throws NoSuchTableException, TableAlreadyExistsException {
        if (isShort(from)) current().renameTable(full(from), to);
        else super.renameTable(from, to);
    }

    public Identifier[] listTables(String[] namespace) throws NoSuchNamespaceException {
        return isShort(namespace) ? current().listTables(full(namespace)) : super.listTables(namespace);
    }

    // ---- schemas

    public boolean namespaceExists(String[] namespace) {
        return isShort(namespace) ? current().namespaceExists(full(namespace)) : super.namespaceExists(namespace);
    }

    public Map loadNamespaceMetadata(String[] namespace) throws NoSuchNamespaceException {
        return isShort(namespace) ? current().loadNamespaceMetadata(full(namespace)) : super.loadNamespaceMetadata(namespace);
    }

    public void createNamespace(String[] namespace, Map metadata) throws NamespaceAlreadyExistsException {
        if (isShort(namespace)) current().createNamespace(full(namespace), metadata);
        else super.createNamespace(namespace, metadata);
    }

    public void alterNamespace(String[] namespace, NamespaceChange[] changes) throws NoSuchNamespaceException {
        if (isShort(namespace)) current().alterNamespace(full(namespace), changes);
        else super.alterNamespace(namespace, changes);
    }

    public boolean dropNamespace(String[] namespace, boolean cascade) throws NoSuchNamespaceException, NonEmptyNamespaceException {
        return isShort(namespace) ? current().dropNamespace(full(namespace), cascade) : super.dropNamespace(namespace, cascade);
    }

    // ---- functions

    public UnboundFunction loadFunction(Identifier i) throws NoSuchFunctionException {
        return isShort(i) ? current().loadFunction(full(i)) : super.loadFunction(i);
    }

    public Identifier[] listFunctions(String[] namespace) throws NoSuchNamespaceException {
        return isShort(namespace) ? current().listFunctions(full(namespace)) : super.listFunctions(namespace);
    }

    public boolean functionExists(Identifier i) {
        return isShort(i) ? current().functionExists(full(i)) : super.functionExists(i);
    }

    // ---- views

    public Relation loadRelation(Identifier i) throws NoSuchTableException {
        return isShort(i) ? current().loadRelation(full(i)) : super.loadRelation(i);
    }

    public View loadView(Identifier i) throws NoSuchViewException {
        return isShort(i) ? current().loadView(full(i)) : super.loadView(i);
    }

    public boolean viewExists(Identifier i) {
        return isShort(i) ? current().viewExists(full(i)) : super.viewExists(i);
    }

    public View createView(Identifier i, View v) throws ViewAlreadyExistsException, NoSuchNamespaceException {
        return isShort(i) ? current().createView(full(i), v) : super.createView(i, v);
    }

    public View replaceView(Identifier i, View v) throws NoSuchViewException {
        return isShort(i) ? current().replaceView(full(i), v) : super.replaceView(i, v);
    }

    public View createOrReplaceView(Identifier i, View v) throws ViewAlreadyExistsException, NoSuchNamespaceException {
        return isShort(i) ? current().createOrReplaceView(full(i), v) : super.createOrReplaceView(i, v);
    }

    public boolean dropView(Identifier i) {
        return isShort(i) ? current().dropView(full(i)) : super.dropView(i);
    }

    public void renameView(Identifier from, Identifier to) throws NoSuchViewException, ViewAlreadyExistsException {
        if (isShort(from)) current().renameView(full(from), to.namespace().length == 0 ? full(to) : to);
        else super.renameView(from, to);
    }
}

package lakeward;

import java.util.Arrays;
import java.util.Map;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.parser.ParseException;
import org.apache.spark.sql.catalyst.util.QuotingUtils;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.execution.datasources.DataSource;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import scala.collection.immutable.Seq;

/** What a name means: a temporary view, a view, or a table and its format. */
public class RelationKind {

    private static final String CONDITION = "_LEGACY_ERROR_TEMP_1159";

    /** "temporary view", "view", or "" for anything else: a table, also a temporary one, a path or an unknown name. */
    public static String of(SparkSession session, String[] parts, String temporaryTables) {
        Seq name = PythonUtils.toSeq(Arrays.asList((Object[]) parts));
        if (session.sessionState().catalog().isTempView(name)) return isBelow(temporaryTables, session.table(QuotingUtils.quoteNameParts(name))) ? "" : "temporary view";
        CatalogTable found = CatalogTable.find(session, name);
        if (found == null || !(found.catalog instanceof Catalog)) return "";
        boolean isView = InformationSchema.holds(found.catalog.name(), found.identifier.namespace()) || isView(found);
        return isView ? "view" : "";
    }

    /** Whether a name, null for an unknown one, is that of a stored view of a lakehouse. */
    static boolean isView(CatalogTable found) {
        return found != null && found.catalog instanceof Catalog && ((Catalog) found.catalog).viewExists(found.identifier);
    }

    /** "materialized_view", "streaming_table"; null for other relations, and while the pipeline of the table runs. */
    public static String ofDataset(SparkSession session, String[] parts) {
        CatalogTable found = CatalogTable.find(session, PythonUtils.toSeq(Arrays.asList((Object[]) parts)));
        if (found == null || !(found.catalog instanceof Catalog)) return null;
        Table table = ((Catalog) found.catalog).storedTable(found.identifier);
        return table == null ? null : DatasetChanges.kind(table.properties(), session);
    }

    /** A temporary table is a temporary view of files in a folder of that name (sql/constructs/temporary_tables.py). */
    private static boolean isBelow(String folder, org.apache.spark.sql.Dataset frame) {
        Object leaf = ((Dataset) frame).queryExecution().analyzed().collectLeaves().head();
        if (!(leaf instanceof LogicalRelation) || !(((LogicalRelation) leaf).relation() instanceof HadoopFsRelation)) return false;
        Object roots = ((HadoopFsRelation) ((LogicalRelation) leaf).relation()).location().rootPaths();
        return roots.toString().contains(folder);
    }

    /**
     * Check that rows in `format` may be appended to the table: it has no other format. Spark makes this check for
     * tables of its session catalog alone (PreprocessTableCreation); the condition is Spark's.
     */
    public static void requireFormat(SparkSession session, String table, String format) throws ParseException {
        CatalogTable found = CatalogTable.find(session, session.sessionState().sqlParser().parseMultipartIdentifier(table));
        if (found == null || !(found.catalog instanceof TableCatalog) || found.identifier.name().indexOf('/') >= 0) return;
        String existing = format(found);
        if (existing == null || existing.equalsIgnoreCase(format)) return;
        Class own = DataSource.lookupDataSource(existing, session.sessionState().conf());
        Class given = DataSource.lookupDataSource(format, session.sessionState().conf());
        if (own.equals(given)) return;
        String name = found.catalog.name() + "." + String.join(".", found.identifier.namespace()) + "." + found.identifier.name();
        throw PythonSqlBridge.error(CONDITION, new String[] {"tableName", name, "existingProvider", own.getSimpleName(),
            "specifiedProvider", given.getSimpleName()});
    }

    /** Null for an absent table, and for one without a format. */
    private static String format(CatalogTable found) {
        try {
            Map properties = ((TableCatalog) found.catalog).loadTable(found.identifier).properties();
            return (String) properties.get(TableCatalog.PROP_PROVIDER);
        } catch (NoSuchTableException absent) {
            return null;
        }
    }
}

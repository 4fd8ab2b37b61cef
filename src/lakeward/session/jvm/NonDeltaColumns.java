package lakeward;

import java.util.Map;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.catalog.V1Table;

/**
 * Changes of the columns of a table of another format than Delta's. Its files keep their columns: a dropped one would
 * come back with the next ADD COLUMN of the name, and files of before have no column of a new name or type. Spark's
 * session catalog refuses these changes, which a catalog of the second kind would pass on.
 */
public class NonDeltaColumns {

    public static void requireUnchanged(Table table, String shown, TableChange[] changes) {
        if (!(table instanceof V1Table) || !NonDeltaTable.is(table.properties())) return;
        boolean hasNew = false;
        boolean hasOld = false;
        for (int k = 0; k < changes.length; k++) {
            hasNew = hasNew || changes[k] instanceof TableChange.AddColumn;
            hasOld = hasOld || changes[k] instanceof TableChange.DeleteColumn;
            // Delta's changes have classes of its own.
            String name = changes[k].getClass().getSimpleName();
            if (!name.equals("AddConstraint") && !name.equals("DropConstraint")) continue;
            String statement = name.equals("AddConstraint") ? "ALTER TABLE ADD CONSTRAINT" : "ALTER TABLE DROP CONSTRAINT";
            throw PythonSqlBridge.error("DELTA_ONLY_OPERATION", "0AKDD", statement + " is only supported for Delta tables.");
        }
        boolean isReplacement = hasNew && hasOld;
        for (int k = 0; k < changes.length; k++) {
            String operation = operation(changes[k], isReplacement);
            if (operation == null) continue;
            throw unsupported(shown, operation);
        }
    }

    /** Values of identity and generated columns are computed by Delta: without it they would be null. */
    static void requirePlain(Map properties, Column[] columns, String shown) {
        for (int k = 0; NonDeltaTable.is(properties) && k < columns.length; k++) {
            if (columns[k].generationExpression() != null) throw unsupported(shown, "generated columns");
            if (columns[k].identityColumnSpec() != null) throw unsupported(shown, "identity columns");
        }
    }

    private static RuntimeException unsupported(String shown, String operation) {
        return PythonSqlBridge.error("UNSUPPORTED_FEATURE.TABLE_OPERATION", new String[] {"tableName", shown, "operation", operation});
    }

    /** The operation that Spark names; null for a change that the files allow. */
    private static String operation(TableChange change, boolean isReplacement) {
        if (change instanceof TableChange.DeleteColumn) return isReplacement ? "REPLACE COLUMNS" : "DROP COLUMN";
        if (change instanceof TableChange.RenameColumn) return "RENAME COLUMN";
        if (change instanceof TableChange.UpdateColumnType) return "ALTER COLUMN ... TYPE";
        if (change instanceof TableChange.UpdateColumnPosition) return "ALTER COLUMN ... FIRST | AFTER";
        if (change instanceof TableChange.UpdateColumnNullability) return "ALTER COLUMN ... SET NOT NULL";
        if (!(change instanceof TableChange.AddColumn)) return null;
        TableChange.AddColumn added = (TableChange.AddColumn) change;
        if (added.fieldNames().length > 1) return "ADD COLUMN with qualified column";
        if (added.position() != null && !isReplacement) return "ADD COLUMN ... FIRST | AFTER";
        return added.isNullable() ? null : "ADD COLUMN ... NOT NULL";
    }
}

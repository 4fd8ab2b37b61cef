package lakeward;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Collections;
import java.util.Iterator;
import java.util.Locale;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.TableChange;

/** The row filter, the column masks and the column tags in a table's metadata. */
public class Policies {

    public static final String ROW_FILTER = "row_filter";
    public static final String MASKS = "masks";
    private static final String TAGS = "column_tags";

    static boolean isGoverned(ObjectNode about) {
        return about != null && (isFiltered(about) || isMasked(about));
    }

    static boolean isFiltered(ObjectNode about) {
        return about.hasNonNull(ROW_FILTER);
    }

    static boolean isMasked(ObjectNode about) {
        return about.has(MASKS) && about.get(MASKS).size() > 0;
    }

    /** A column that a policy uses cannot be dropped, renamed or changed in type. */
    static void requireUnused(String catalog, Identifier table, ObjectNode about, TableChange[] changes) {
        for (int k = 0; about != null && k < changes.length; k++) {
            boolean isMeant = changes[k] instanceof TableChange.DeleteColumn || changes[k] instanceof TableChange.RenameColumn
                || changes[k] instanceof TableChange.UpdateColumnType;
            if (!isMeant) continue;
            String column = ((TableChange.ColumnChange) changes[k]).fieldNames()[0];
            String shown = catalog + "." + String.join(".", table.namespace()) + "." + table.name();
            if (isFiltered(about) && uses(about.get(ROW_FILTER), column)) {
                throw refused("ROW_LEVEL_SECURITY_INCOMPATIBLE_SCHEMA_CHANGE", "The row filter of " + shown + " uses the column " + column + ". Drop the filter first.");
            }
            Iterator masks = isMasked(about) ? about.get(MASKS).fieldNames() : Collections.emptyIterator();
            while (masks.hasNext()) {
                String masked = (String) masks.next();
                if (masked.equalsIgnoreCase(column) || uses(about.get(MASKS).get(masked), column)) {
                    throw refused("COLUMN_MASKS_INCOMPATIBLE_SCHEMA_CHANGE", "The mask of the column " + masked + " of " + shown + " uses the column " + column + ". Drop the mask first.");
                }
            }
        }
    }

    /** Move the tags of renamed columns and remove those of dropped ones; return whether anything changed. */
    static boolean followColumns(ObjectNode about, TableChange[] changes) {
        if (about == null || !about.has(TAGS)) return false;
        ObjectNode tags = (ObjectNode) about.get(TAGS);
        boolean changed = false;
        for (int k = 0; k < changes.length; k++) {
            boolean renamed = changes[k] instanceof TableChange.RenameColumn;
            if (!renamed && !(changes[k] instanceof TableChange.DeleteColumn)) continue;
            String[] names = ((TableChange.ColumnChange) changes[k]).fieldNames();
            String old = String.join(".", names).toLowerCase(Locale.ROOT);
            if (renamed) names[names.length - 1] = ((TableChange.RenameColumn) changes[k]).newName();
            String now = String.join(".", names).toLowerCase(Locale.ROOT);
            ObjectNode kept = WarehouseLayout.JSON.createObjectNode();
            Iterator columns = tags.fieldNames();
            while (columns.hasNext()) {
                String column = (String) columns.next();
                boolean isMeant = column.equals(old) || column.startsWith(old + ".");
                changed = changed || isMeant;
                if (!isMeant) kept.set(column, tags.get(column));
                else if (renamed) kept.set(now + column.substring(old.length()), tags.get(column));
            }
            tags = kept;
        }
        about.set(TAGS, tags);
        return changed;
    }

    private static boolean uses(JsonNode policy, String column) {
        JsonNode columns = policy.get("columns");
        for (int k = 0; k < columns.size(); k++) {
            if (((JsonNode) columns.get(k)).asText().equalsIgnoreCase(column)) return true;
        }
        return false;
    }

    static RuntimeException refused(String condition, String message) {
        return PythonSqlBridge.error(condition, "0A000", message);
    }
}

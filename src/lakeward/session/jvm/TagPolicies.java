package lakeward;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.Identifier;

/**
 * The policies of catalogs, schemas and tables that apply by tags. sql/constructs/tag_policy_evaluation.py decides which
 * of them hold for a table and the user.
 */
public class TagPolicies {

    /** The row filter and the masks of a table, its own and those of policies; `about` where there are no policies. */
    static ObjectNode effective(SparkSession session, Catalog catalog, Identifier table, ObjectNode about) {
        if (!hasAny(about) && !hasAny(catalog.aboutSchema(table)) && !hasAny(catalog.aboutCatalog(table))) return about;
        Column[] columns;
        try {
            columns = catalog.loadTable(table).columns();
        } catch (Exception absent) {  // a view, which has no policies, or no table at all
            return about;
        }
        ObjectNode call = WarehouseLayout.JSON.createObjectNode().put("name", "function.tag_policies");
        ObjectNode arguments = call.putObject("arguments");
        arguments.put("catalog", catalog.name()).put("schema", table.namespace()[0]).put("table", table.name());
        ArrayNode described = arguments.putArray("columns");
        for (int i = 0; i < columns.length; i++) described.addArray().add(columns[i].name()).add(columns[i].dataType().sql());
        return (ObjectNode) SqlFunctions.ask(call, session);
    }

    private static boolean hasAny(ObjectNode about) {
        return about != null && about.has("policies") && about.get("policies").size() > 0;
    }
}

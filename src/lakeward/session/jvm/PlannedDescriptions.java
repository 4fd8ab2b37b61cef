package lakeward;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.analysis.ResolvedTable$;
import org.apache.spark.sql.catalyst.analysis.UnresolvedTable;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.delta.commands.DescribeDeltaDetailCommand;
import org.apache.spark.sql.delta.commands.DescribeDeltaHistory;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.immutable.Seq;

/**
 * DESCRIBE HISTORY and DESCRIBE DETAIL of a dataset while its pipeline is analyzed: of the table of the last update.
 * Before the first update the history is empty, and the details have the name and the format alone.
 */
public class PlannedDescriptions extends SessionRule {

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        return PlannedTable.isUsed() ? plan.transformDownWithSubqueries(new Described(session)) : plan;
    }

    public static class Described extends NodeRewrite {
        private final SparkSession session;

        Described(SparkSession session) {
            this.session = session;
        }

        public boolean isDefinedAt(Object node) {
            return node instanceof DescribeDeltaHistory || node instanceof DescribeDeltaDetailCommand;
        }

        Object replacement(Object node) {
            LogicalPlan child = (LogicalPlan) ((LogicalPlan) node).children().head();
            if (!(child instanceof UnresolvedTable)) return node;
            CatalogTable named = CatalogTable.find(session, ((UnresolvedTable) child).multipartIdentifier());
            if (named == null || !(named.catalog instanceof Catalog)) return node;
            Table planned = PlannedTable.find(named.catalog.name(), named.identifier);
            if (planned == null) return node;
            Catalog catalog = (Catalog) named.catalog;
            Table stored = catalog.storedTable(named.identifier);
            if (stored == null) return nothing((LogicalPlan) node, planned.name());
            return ((LogicalPlan) node).withNewChildren(seq(ResolvedTable$.MODULE$.create(catalog, named.identifier, stored)));
        }

        private static LogicalPlan nothing(LogicalPlan description, String name) {
            List rows = new ArrayList();
            Seq output = description.output();
            if (description instanceof DescribeDeltaDetailCommand) {
                Object[] values = new Object[output.length()];
                for (int i = 0; i < values.length; i++) {
                    String column = ((Attribute) output.apply(i)).name();
                    if (column.equals("format")) values[i] = UTF8String.fromString("delta");
                    if (column.equals("name")) values[i] = UTF8String.fromString(name);
                }
                rows.add(new GenericInternalRow(values));
            }
            return new LocalRelation(output, PythonUtils.toSeq(rows), false, ObjectDefinitions.none());
        }

        private static Seq seq(Object only) {
            List all = new ArrayList();
            all.add(only);
            return PythonUtils.toSeq(all);
        }
    }
}

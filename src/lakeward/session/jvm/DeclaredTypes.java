package lakeward;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.analysis.ResolvedTable;
import org.apache.spark.sql.catalyst.plans.logical.DescribeRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.util.CharVarcharUtils;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.CatalogV2Util;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.types.StructType;

/** DESCRIBE of a table with columns of CHAR and VARCHAR, which Delta keeps as STRING with the declared type. */
public class DeclaredTypes extends SessionRule {

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        if (!(plan instanceof DescribeRelation) || !(((DescribeRelation) plan).relation() instanceof ResolvedTable)) return plan;
        ResolvedTable found = (ResolvedTable) ((DescribeRelation) plan).relation();
        StructType stored = CatalogV2Util.v2ColumnsToStructType(found.table().columns());
        StructType declared = CharVarcharUtils.getRawSchema(stored);
        if (declared.equals(stored)) return plan;
        Object shown = found.copy(found.catalog(), found.identifier(), new Declared(found.table(), declared), found.outputAttributes());
        return (TreeNode) plan.withNewChildren(PythonUtils.toSeq(Arrays.asList(new Object[] {shown})));
    }

    /** A table with its columns as they were declared. */
    public static class Declared implements Table {
        private final Table table;
        private final StructType columns;

        Declared(Table table, StructType columns) {
            this.table = table;
            this.columns = columns;
        }

        public String name() {
            return table.name();
        }

        public StructType schema() {
            return columns;
        }

        public Transform[] partitioning() {
            return table.partitioning();
        }

        public Map properties() {
            return table.properties();
        }

        public Set capabilities() {
            return table.capabilities();
        }
    }
}

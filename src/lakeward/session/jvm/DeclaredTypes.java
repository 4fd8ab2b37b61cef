package lakeward;

import java.util.Arrays;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.analysis.ResolvedPersistentView;
import org.apache.spark.sql.catalyst.analysis.ResolvedTable;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.DescribeColumn;
import org.apache.spark.sql.catalyst.plans.logical.DescribeRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.util.CharVarcharUtils;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.CatalogV2Util;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import scala.Option;

/** DESCRIBE of tables and views with columns of CHAR and VARCHAR, which are STRING with the declared type. */
public class DeclaredTypes extends SessionRule {

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        if (plan instanceof DescribeColumn) return column((DescribeColumn) plan);
        if (!(plan instanceof DescribeRelation)) return plan;
        LogicalPlan relation = ((DescribeRelation) plan).relation();
        LogicalPlan declared = declared(relation);
        return declared == relation ? plan : (TreeNode) plan.withNewChildren(PythonUtils.toSeq(Arrays.asList(new Object[] {declared})));
    }

    private static LogicalPlan declared(LogicalPlan relation) {
        if (relation instanceof ResolvedTable) return table((ResolvedTable) relation);
        return relation instanceof ResolvedPersistentView ? view((ResolvedPersistentView) relation) : relation;
    }

    private static LogicalPlan table(ResolvedTable found) {
        StructType stored = CatalogV2Util.v2ColumnsToStructType(found.table().columns());
        StructType declared = CharVarcharUtils.getRawSchema(stored);
        if (declared.equals(stored)) return found;
        return found.copy(found.catalog(), found.identifier(), new Declared(found.table(), declared), found.outputAttributes());
    }

    private static LogicalPlan view(ResolvedPersistentView found) {
        StructType declared = CharVarcharUtils.getRawSchema(found.info().schema());
        if (declared.equals(found.info().schema())) return found;
        return found.copy(found.catalog(), found.identifier(), ViewStore.withColumns(found.info(), declared));
    }

    private static LogicalPlan column(DescribeColumn plan) {
        if (!(plan.column() instanceof Attribute)) return plan;
        Attribute column = (Attribute) plan.column();
        Option declared = CharVarcharUtils.getRawType(column.metadata());
        if (declared.isEmpty() || declared.get().equals(column.dataType())) return plan;
        if (!(plan.relation() instanceof ResolvedPersistentView)) {
            return plan.copy(plan.relation(), column.withDataType((DataType) declared.get()), plan.isExtended(), plan.output());
        }
        // Spark shows the type that the view has.
        LogicalPlan view = declared(plan.relation());
        int position = 0;
        while (!((Attribute) plan.relation().output().apply(position)).exprId().equals(column.exprId())) position++;
        return plan.copy(view, (Attribute) view.output().apply(position), plan.isExtended(), plan.output());
    }

    /** A table with its columns as they were declared. */
    public static class Declared extends DelegatingTable {
        private final StructType columns;

        Declared(Table table, StructType columns) {
            super(table);
            this.columns = columns;
        }

        public StructType schema() {
            return columns;
        }
    }
}

package lakeward;

import org.apache.spark.sql.catalyst.plans.logical.AddColumns;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.QualifiedColType;
import org.apache.spark.sql.catalyst.plans.logical.V2CreateTablePlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.delta.commands.CloneTableCommand;
import org.apache.spark.sql.delta.commands.CreateDeltaTableCommand;
import org.apache.spark.sql.delta.commands.RestoreTableCommand;
import org.apache.spark.sql.execution.datasources.SaveIntoDataSourceCommand;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;

/**
 * Delta tables have columns with collations, as on Databricks. Delta stores and reads them, but its check of types
 * refuses them with those that it cannot store: intervals and times. The check is off in a session while a statement
 * has such columns, unless the session has set it itself; other statements are checked.
 */
public class CollatedColumns extends SessionRule {

    private static final String CHECK = "spark.databricks.delta.schema.typeCheck.enabled";
    private static final String MARK = "spark.lakeward.collatedColumns";

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        if (!(plan instanceof Command) && !plan.isStreaming()) return plan;
        SQLConf conf = session.sessionState().conf();
        boolean ours = conf.contains(MARK);
        if (conf.contains(CHECK) && !ours) return plan;
        boolean collated = hasCollation(plan);
        if (collated && !ours) {
            conf.setConfString(MARK, "true");
            conf.setConfString(CHECK, "false");
        } else if (!collated && ours) {
            conf.unsetConf(CHECK);
            conf.unsetConf(MARK);
        }
        return plan;
    }

    private static boolean hasCollation(LogicalPlan plan) {
        if (plan instanceof V2CreateTablePlan && plan.childrenResolved() && isCollated(((V2CreateTablePlan) plan).tableSchema())) return true;
        if (plan instanceof AddColumns) {
            for (Iterator each = ((AddColumns) plan).columnsToAdd().iterator(); each.hasNext();) {
                if (isCollated(((QualifiedColType) each.next()).dataType())) return true;
            }
        }
        if (plan instanceof RestoreTableCommand && isCollated(((RestoreTableCommand) plan).sourceTable().schema())) return true;
        if (plan instanceof CloneTableCommand && isCollated(((CloneTableCommand) plan).sourceTable().schema())) return true;
        if (plan instanceof CreateDeltaTableCommand && ((CreateDeltaTableCommand) plan).query().isDefined()
            && hasCollation((LogicalPlan) ((CreateDeltaTableCommand) plan).query().get())) return true;
        if (plan instanceof SaveIntoDataSourceCommand && hasCollation(((SaveIntoDataSourceCommand) plan).query())) return true;
        if (plan.resolved() && isCollated(plan.schema())) return true;
        for (Iterator each = plan.children().iterator(); each.hasNext();) {
            if (hasCollation((LogicalPlan) each.next())) return true;
        }
        return false;
    }

    private static boolean isCollated(DataType type) {
        if (type instanceof StringType) return !((StringType) type).isUTF8BinaryCollation();
        if (type instanceof ArrayType) return isCollated(((ArrayType) type).elementType());
        // Keys of maps have none: Delta's check refuses them.
        if (type instanceof MapType) return !isCollated(((MapType) type).keyType()) && isCollated(((MapType) type).valueType());
        if (!(type instanceof StructType)) return false;
        StructField[] fields = ((StructType) type).fields();
        for (int i = 0; i < fields.length; i++) {
            if (isCollated(fields[i].dataType())) return true;
        }
        return false;
    }
}

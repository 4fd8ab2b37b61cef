package lakeward;

import java.util.ArrayList;
import java.util.Locale;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.network.util.JavaUtils;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.delta.DeltaConfigs$;
import org.apache.spark.sql.delta.commands.DeltaOptimizeContext;
import org.apache.spark.sql.delta.commands.OptimizeTableCommand;
import scala.Option;
import scala.Some;
import scala.runtime.AbstractFunction1;

/**
 * OPTIMIZE of a table with the property `delta.targetFileSize` writes files of this size, as on Databricks. Delta knows
 * one size for all tables, as a setting of the session; a size that a caller has set itself stays.
 */
public class TargetFileSize extends SessionRule {

    private static final String NAME = "targetFileSize";
    private static final String PROPERTY = "delta." + NAME;

    public Object apply(Object session) {
        register();
        return super.apply(session);
    }

    /** Makes Delta check the property in all statements, as it does with its own. */
    private static synchronized void register() {
        if (DeltaConfigs$.MODULE$.entries().containsKey(NAME.toLowerCase(Locale.ROOT))) return;
        DeltaConfigs$.MODULE$.buildConfig(NAME, "1g", new Text(), new IsSize(),
            "needs a size of at least one byte, as 33554432 or 32mb.", true, PythonUtils.toSeq(new ArrayList()));
    }

    public static class Text extends AbstractFunction1 {
        public Object apply(Object text) {
            return text;
        }
    }

    public static class IsSize extends AbstractFunction1 {
        public Object apply(Object text) {
            try {
                return Boolean.valueOf(JavaUtils.byteStringAsBytes(text.toString()) > 0);
            } catch (NumberFormatException e) {
                return Boolean.FALSE;
            }
        }
    }

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        if (!(plan instanceof OptimizeTableCommand)) return plan;
        OptimizeTableCommand command = (OptimizeTableCommand) plan;
        DeltaOptimizeContext context = command.optimizeContext();
        LogicalPlan table = command.child();
        if (!table.resolved() || context.maxFileSize().isDefined() || context.reorg().isDefined()) return plan;
        Object size = command.getDeltaTable(table, "OPTIMIZE").properties().get(PROPERTY);
        if (size == null) return plan;
        Option bytes = new Some(Long.valueOf(JavaUtils.byteStringAsBytes(size.toString())));
        DeltaOptimizeContext sized = context.copy(context.reorg(), bytes, bytes, context.maxDeletedRowsRatio(), context.isFull());
        return command.copy(table, command.userPartitionPredicates(), sized, command.zOrderBy());
    }
}

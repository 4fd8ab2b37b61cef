package lakeward;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.RowOrdering$;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression$;
import org.apache.spark.sql.catalyst.plans.logical.Assignment;
import org.apache.spark.sql.catalyst.plans.logical.DeleteAction;
import org.apache.spark.sql.catalyst.plans.logical.DeltaDelete;
import org.apache.spark.sql.catalyst.plans.logical.DeltaUpdateTable;
import org.apache.spark.sql.catalyst.plans.logical.Distinct;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Limit$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.UpdateAction;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.trees.TreeNodeTag;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.delta.OptimisticTransaction$;
import org.apache.spark.sql.delta.commands.MergeIntoCommand;
import scala.Option;
import scala.Some;
import scala.collection.immutable.Seq;

/**
 * DELETE and UPDATE with subqueries in the condition, or correlated ones in a new value, which Delta does not support.
 *
 * A condition is a function of the columns that it names. So the rows that it selects are those that are equal, in
 * these columns, to one of the rows `SELECT DISTINCT columns FROM table WHERE condition`: the source of a MERGE.
 */
public class RowSelection extends SessionRule {

    private static final TreeNodeTag SELECTION = new TreeNodeTag("lakeward.selection");

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        if (!(plan instanceof DeltaDelete || plan instanceof DeltaUpdateTable) || !plan.resolved()) return plan;
        // Delta's own deletion as a part of a write.
        if (OptimisticTransaction$.MODULE$.getActive().isDefined()) return plan;
        Selection selection = plan instanceof DeltaDelete ? of((DeltaDelete) plan) : of((DeltaUpdateTable) plan);
        return selection == null || !selection.isComparable() ? plan : selection.merge();
    }

    private static Selection of(DeltaDelete delete) {
        return hasSubquery(delete.condition()) ? new Selection(delete.child(), delete.condition()).deletion() : null;
    }

    private static Selection of(DeltaUpdateTable update) {
        boolean isMeant = hasSubquery(update.condition());
        // Others Delta computes before the update.
        for (int i = 0; i < update.updateExpressions().length(); i++) {
            isMeant |= SubqueryExpression$.MODULE$.hasCorrelatedSubquery((Expression) update.updateExpressions().apply(i));
        }
        return isMeant ? new Selection(update.child(), update.condition()).update(update.updateColumns(), update.updateExpressions()) : null;
    }

    private static boolean hasSubquery(Option expression) {
        return expression.isDefined() && SubqueryExpression$.MODULE$.hasSubquery((Expression) expression.get());
    }

    /** A MERGE with the selected rows as its source. */
    private static class Selection {
        private final LogicalPlan table;
        private final Option condition;
        /** The table's columns that identify the rows, by their ids. */
        private final Map identifying = new HashMap();
        /** Columns of the source: those that the condition and the values name, and then the values with subqueries. */
        private final List columns = new ArrayList();
        private Expression isSelected = Literal$.MODULE$.apply(Boolean.TRUE);
        private List actions = new ArrayList();

        Selection(LogicalPlan table, Option condition) {
            this.table = table;
            this.condition = condition;
            if (condition.isDefined()) identifyBy((Expression) condition.get());
        }

        /** Whether the rows of the source can be compared: Spark compares no maps and variants. */
        boolean isComparable() {
            for (Object column : columns) {
                if (!RowOrdering$.MODULE$.isOrderable(((Alias) column).dataType())) return false;
            }
            return true;
        }

        private void identifyBy(Expression expression) {
            scala.collection.Iterator all = expression.references().iterator();
            while (all.hasNext()) {
                Attribute column = (Attribute) all.next();
                if (!table.outputSet().contains(column) || identifying.put(column.exprId(), column) != null) continue;
                Expression same = new EqualNullSafe(column, named(column).toAttribute());
                isSelected = identifying.size() == 1 ? same : new And(isSelected, same);
            }
        }

        private Alias named(Expression value) {
            Alias alias = new Alias(value, "lakeward_" + columns.size(), NamedExpression.newExprId(), ObjectDefinitions.seq(null),
                ObjectDefinitions.none(), ObjectDefinitions.seq(null));
            columns.add(alias);
            return alias;
        }

        Selection deletion() {
            actions.add(new DeleteAction(ObjectDefinitions.none()));
            return this;
        }

        Selection update(Seq targets, Seq values) {
            for (int i = 0; i < values.length(); i++) {
                if (hasSubquery(new Some(values.apply(i)))) identifyBy((Expression) values.apply(i));
            }
            List assignments = new ArrayList();
            for (int i = 0; i < values.length(); i++) {
                Expression value = (Expression) values.apply(i);
                if (hasSubquery(new Some(value))) value = named(value).toAttribute();
                assignments.add(new Assignment((Expression) targets.apply(i), value));
            }
            actions.add(new UpdateAction(ObjectDefinitions.none(), PythonUtils.toSeq(assignments), false));
            return this;
        }

        private LogicalPlan source() {
            LogicalPlan rows = condition.isDefined() ? new Filter((Expression) condition.get(), table) : table;
            if (identifying.isEmpty()) {
                // The condition is the same for all rows.
                rows = (LogicalPlan) Limit$.MODULE$.apply(Literal$.MODULE$.apply(Integer.valueOf(1)), rows);
                if (columns.isEmpty()) named(Literal$.MODULE$.apply(Integer.valueOf(1)));
            }
            return new Distinct(new Project(PythonUtils.toSeq(columns), rows));
        }

        LogicalPlan merge() {
            Seq none = PythonUtils.toSeq(new ArrayList());
            LogicalPlan source = source();
            LogicalPlan merge = new MergeIntoTable(table, source, isSelected, PythonUtils.toSeq(actions), none, none, false);
            // Spark copies tags to the plans that replace this one.
            merge.setTagValue(SELECTION, Boolean.TRUE);
            return merge;
        }
    }

    /** The result of DELETE and UPDATE: the first column of the result of MERGE. */
    public static class Results extends SessionRule {
        TreeNode rewritten(LogicalPlan plan, SparkSession session) {
            if (!(plan instanceof MergeIntoCommand) || plan.getTagValue(SELECTION).isEmpty()) return plan;
            List affected = new ArrayList();
            affected.add(plan.output().apply(0));
            plan.unsetTagValue(SELECTION);
            return new Project(PythonUtils.toSeq(affected), plan);
        }
    }
}

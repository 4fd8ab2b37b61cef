package lakeward;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
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
import org.apache.spark.sql.catalyst.plans.logical.MergeAction;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.UpdateAction;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.Some;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/**
 * DELETE and UPDATE with subqueries in the condition or in a new value, which Delta does not support.
 *
 * A condition is a function of the columns that it names. So the rows that it selects are those that are equal, in
 * these columns, to one of the rows `SELECT DISTINCT columns FROM table WHERE condition`: the source of a MERGE.
 */
public class RowSelection extends AbstractFunction1 {

    public Object apply(Object session) {
        return new Statements();
    }

    public static class Statements extends Rule {
        public TreeNode apply(TreeNode plan) {
            if (!(plan instanceof DeltaDelete || plan instanceof DeltaUpdateTable) || !((LogicalPlan) plan).resolved()) return plan;
            Selection selection = plan instanceof DeltaDelete ? of((DeltaDelete) plan) : of((DeltaUpdateTable) plan);
            return selection == null || !selection.isComparable() ? plan : selection.command();
        }

        private static Selection of(DeltaDelete delete) {
            return hasSubquery(delete.condition()) ? new Selection("DELETE", delete.child(), delete.condition()).deletion() : null;
        }

        private static Selection of(DeltaUpdateTable update) {
            boolean isMeant = hasSubquery(update.condition());
            for (int i = 0; i < update.updateExpressions().length(); i++) isMeant |= hasSubquery(new Some(update.updateExpressions().apply(i)));
            return isMeant ? new Selection("UPDATE", update.child(), update.condition()).update(update.updateColumns(), update.updateExpressions()) : null;
        }
    }

    private static boolean hasSubquery(Option expression) {
        return expression.isDefined() && SubqueryExpression$.MODULE$.hasSubquery((Expression) expression.get());
    }

    /** A MERGE with the selected rows as its source. */
    private static class Selection {
        private final String name;
        private final LogicalPlan table;
        private final Option condition;
        /** The table's columns that identify the rows, by their ids. */
        private final Map identifying = new HashMap();
        /** Columns of the source: those that the condition and the values name, and then the values with subqueries. */
        private final List columns = new ArrayList();
        private Expression isSelected = Literal$.MODULE$.apply(Boolean.TRUE);
        private List actions = new ArrayList();

        Selection(String name, LogicalPlan table, Option condition) {
            this.name = name;
            this.table = table;
            this.condition = condition;
            if (condition.isDefined()) identifyBy((Expression) condition.get());
        }

        /** Whether the rows can be compared: Spark compares no maps and variants. */
        boolean isComparable() {
            for (Object column : identifying.values()) {
                if (!RowOrdering$.MODULE$.isOrderable(((Attribute) column).dataType())) return false;
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

        LogicalPlan command() {
            Seq none = PythonUtils.toSeq(new ArrayList());
            LogicalPlan source = source();
            return SqlCommand.plan(new Merge(name,
                new MergeIntoTable(table, source, isSelected, PythonUtils.toSeq(actions), none, none, false)));
        }
    }

    /** Runs the MERGE; its result is that of DELETE and UPDATE. */
    private static class Merge implements SqlCommand.Action {
        private static final StructType RESULT = StructType.fromDDL("num_affected_rows BIGINT");

        private final String name;
        private final LogicalPlan merge;

        Merge(String name, LogicalPlan merge) {
            this.name = name;
            this.merge = merge;
        }

        public String name() {
            return name;
        }

        public Iterator run(SparkSession session) {
            InternalRow[] done = Dataset$.MODULE$.ofRows(session, merge).queryExecution().executedPlan().executeCollect();
            InternalRow affected = new GenericInternalRow(new Object[] {Long.valueOf(done[0].getLong(0))});
            return Collections.singletonList(new SqlCommand.Rows(RESULT, new InternalRow[] {affected})).iterator();
        }
    }
}

package lakeward;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.analysis.PlanWithUnresolvedIdentifier;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.logical.Assignment;
import org.apache.spark.sql.catalyst.plans.logical.InsertAction;
import org.apache.spark.sql.catalyst.plans.logical.InsertStarAction;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeAction;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias$;
import org.apache.spark.sql.catalyst.plans.logical.UpdateAction;
import org.apache.spark.sql.catalyst.plans.logical.UpdateStarAction;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction2;

/**
 * MERGE with `* EXCEPT (columns)`: the columns that `*` means without these, each with the source's value. Delta
 * resolves the assignments of MERGE as soon as its tables are known, so that the names are needed before.
 */
public class MergeStars extends SessionRule {

    /** The column of the assignment that `* EXCEPT` becomes (sql/constructs/merge.py); its value is the list. */
    private static final String EXCEPT = "lakeward_star_except";
    private static final String SOURCE = "__lakeward_source";

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        return plan.transformDown(new Expanded(session));
    }

    public static class Expanded extends NodeRewrite {
        private final SparkSession session;

        Expanded(SparkSession session) {
            this.session = session;
        }

        public boolean isDefinedAt(Object plan) {
            if (plan instanceof MergeIntoTable) return hasExcept((MergeIntoTable) plan);
            return plan instanceof PlanWithUnresolvedIdentifier && !(((PlanWithUnresolvedIdentifier) plan).planBuilder() instanceof Later);
        }

        Object replacement(Object plan) {
            if (plan instanceof MergeIntoTable) return expanded((MergeIntoTable) plan);
            PlanWithUnresolvedIdentifier missing = (PlanWithUnresolvedIdentifier) plan;
            return new PlanWithUnresolvedIdentifier(missing.identifierExpr(), missing.children(), new Later(missing, this));
        }

        private MergeIntoTable expanded(MergeIntoTable merge) {
            LogicalPlan source = merge.sourceTable();
            if (!(source instanceof SubqueryAlias || source instanceof UnresolvedRelation)) source = SubqueryAlias$.MODULE$.apply(SOURCE, source);
            // With schema evolution, `*` means the columns of the source.
            List columns = columns(merge.withSchemaEvolution() ? source : merge.targetTable());
            List prefix = prefix(source);
            return merge.copy(merge.targetTable(), source, merge.mergeCondition(), actions(merge.matchedActions(), columns, prefix),
                actions(merge.notMatchedActions(), columns, prefix), merge.notMatchedBySourceActions(), merge.withSchemaEvolution());
        }

        /** The names of the columns; null for a table that does not exist, which Spark reports. */
        private List columns(LogicalPlan table) {
            LogicalPlan analyzed = session.sessionState().analyzer().execute(table);
            if (!analyzed.resolved()) return null;
            List names = new ArrayList();
            for (int i = 0; i < analyzed.output().length(); i++) names.add(((Attribute) analyzed.output().apply(i)).name());
            return names;
        }

        private static List prefix(LogicalPlan source) {
            List parts = new ArrayList();
            if (source instanceof UnresolvedRelation) {
                parts.addAll(scala.jdk.javaapi.CollectionConverters.asJava(((UnresolvedRelation) source).multipartIdentifier()));
            } else {
                parts.add(((SubqueryAlias) source).alias());
            }
            return parts;
        }
    }

    private static boolean hasExcept(MergeIntoTable merge) {
        return hasExcept(merge.matchedActions()) || hasExcept(merge.notMatchedActions());
    }

    private static boolean hasExcept(Seq actions) {
        for (int i = 0; i < actions.length(); i++) if (excluded((MergeAction) actions.apply(i)) != null) return true;
        return false;
    }

    /** The columns that an action leaves out, in lower case; null for an action without `* EXCEPT`. */
    private static Set excluded(MergeAction action) {
        Seq assignments = action instanceof UpdateAction ? ((UpdateAction) action).assignments()
            : action instanceof InsertAction ? ((InsertAction) action).assignments() : null;
        if (assignments == null || assignments.length() != 1) return null;
        Assignment only = (Assignment) assignments.apply(0);
        if (!(only.key() instanceof UnresolvedAttribute) || !((UnresolvedAttribute) only.key()).name().equals(EXCEPT)) return null;
        Set names = new HashSet();
        Seq list = ((Expression) only.value()).children();
        for (int i = 0; i < list.length(); i++) names.add(((Literal) list.apply(i)).value().toString().toLowerCase(Locale.ROOT));
        return names;
    }

    private static Seq actions(Seq actions, List columns, List prefix) {
        List expanded = new ArrayList();
        for (int i = 0; i < actions.length(); i++) {
            MergeAction action = (MergeAction) actions.apply(i);
            Set excluded = excluded(action);
            expanded.add(excluded == null ? action : expanded(action, excluded, columns, prefix));
        }
        return PythonUtils.toSeq(expanded);
    }

    private static MergeAction expanded(MergeAction action, Set excluded, List columns, List prefix) {
        boolean isUpdate = action instanceof UpdateAction;
        if (columns == null) return isUpdate ? new UpdateStarAction(action.condition()) : new InsertStarAction(action.condition());
        List assignments = new ArrayList();
        for (Object column : columns) {
            if (excluded.contains(column.toString().toLowerCase(Locale.ROOT))) continue;
            List value = new ArrayList(prefix);
            value.add(column);
            List key = new ArrayList();
            key.add(column);
            assignments.add(new Assignment(new UnresolvedAttribute(PythonUtils.toSeq(key)), new UnresolvedAttribute(PythonUtils.toSeq(value))));
        }
        Seq all = PythonUtils.toSeq(assignments);
        return isUpdate ? ((UpdateAction) action).copy(action.condition(), all, ((UpdateAction) action).fromStar())
            : ((InsertAction) action).copy(action.condition(), all);
    }

    /** Expands the statement after Spark has evaluated IDENTIFIER(…) of its target. */
    public static class Later extends AbstractFunction2 {
        private final PlanWithUnresolvedIdentifier missing;
        private final Expanded expanded;

        Later(PlanWithUnresolvedIdentifier missing, Expanded expanded) {
            this.missing = missing;
            this.expanded = expanded;
        }

        public Object apply(Object name, Object children) {
            return ColumnDefaults.in((LogicalPlan) ((LogicalPlan) missing.planBuilder().apply(name, children)).transformDown(expanded), expanded.session);
        }
    }
}

package lakeward;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Project$;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.View;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/**
 * The function input_file_name(). Runtimes from 17.3 on do not have it. For the others, Spark knows the files of its
 * own sources; the files of Auto Loader are in its hidden column `_metadata`, which takes the function's place.
 */
public class InputFileName extends SessionRule {

    public static final String SETTING = "spark.sql.lakeward.inputFileName";
    /** Set in the session of a streaming query that reads Auto Loader. */
    public static final String BATCHES = "spark.sql.lakeward.autoLoader";
    private static final String NAME = "input_file_name";
    /** No plan is searched before the first call of the function. */
    private static volatile boolean used = false;

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        return plan.containsPattern(TreePattern.UNRESOLVED_FUNCTION()) ? plan.transformAllExpressions(new Call(session)) : plan;
    }

    /** Notes calls of the function, or refuses them. */
    public static class Call extends NodeRewrite {
        private final SparkSession session;

        Call(SparkSession session) {
            this.session = session;
        }

        public boolean isDefinedAt(Object e) {
            if (!(e instanceof UnresolvedFunction)) return false;
            Seq parts = ((UnresolvedFunction) e).nameParts();
            return NAME.equalsIgnoreCase((String) parts.apply(parts.length() - 1))
                && (parts.length() == 1 || "builtin".equalsIgnoreCase((String) parts.apply(parts.length() - 2)));
        }

        Object replacement(Object e) {
            // UPDATE, DELETE and MERGE of Delta find the files to rewrite by this function.
            if (ofDelta()) return e;
            used = true;
            if (!"removed".equals(session.conf().get(SETTING, "")) || session.sessionState().catalog().isTemporaryFunction(new FunctionIdentifier(NAME))) {
                return e;
            }
            throw PythonSqlBridge.error("UC_COMMAND_NOT_SUPPORTED.WITH_RECOMMENDATION", "0AKUC", "The command(s): input_file_name are not supported in Unity Catalog. Please use _metadata.file_path instead.");
        }

        private static boolean ofDelta() {
            StackTraceElement[] frames = Thread.currentThread().getStackTrace();
            for (int i = 0; i < frames.length; i++) {
                if (frames[i].getClassName().startsWith("org.apache.spark.sql.delta.commands.")) return true;
            }
            return false;
        }
    }

    /** Gives the files of Auto Loader. */
    public static class OfAutoLoader extends SessionRule {
        TreeNode rewritten(LogicalPlan plan, SparkSession session) {
            return used ? plan.resolveOperatorsUp(new Node("true".equals(session.conf().get(BATCHES, "")))) : plan;
        }
    }

    /** A node that calls the function over rows of Auto Loader. */
    public static class Node extends NodeRewrite {
        private final boolean ofBatches;

        Node(boolean ofBatches) {
            this.ofBatches = ofBatches;
        }

        public boolean isDefinedAt(Object o) {
            LogicalPlan node = (LogicalPlan) o;
            if (node.children().length() != 1) return false;
            LogicalPlan child = (LogicalPlan) node.children().apply(0);
            if (!calls(node) || !child.resolved()) return false;
            if (ofBatches && source(child) instanceof LogicalRDD) throw inBatch();
            return hidden(child) != null;
        }

        private static LogicalPlan source(LogicalPlan plan) {
            return passes(plan) ? source((LogicalPlan) plan.children().apply(0)) : plan;
        }

        /** The rows of a batch have no hidden column, and no file of their own. */
        private static RuntimeException inBatch() {
            return PythonSqlBridge.error("INPUT_FILE_NAME_IN_FOREACH_BATCH", "0A000", "input_file_name() was called in foreachBatch on rows of "
                + "Auto Loader, whose files are not known there. Select _metadata.file_path of the stream, before foreachBatch.");
        }

        Object replacement(Object o) {
            LogicalPlan node = (LogicalPlan) o;
            LogicalPlan child = (LogicalPlan) node.children().apply(0);
            Attribute file = hidden(child);
            Seq before = child.output();
            LogicalPlan below = node instanceof Project || node instanceof Aggregate ? null : node;
            LogicalPlan changed = (LogicalPlan) ((LogicalPlan) node.withNewChildren(one(with(child, file)))).transformExpressions(new Path(file));
            // A filter passes all columns on, and this one is hidden.
            return below instanceof Filter ? new Project(before, changed) : changed;
        }

        private static boolean calls(LogicalPlan node) {
            Seq all = node.expressions();
            for (int i = 0; i < all.length(); i++) {
                if (((Expression) all.apply(i)).exists(new IsCall())) return true;
            }
            return false;
        }
    }

    /** The column `_metadata` of the Auto Loader stream below, through nodes that keep its rows; null without one. */
    static Attribute hidden(LogicalPlan plan) {
        if (plan instanceof Project) {
            Option tag = plan.getTagValue(Project$.MODULE$.hiddenOutputTag());
            Seq tagged = tag.isDefined() ? (Seq) tag.get() : null;
            for (int i = 0; tagged != null && i < tagged.length(); i++) {
                Attribute a = (Attribute) tagged.apply(i);
                if (a.name().equals("_metadata") && a.dataType() instanceof StructType && ((StructType) a.dataType()).fieldNames()[0].equals("file_path")
                    && !a.metadata().contains("__file_source_metadata_col")) return a;
            }
        }
        return passes(plan) ? hidden((LogicalPlan) plan.children().apply(0)) : null;
    }

    private static boolean passes(LogicalPlan plan) {
        return plan instanceof Project || plan instanceof Filter || plan instanceof SubqueryAlias || plan instanceof View;
    }

    /** The plan with that column in its output. */
    static LogicalPlan with(LogicalPlan plan, Attribute file) {
        if (plan.outputSet().contains(file)) return plan;
        LogicalPlan child = (LogicalPlan) plan.children().apply(0);
        LogicalPlan changed = (LogicalPlan) plan.withNewChildren(one(child.outputSet().contains(file) ? child : with(child, file)));
        if (!(changed instanceof Project)) return changed;
        Seq list = ((Project) changed).projectList();
        List columns = new ArrayList();
        for (int i = 0; i < list.length(); i++) columns.add(list.apply(i));
        columns.add(file);
        Project wider = new Project(PythonUtils.toSeq(columns), ((Project) changed).child());
        wider.copyTagsFrom(plan);
        return wider;
    }

    private static Seq one(LogicalPlan plan) {
        List only = new ArrayList();
        only.add(plan);
        return PythonUtils.toSeq(only);
    }

    public static class IsCall extends AbstractFunction1 {
        public Object apply(Object e) {
            return Boolean.valueOf(e instanceof org.apache.spark.sql.catalyst.expressions.InputFileName);
        }
    }

    public static class Path extends NodeRewrite {
        private final Attribute file;

        Path(Attribute file) {
            this.file = file;
        }

        public boolean isDefinedAt(Object e) {
            return e instanceof org.apache.spark.sql.catalyst.expressions.InputFileName;
        }

        Object replacement(Object e) {
            return new GetStructField(file, 0, new scala.Some("file_path"));
        }
    }
}

package lakeward;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.analysis.Star;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.analysis.UnresolvedInlineTable;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.parser.ParseException;
import org.apache.spark.sql.catalyst.plans.logical.Assignment;
import org.apache.spark.sql.catalyst.plans.logical.InsertAction;
import org.apache.spark.sql.catalyst.plans.logical.InsertIntoStatement;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeAction;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.catalyst.plans.logical.UpdateAction;
import org.apache.spark.sql.catalyst.plans.logical.UpdateTable;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.util.ResolveDefaultColumns;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.delta.catalog.DeltaTableV2;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;

/**
 * The keyword DEFAULT as the value of a Delta table's column. An identity or generated column computes its value, as
 * if it were left out; Spark writes NULL. Delta resolves the assignments of MERGE without Spark's rule for the keyword.
 */
public class ColumnDefaults extends SessionRule {

    private static final int NONE = 0;
    private static final int ALL = 1;
    private static final int SOME = 2;

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        return in(plan, session);
    }

    static LogicalPlan in(LogicalPlan plan, SparkSession session) {
        return (LogicalPlan) plan.transformDown(new Replaced(session));
    }

    public static class Replaced extends NodeRewrite {
        private final SparkSession session;

        Replaced(SparkSession session) {
            this.session = session;
        }

        public boolean isDefinedAt(Object plan) {
            return plan instanceof InsertIntoStatement || plan instanceof MergeIntoTable || plan instanceof UpdateTable;
        }

        Object replacement(Object plan) {
            if (plan instanceof InsertIntoStatement) return insert((InsertIntoStatement) plan);
            if (plan instanceof MergeIntoTable) return merge((MergeIntoTable) plan);
            return update((UpdateTable) plan);
        }

        /** The columns of a Delta table as they are declared; null for other targets. */
        private StructType declared(LogicalPlan table) {
            LogicalPlan named = table instanceof SubqueryAlias ? ((SubqueryAlias) table).child() : table;
            if (!(named instanceof UnresolvedRelation)) return null;
            CatalogTable found = CatalogTable.find(session, ((UnresolvedRelation) named).multipartIdentifier());
            if (found == null || !(found.catalog instanceof Catalog)) return null;
            try {
                Object loaded = ((Catalog) found.catalog).loadTable(found.identifier);
                return loaded instanceof DeltaTableV2 ? ((DeltaTableV2) loaded).initialSnapshot().metadata().schema() : null;
            } catch (Exception e) {
                // Spark resolves the name again, and its error has the place in the text.
                return null;
            }
        }

        private LogicalPlan insert(InsertIntoStatement insert) {
            if (insert.byName() || !hasDefault(insert.query())) return insert;
            StructType declared = declared(insert.table());
            if (declared == null) return insert;
            List columns = columns(insert, declared);
            Set left = new HashSet();
            for (int k = 0; k < columns.size(); k++) {
                StructField field = field(declared, columns.get(k).toString());
                if (field == null || !isComputed(field)) continue;
                int count = defaults(insert.query(), k, columns.size());
                if (count == SOME && isIdentity(field)) throw unsupported(field.name(), "some rows have DEFAULT and some have values");
                if (count == ALL) left.add(Integer.valueOf(k));
            }
            if (left.isEmpty()) return insert;
            if (left.size() == columns.size()) throw unsupported(columns.get(0).toString(), "no other column has a value");
            List kept = new ArrayList();
            for (int k = 0; k < columns.size(); k++) if (!left.contains(Integer.valueOf(k))) kept.add(columns.get(k));
            return insert.copy(insert.table(), insert.partitionSpec(), PythonUtils.toSeq(kept), without(insert.query(), left, columns.size()),
                insert.overwrite(), insert.ifPartitionNotExists(), false, insert.replaceCriteriaOpt(), insert.withSchemaEvolution());
        }

        private LogicalPlan merge(MergeIntoTable merge) {
            if (!hasDefault(merge.matchedActions()) && !hasDefault(merge.notMatchedActions()) && !hasDefault(merge.notMatchedBySourceActions())) return merge;
            StructType declared = declared(merge.targetTable());
            if (declared == null) return merge;
            return merge.copy(merge.targetTable(), merge.sourceTable(), merge.mergeCondition(), actions(merge.matchedActions(), declared),
                actions(merge.notMatchedActions(), declared), actions(merge.notMatchedBySourceActions(), declared), merge.withSchemaEvolution());
        }

        private LogicalPlan update(UpdateTable update) {
            StructType declared = hasDefaultValue(update.assignments()) ? declared(update.table()) : null;
            return declared == null ? update : update.copy(update.table(), assignments(update.assignments(), declared, false), update.condition());
        }

        private Seq actions(Seq actions, StructType declared) {
            List replaced = new ArrayList();
            for (int i = 0; i < actions.length(); i++) {
                Object action = actions.apply(i);
                if (action instanceof InsertAction) {
                    InsertAction insert = (InsertAction) action;
                    action = insert.copy(insert.condition(), assignments(insert.assignments(), declared, true));
                } else if (action instanceof UpdateAction) {
                    UpdateAction update = (UpdateAction) action;
                    action = update.copy(update.condition(), assignments(update.assignments(), declared, false), update.fromStar());
                }
                replaced.add(action);
            }
            return PythonUtils.toSeq(replaced);
        }

        private Seq assignments(Seq assignments, StructType declared, boolean isInsert) {
            List kept = new ArrayList();
            for (int i = 0; i < assignments.length(); i++) {
                Assignment each = (Assignment) assignments.apply(i);
                Seq key = each.key() instanceof UnresolvedAttribute ? ((UnresolvedAttribute) each.key()).nameParts() : null;
                StructField field = key == null || !isDefault(each.value()) ? null : field(declared, key.apply(key.length() - 1).toString());
                // An identity column that an UPDATE names is refused by Delta.
                boolean isLeft = field != null && (isInsert || !isIdentity(field)) && isComputed(field);
                if (field == null) kept.add(each);
                else if (!isLeft) kept.add(new Assignment(each.key(), value(field)));
            }
            return kept.isEmpty() ? assignments : PythonUtils.toSeq(kept);
        }

        private Expression value(StructField field) {
            String key = ResolveDefaultColumns.CURRENT_DEFAULT_COLUMN_METADATA_KEY();
            if (!field.metadata().contains(key)) return Literal$.MODULE$.apply(null);
            try {
                return session.sessionState().sqlParser().parseExpression(field.metadata().getString(key));
            } catch (ParseException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** The columns that the query has values for, in its order. */
    private static List columns(InsertIntoStatement insert, StructType declared) {
        List names = new ArrayList();
        Seq listed = insert.userSpecifiedCols();
        for (int k = 0; k < listed.length(); k++) names.add(listed.apply(k));
        if (!names.isEmpty()) return names;
        Set partitions = new HashSet();
        scala.collection.Iterator each = insert.partitionSpec().iterator();
        while (each.hasNext()) {
            scala.Tuple2 entry = (scala.Tuple2) each.next();
            if (((scala.Option) entry._2()).isDefined()) partitions.add(entry._1().toString().toLowerCase(java.util.Locale.ROOT));
        }
        for (StructField field : declared.fields()) {
            if (!partitions.contains(field.name().toLowerCase(java.util.Locale.ROOT))) names.add(field.name());
        }
        return names;
    }

    private static boolean isDefault(Object value) {
        if (!(value instanceof UnresolvedAttribute)) return false;
        Seq parts = ((UnresolvedAttribute) value).nameParts();
        return parts.length() == 1 && parts.apply(0).toString().equalsIgnoreCase("default");
    }

    private static boolean hasDefault(LogicalPlan query) {
        if (query instanceof UnresolvedInlineTable) {
            Seq rows = ((UnresolvedInlineTable) query).rows();
            for (int i = 0; i < rows.length(); i++) if (hasDefaultIn((Seq) rows.apply(i))) return true;
            return false;
        }
        if (query instanceof Project) return hasDefaultIn(((Project) query).projectList());
        if (!(query instanceof SubqueryAlias || query instanceof Union)) return false;
        for (int i = 0; i < query.children().length(); i++) if (hasDefault((LogicalPlan) query.children().apply(i))) return true;
        return false;
    }

    private static boolean hasDefaultIn(Seq values) {
        for (int i = 0; i < values.length(); i++) if (isDefault(values.apply(i))) return true;
        return false;
    }

    private static boolean hasDefaultValue(Seq assignments) {
        for (int i = 0; i < assignments.length(); i++) if (isDefault(((Assignment) assignments.apply(i)).value())) return true;
        return false;
    }

    private static boolean hasDefault(Seq actions) {
        for (int i = 0; i < actions.length(); i++) {
            MergeAction action = (MergeAction) actions.apply(i);
            if (action instanceof InsertAction && hasDefaultValue(((InsertAction) action).assignments())) return true;
            if (action instanceof UpdateAction && hasDefaultValue(((UpdateAction) action).assignments())) return true;
        }
        return false;
    }

    /** Whether NONE, SOME or ALL rows of the query have DEFAULT at a position of `width` columns. */
    private static int defaults(LogicalPlan query, int position, int width) {
        int found = -1;
        if (query instanceof UnresolvedInlineTable) {
            Seq rows = ((UnresolvedInlineTable) query).rows();
            for (int i = 0; i < rows.length(); i++) found = both(found, isDefault(value((Seq) rows.apply(i), position, width)) ? ALL : NONE);
        } else if (query instanceof Project) {
            found = isDefault(value(((Project) query).projectList(), position, width)) ? ALL : NONE;
        } else if (query instanceof SubqueryAlias || query instanceof Union) {
            for (int i = 0; i < query.children().length(); i++) found = both(found, defaults((LogicalPlan) query.children().apply(i), position, width));
        }
        return found < 0 ? NONE : found;
    }

    private static int both(int one, int other) {
        return one < 0 || one == other ? other : SOME;
    }

    /** The value at a position; null where a star comes between it and both ends. */
    private static Object value(Seq values, int position, int width) {
        int at = at(values, position, width);
        return at < 0 ? null : values.apply(at);
    }

    private static int at(Seq values, int position, int width) {
        int first = values.length();
        int last = -1;
        for (int i = 0; i < values.length(); i++) {
            if (!(values.apply(i) instanceof Star)) continue;
            first = Math.min(first, i);
            last = i;
        }
        if (last < 0) return values.length() == width ? position : -1;
        int fromEnd = values.length() - (width - position);
        return position < first ? position : fromEnd > last ? fromEnd : -1;
    }

    private static LogicalPlan without(LogicalPlan query, Set left, int width) {
        if (query instanceof UnresolvedInlineTable) {
            UnresolvedInlineTable table = (UnresolvedInlineTable) query;
            List rows = new ArrayList();
            for (int i = 0; i < table.rows().length(); i++) rows.add(kept((Seq) table.rows().apply(i), left, width));
            return table.copy(kept(table.names(), left, width), PythonUtils.toSeq(rows));
        }
        if (query instanceof Project) {
            Project project = (Project) query;
            return project.copy(kept(project.projectList(), left, width), project.child());
        }
        List children = new ArrayList();
        for (int i = 0; i < query.children().length(); i++) children.add(without((LogicalPlan) query.children().apply(i), left, width));
        return (LogicalPlan) query.withNewChildren(PythonUtils.toSeq(children));
    }

    private static Seq kept(Seq values, Set left, int width) {
        Set places = new HashSet();
        for (Object position : left) places.add(Integer.valueOf(at(values, ((Integer) position).intValue(), width)));
        List kept = new ArrayList();
        for (int i = 0; i < values.length(); i++) if (!places.contains(Integer.valueOf(i))) kept.add(values.apply(i));
        return PythonUtils.toSeq(kept);
    }

    private static StructField field(StructType declared, String name) {
        for (StructField field : declared.fields()) if (field.name().equalsIgnoreCase(name)) return field;
        return null;
    }

    private static boolean isIdentity(StructField field) {
        return field.metadata().contains("delta.identity.start");
    }

    private static boolean isComputed(StructField field) {
        return isIdentity(field) || field.metadata().contains("delta.generationExpression");
    }

    private static RuntimeException unsupported(String column, String what) {
        return PythonSqlBridge.error("UNSUPPORTED_SQL", "0A000", "DEFAULT for the column `" + column + "`, whose value is computed, is not supported"
            + " here where " + what + ". Write the rows with two INSERT statements, or leave out the column.");
    }
}

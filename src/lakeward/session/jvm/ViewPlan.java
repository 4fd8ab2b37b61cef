package lakeward;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Cast$;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GreaterThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.LessThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.Or;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.expressions.PythonFuncExpression;
import org.apache.spark.sql.catalyst.expressions.SpecifiedWindowFrame;
import org.apache.spark.sql.catalyst.expressions.UserDefinedExpression;
import org.apache.spark.sql.catalyst.expressions.WindowExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.Count;
import org.apache.spark.sql.catalyst.plans.LeftSemi$;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.BROADCAST$;
import org.apache.spark.sql.catalyst.plans.logical.Deduplicate;
import org.apache.spark.sql.catalyst.plans.logical.Expand;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.HintInfo;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.JoinHint;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.catalyst.plans.logical.Window;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.TimestampType;
import scala.Option;
import scala.Some;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;

/**
 * The analyzed plan of a query: its description for the incremental planner and for lineage, and the plans that
 * the planner builds from its operators. Every plan built here gives an operator the attributes of the child
 * that it replaces, so that the operator's expressions need no change.
 */
public class ViewPlan {

    /** The operators of a plan as JSON: what each computes, on which columns, and what is notable in it. */
    public static String describe(LogicalPlan plan) {
        return node(plan).toString();
    }

    private static ObjectNode node(LogicalPlan plan) {
        ObjectNode about = WarehouseLayout.JSON.createObjectNode();
        about.put("name", plan.nodeName());
        Option line = plan.origin().line();
        if (line.isDefined()) about.put("line", ((Integer) line.get()).intValue());
        ArrayNode output = about.putArray("output");
        Iterator attributes = plan.output().iterator();
        while (attributes.hasNext()) {
            Attribute each = (Attribute) attributes.next();
            ObjectNode column = output.addObject();
            column.put("id", each.exprId().id());
            column.put("name", each.name());
            column.put("type", type(each.dataType()));
        }
        ArrayNode references = about.putArray("references");
        Iterator used = plan.references().iterator();
        while (used.hasNext()) references.add(((Attribute) used.next()).exprId().id());
        ArrayNode literals = about.putArray("literals");
        ArrayNode functions = about.putArray("functions");
        ArrayNode flags = about.putArray("notable");
        Iterator expressions = plan.expressions().iterator();
        while (expressions.hasNext()) scan((Expression) expressions.next(), literals, functions, flags);
        if (plan instanceof LocalRelation) about.put("data", ((LocalRelation) plan).data().mkString("\n"));
        derivations(about, plan);
        if (plan instanceof Project) items(about, ((Project) plan).projectList(), null);
        if (plan instanceof Aggregate) {
            Aggregate aggregate = (Aggregate) plan;
            keys(about, aggregate.groupingExpressions());
            items(about, aggregate.aggregateExpressions(), aggregate.groupingExpressions());
        }
        if (plan instanceof Window) {
            keys(about, ((Window) plan).partitionSpec());
            items(about, ((Window) plan).windowExpressions(), null);
        }
        if (plan instanceof Deduplicate) keys(about, ((Deduplicate) plan).keys());
        if (plan instanceof Join) {
            about.put("join", ((Join) plan).joinType().sql());
            about.put("pairs", pairs((Join) plan, true).size());
        }
        ArrayNode children = about.putArray("children");
        Iterator each = plan.children().iterator();
        while (each.hasNext()) children.add(node((LogicalPlan) each.next()));
        return about;
    }

    /**
     * Where columns come from, for lineage: the name of a relation, the columns that each computed column refers
     * to, and the plans of subqueries.
     */
    private static void derivations(ObjectNode about, LogicalPlan plan) {
        if (plan instanceof SubqueryAlias) {
            ArrayNode alias = about.putArray("alias");
            Iterator parts = ((SubqueryAlias) plan).identifier().qualifier().iterator();
            while (parts.hasNext()) alias.add((String) parts.next());
            alias.add(((SubqueryAlias) plan).identifier().name());
        }
        ArrayNode subqueries = WarehouseLayout.JSON.createArrayNode();
        Iterator expressions = plan.expressions().iterator();
        while (expressions.hasNext()) subqueries((Expression) expressions.next(), subqueries);
        if (subqueries.size() > 0) about.set("subqueries", subqueries);
        Seq named = null;
        if (plan instanceof Project) named = ((Project) plan).projectList();
        if (plan instanceof Aggregate) named = ((Aggregate) plan).aggregateExpressions();
        if (plan instanceof Window) named = ((Window) plan).windowExpressions();
        ArrayNode derived = about.putArray("derived");
        for (int i = 0; named != null && i < named.length(); i++) {
            NamedExpression item = (NamedExpression) named.apply(i);
            if (item instanceof Alias) derived(derived, item.exprId().id(), seq(Collections.singletonList(item)));
        }
        for (int i = 0; plan instanceof Expand && i < plan.output().length(); i++) {
            List values = new ArrayList();
            Iterator rows = ((Expand) plan).projections().iterator();
            while (rows.hasNext()) values.add(((Seq) rows.next()).apply(i));
            derived(derived, ((Attribute) plan.output().apply(i)).exprId().id(), seq(values));
        }
    }

    private static void derived(ArrayNode derived, long id, Seq values) {
        ObjectNode entry = derived.addObject();
        entry.put("id", id);
        ArrayNode references = entry.putArray("references");
        ArrayNode subqueries = WarehouseLayout.JSON.createArrayNode();
        Iterator each = values.iterator();
        while (each.hasNext()) {
            Expression value = (Expression) each.next();
            Iterator used = value.references().iterator();
            while (used.hasNext()) references.add(((Attribute) used.next()).exprId().id());
            subqueries(value, subqueries);
        }
        if (subqueries.size() > 0) entry.set("subqueries", subqueries);
    }

    private static void subqueries(Expression expression, ArrayNode found) {
        if (expression instanceof PlanExpression && ((PlanExpression) expression).plan() instanceof LogicalPlan) {
            found.add(node((LogicalPlan) ((PlanExpression) expression).plan()));
        }
        Iterator children = expression.children().iterator();
        while (children.hasNext()) subqueries((Expression) children.next(), found);
    }

    /** A type as JSON; one with a collation, which Spark's JSON leaves out, is "string collate". */
    private static String type(DataType type) {
        return type.catalogString().contains(" collate ") ? "\"string collate\"" : type.json();
    }

    /** Collect literals, aggregate and window functions, and whatever may prevent an incremental refresh. */
    private static void scan(Expression expression, ArrayNode literals, ArrayNode functions, ArrayNode flags) {
        if (expression instanceof Literal) {
            Literal literal = (Literal) expression;
            literals.add(literal.dataType().catalogString() + ":" + literal.value());
        }
        if (expression instanceof PlanExpression) flag(flags, "subquery", expression);
        else if (expression instanceof PythonFuncExpression) flag(flags, "python", expression);
        else if (expression instanceof UserDefinedExpression && !(expression instanceof GeoCall)) flag(flags, "udf", expression);
        else flag(flags, "function", expression);
        if (expression instanceof AggregateExpression) {
            AggregateExpression aggregate = (AggregateExpression) expression;
            ObjectNode about = function(functions, aggregate.aggregateFunction());
            about.put("distinct", aggregate.isDistinct());
            about.put("filtered", aggregate.filter().isDefined());
        } else if (expression instanceof WindowExpression) {
            WindowExpression window = (WindowExpression) expression;
            Expression called = window.windowFunction();
            if (called instanceof AggregateExpression) called = ((AggregateExpression) called).aggregateFunction();
            ObjectNode about = function(functions, called);
            Object frame = window.windowSpec().frameSpecification();
            about.put("frame", frame instanceof SpecifiedWindowFrame ? ((SpecifiedWindowFrame) frame).sql() : "");
        }
        if (expression instanceof PlanExpression) {
            literals.add(((PlanExpression) expression).plan().toString());
        }
        Iterator children = expression.children().iterator();
        while (children.hasNext()) scan((Expression) children.next(), literals, functions, flags);
    }

    private static void flag(ArrayNode flags, String kind, Expression expression) {
        boolean own = expression.deterministic();
        // An expression is not deterministic because a child is not: name the child.
        Iterator children = expression.children().iterator();
        boolean inherited = false;
        while (children.hasNext()) inherited |= !((Expression) children.next()).deterministic();
        boolean notable = !kind.equals("function") || (!own && !inherited) || PER_RUN.contains(expression.getClass().getSimpleName());
        if (!notable) return;
        ObjectNode about = flags.addObject();
        about.put("kind", kind);
        about.put("class", expression.getClass().getSimpleName());
        about.put("name", expression.prettyName());
        about.put("deterministic", own);
        about.put("per_run", PER_RUN.contains(expression.getClass().getSimpleName()));
        Option line = expression.origin().line();
        if (line.isDefined()) about.put("line", ((Integer) line.get()).intValue());
    }

    /** Expressions whose value is fixed within a query and differs between queries. */
    private static final java.util.Set PER_RUN = new java.util.HashSet(java.util.Arrays.asList(new String[] {
        "CurrentDate", "CurrentTimestamp", "CurrentTimestampLike", "Now", "LocalTimestamp", "CurrentTime", "CurrentUser", "SessionUser",
        "InputFileName", "InputFileBlockStart", "InputFileBlockLength", "SparkVersion", "CurrentDatabase", "CurrentCatalog",
        "CurrentTimeZone", "UnixTimestamp0", "CurDateExpressionBuilder", "GetVariable", "VariableReference"}));

    private static ObjectNode function(ArrayNode functions, Expression called) {
        ObjectNode about = functions.addObject();
        about.put("class", called.getClass().getSimpleName());
        about.put("name", called.prettyName());
        ArrayNode types = about.putArray("types");
        Iterator arguments = called.children().iterator();
        while (arguments.hasNext()) types.add(type(((Expression) arguments.next()).dataType()));
        return about;
    }

    private static void keys(ObjectNode about, Seq expressions) {
        ArrayNode keys = about.putArray("keys");
        Iterator each = expressions.iterator();
        while (each.hasNext()) {
            Object key = each.next();
            ObjectNode entry = keys.addObject();
            entry.put("id", key instanceof Attribute ? ((Attribute) key).exprId().id() : -1L);
            entry.put("type", type(((Expression) key).dataType()));
        }
    }

    /** What each output column is: a plain attribute (`of`), a grouping key (`key`), or one aggregate. */
    private static void items(ObjectNode about, Seq named, Seq grouping) {
        ArrayNode items = about.putArray("items");
        Iterator each = named.iterator();
        while (each.hasNext()) {
            NamedExpression item = (NamedExpression) each.next();
            Expression value = item instanceof Alias ? ((Alias) item).child() : (Expression) item;
            ObjectNode entry = items.addObject();
            entry.put("id", item.exprId().id());
            entry.put("of", value instanceof Attribute ? ((Attribute) value).exprId().id() : -1L);
            entry.put("key", -1);
            for (int i = 0; grouping != null && i < grouping.length(); i++) {
                if (((Expression) grouping.apply(i)).semanticEquals(value)) entry.put("key", i);
            }
            if (value instanceof AggregateExpression) {
                AggregateExpression aggregate = (AggregateExpression) value;
                ArrayNode functions = WarehouseLayout.JSON.createArrayNode();
                ObjectNode called = function(functions, aggregate.aggregateFunction());
                called.put("distinct", aggregate.isDistinct());
                called.put("counts_rows", countsRows(aggregate));
                entry.set("aggregate", called);
            }
        }
    }

    /** Whether it is `count(*)`, or a count of values that are never NULL. */
    private static boolean countsRows(AggregateExpression aggregate) {
        boolean counts = aggregate.aggregateFunction() instanceof Count && !aggregate.isDistinct() && aggregate.filter().isEmpty();
        Iterator arguments = aggregate.aggregateFunction().children().iterator();
        while (arguments.hasNext()) counts &= !((Expression) arguments.next()).nullable();
        return counts;
    }

    /** The left or the right expressions of a join's equalities between its two sides. */
    public static List pairs(Join join, boolean left) {
        List found = new ArrayList();
        if (join.condition().isDefined()) pairs((Expression) join.condition().get(), join, left, found);
        return found;
    }

    private static void pairs(Expression condition, Join join, boolean left, List found) {
        if (condition instanceof And) {
            pairs(((And) condition).left(), join, left, found);
            pairs(((And) condition).right(), join, left, found);
        } else if (condition instanceof EqualTo || condition instanceof EqualNullSafe) {
            Expression one = (Expression) condition.children().apply(0);
            Expression other = (Expression) condition.children().apply(1);
            if (one.references().isEmpty() || other.references().isEmpty()) return;
            if (one.references().subsetOf(join.left().outputSet()) && other.references().subsetOf(join.right().outputSet())) {
                found.add(left ? one : other);
            } else if (one.references().subsetOf(join.right().outputSet()) && other.references().subsetOf(join.left().outputSet())) {
                found.add(left ? other : one);
            }
        }
    }

    public static Seq seq(List values) {
        return PythonUtils.toSeq(values);
    }

    /** An operator above other children with the same attributes. */
    public static LogicalPlan above(LogicalPlan operator, List children) {
        return (LogicalPlan) operator.withNewChildren(seq(children).toIndexedSeq());
    }

    /** The columns of `plan`, by position, under the attributes `target`. */
    public static LogicalPlan under(LogicalPlan plan, Seq target) {
        List columns = new ArrayList();
        for (int i = 0; i < target.length(); i++) {
            Attribute wanted = (Attribute) target.apply(i);
            columns.add(new Alias((Expression) plan.output().apply(i), wanted.name(), wanted.exprId(), wanted.qualifier(), new Some(wanted.metadata()), seq(new ArrayList())));
        }
        return new Project(seq(columns), plan);
    }

    /** The columns of `plan` that have the names of `target`, under its attributes; others are NULL. */
    public static LogicalPlan named(LogicalPlan plan, Seq target) {
        List columns = new ArrayList();
        for (int i = 0; i < target.length(); i++) {
            Attribute wanted = (Attribute) target.apply(i);
            Expression value = new Literal(null, wanted.dataType());
            for (int j = 0; j < plan.output().length(); j++) {
                Attribute found = (Attribute) plan.output().apply(j);
                if (found.name().equalsIgnoreCase(wanted.name())) value = found;
            }
            columns.add(new Alias(value, wanted.name(), wanted.exprId(), wanted.qualifier(), new Some(wanted.metadata()), seq(new ArrayList())));
        }
        return new Project(seq(columns), plan);
    }

    /** Expressions on `plan` as columns k0, k1, … with new attributes. */
    public static LogicalPlan columns(LogicalPlan plan, Seq expressions) {
        return new Project(seq(numbered(expressions)), plan);
    }

    /** The same, and the column `file`: the path of the file that each row was read from. */
    public static LogicalPlan columnsByFile(LogicalPlan plan, Seq expressions) {
        List columns = numbered(expressions);
        // The function itself is refused where the platform has removed it.
        columns.add(alias(new org.apache.spark.sql.catalyst.expressions.InputFileName(), "file"));
        return new Project(seq(columns), plan);
    }

    private static List numbered(Seq expressions) {
        List columns = new ArrayList();
        for (int i = 0; i < expressions.length(); i++) columns.add(alias((Expression) expressions.apply(i), "k" + i));
        return columns;
    }

    private static Alias alias(Expression value, String name) {
        ExprId id = NamedExpression.newExprId();
        return new Alias(value, name, id, seq(new ArrayList()), Option.empty(), seq(new ArrayList()));
    }

    /** The rows of all plans, under the attributes `target`. */
    public static LogicalPlan union(List plans, Seq target) {
        List fresh = new ArrayList();
        for (int i = 0; i < plans.size(); i++) {
            LogicalPlan plan = (LogicalPlan) plans.get(i);
            fresh.add(columns(plan, plan.output()));
        }
        LogicalPlan all = plans.size() == 1 ? (LogicalPlan) fresh.get(0) : new Union(seq(fresh), false, false);
        return under(all, target);
    }

    /** No rows with these attributes. */
    public static LogicalPlan empty(Seq target) {
        return new LocalRelation(target, seq(new ArrayList()), false, Option.empty());
    }

    /** The rows of `plan` whose `keys` are among the rows of `affected`; NULL equals NULL. */
    public static LogicalPlan restricted(LogicalPlan plan, Seq keys, LogicalPlan affected, boolean broadcast) {
        LogicalPlan found = columns(affected, affected.output());
        Expression condition = null;
        for (int i = 0; i < keys.length(); i++) {
            Expression key = (Expression) keys.apply(i);
            Expression equal = new EqualNullSafe(key, (Expression) found.output().apply(i));
            condition = condition == null ? equal : new And(condition, equal);
        }
        Option hint = broadcast ? (Option) new Some(new HintInfo(new Some(BROADCAST$.MODULE$))) : Option.empty();
        return new Join(plan, found, LeftSemi$.MODULE$, new Some(condition), new JoinHint(Option.empty(), hint));
    }

    /** The rows of `plan` with a key in an interval; the texts are casts of keys, or microseconds of timestamps. */
    public static LogicalPlan bounded(LogicalPlan plan, Expression key, List lows, List highs, boolean nulls) {
        Expression bounds = nulls ? new IsNull(key) : null;
        for (int i = 0; i < lows.size(); i++) {
            Expression least = new GreaterThanOrEqual(key, value((String) lows.get(i), key));
            Expression interval = new And(least, new LessThanOrEqual(key, value((String) highs.get(i), key)));
            bounds = bounds == null ? interval : new Or(bounds, interval);
        }
        return new Filter(bounds, plan);
    }

    private static Expression value(String text, Expression key) {
        if (key.dataType() instanceof TimestampType) return new Literal(Long.valueOf(text), key.dataType());
        Expression literal = Literal$.MODULE$.apply(text);
        if (key.dataType().equals(literal.dataType())) return literal;
        return Cast$.MODULE$.apply(literal, key.dataType(), Option.empty(), true);
    }

    public static Dataset frame(SparkSession session, LogicalPlan plan) {
        return Dataset$.MODULE$.ofRows(session, plan);
    }
}

package lakeward;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Ascending$;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Cast$;
import org.apache.spark.sql.catalyst.expressions.Coalesce;
import org.apache.spark.sql.catalyst.expressions.CreateNamedStruct;
import org.apache.spark.sql.catalyst.expressions.CurrentDate;
import org.apache.spark.sql.catalyst.expressions.CurrentTimestamp;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.LocalTimestamp;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.Not;
import org.apache.spark.sql.catalyst.expressions.Now;
import org.apache.spark.sql.catalyst.expressions.NullsFirst$;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.WindowExpression;
import org.apache.spark.sql.catalyst.expressions.WindowSpecDefinition;
import org.apache.spark.sql.catalyst.expressions.aggregate.Min;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Deduplicate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Window;
import org.apache.spark.sql.types.DateType$;
import org.apache.spark.sql.types.DoubleType$;
import org.apache.spark.sql.types.FloatType$;
import org.apache.spark.sql.types.StringType$;
import org.apache.spark.sql.types.TimestampNTZType$;
import org.apache.spark.sql.types.TimestampType$;
import scala.Option;
import scala.Some;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;

/**
 * Rewrites of the operators of a materialized view after which the same rows always give the same result:
 * operators that may choose among several rows choose the least one.
 */
public class PlanRewrites {

    /** DISTINCT of a DataFrame, dropDuplicates() of all columns, as the grouping that it is. */
    public static LogicalPlan distinctAsAggregates(LogicalPlan plan) {
        List children = new ArrayList();
        boolean changed = false;
        Iterator each = plan.children().iterator();
        while (each.hasNext()) {
            LogicalPlan child = (LogicalPlan) each.next();
            LogicalPlan rewritten = distinctAsAggregates(child);
            changed |= rewritten != child;
            children.add(rewritten);
        }
        LogicalPlan result = changed ? ViewPlan.above(plan, children) : plan;
        if (!(result instanceof Deduplicate)) return result;
        Deduplicate distinct = (Deduplicate) result;
        Iterator columns = distinct.output().iterator();
        while (columns.hasNext()) {
            if (!contains(distinct.keys(), (Attribute) columns.next())) return result;
        }
        return new Aggregate(distinct.keys(), distinct.output(), distinct.child(), Option.empty());
    }

    private static boolean contains(Seq attributes, Attribute wanted) {
        Iterator each = attributes.iterator();
        while (each.hasNext()) if (((Attribute) each.next()).exprId().equals(wanted.exprId())) return true;
        return false;
    }

    /** dropDuplicates of some columns above `child`: the least row of each key by the columns at `compared`. */
    public static LogicalPlan leastRows(Deduplicate operator, LogicalPlan child, List compared) {
        List fields = new ArrayList();
        List wanted = new ArrayList();
        for (int i = 0; i < compared.size(); i++) {
            Attribute column = (Attribute) child.output().apply(((Integer) compared.get(i)).intValue());
            wanted.add(column.exprId());
            add(fields, column);
        }
        for (int i = 0; i < compared.size(); i++) {
            Attribute column = (Attribute) child.output().apply(((Integer) compared.get(i)).intValue());
            if (isFloat(column)) add(fields, text(column));
        }
        if (fields.isEmpty()) add(fields, Literal$.MODULE$.apply(Integer.valueOf(0)));
        Expression least = new Min(new CreateNamedStruct(ViewPlan.seq(fields))).toAggregateExpression();
        List columns = new ArrayList();
        Iterator each = child.output().iterator();
        while (each.hasNext()) {
            Attribute column = (Attribute) each.next();
            Expression value = column;
            if (!contains(operator.keys(), column)) {
                int at = wanted.indexOf(column.exprId());
                value = at < 0 ? (Expression) new Literal(null, column.dataType()) : new GetStructField(least, at, Option.empty());
            }
            columns.add(alias(value, column.name()));
        }
        Aggregate groups = new Aggregate(operator.keys(), ViewPlan.seq(columns), child, Option.empty());
        return ViewPlan.under(groups, child.output());
    }

    private static void add(List fields, Expression value) {
        fields.add(Literal$.MODULE$.apply("f" + fields.size() / 2));
        fields.add(value);
    }

    private static boolean isFloat(Expression value) {
        return value.dataType().equals(DoubleType$.MODULE$) || value.dataType().equals(FloatType$.MODULE$);
    }

    /** The text of a float: -0.0 and 0.0 are equal in Spark's order, and differ in text. */
    private static Expression text(Expression value) {
        return Cast$.MODULE$.apply(value, StringType$.MODULE$, Option.empty(), false);
    }

    private static Alias alias(Expression value, String name) {
        ExprId id = NamedExpression.newExprId();
        return new Alias(value, name, id, ViewPlan.seq(new ArrayList()), Option.empty(), ViewPlan.seq(new ArrayList()));
    }

    /** A window whose rows are ordered by the child's columns at `ties`, too, after its own order. */
    public static LogicalPlan withTieBreaks(Window operator, List ties) {
        List order = new ArrayList();
        Iterator each = operator.orderSpec().iterator();
        while (each.hasNext()) order.add(each.next());
        for (int i = 0; i < ties.size(); i++) {
            Attribute column = (Attribute) operator.child().output().apply(((Integer) ties.get(i)).intValue());
            order.add(ascending(column));
            if (isFloat(column)) order.add(ascending(text(column)));
        }
        Seq whole = ViewPlan.seq(order);
        List functions = new ArrayList();
        each = operator.windowExpressions().iterator();
        while (each.hasNext()) functions.add(ordered((Expression) each.next(), whole));
        return operator.copy(ViewPlan.seq(functions), operator.partitionSpec(), whole, operator.child(), operator.hint());
    }

    private static SortOrder ascending(Expression value) {
        return new SortOrder(value, Ascending$.MODULE$, NullsFirst$.MODULE$, ViewPlan.seq(new ArrayList()));
    }

    /** The rows of `child` that pass a filter at a time, in microseconds since 1970. */
    public static LogicalPlan passing(Filter operator, LogicalPlan child, long micros) {
        return new Filter(at(operator.condition(), micros), child);
    }

    /** The rows of `child` that pass a filter at one time and do not pass it at another one. */
    public static LogicalPlan passingOnly(Filter operator, LogicalPlan child, long micros, long other) {
        List passed = new ArrayList();
        passed.add(at(operator.condition(), other));
        passed.add(Literal$.MODULE$.apply(Boolean.FALSE));
        return new Filter(new And(at(operator.condition(), micros), new Not(new Coalesce(ViewPlan.seq(passed)))), child);
    }

    /** Whether a filter has the same condition at both times. */
    public static boolean isSame(Filter operator, long micros, long other) {
        return at(operator.condition(), micros).semanticEquals(at(operator.condition(), other));
    }

    private static Expression at(Expression expression, long micros) {
        if (expression instanceof CurrentDate) {
            LocalDateTime local = local(((CurrentDate) expression).timeZoneId(), micros);
            return new Literal(Integer.valueOf((int) local.toLocalDate().toEpochDay()), DateType$.MODULE$);
        }
        if (expression instanceof LocalTimestamp) {
            Instant shown = local(((LocalTimestamp) expression).timeZoneId(), micros).toInstant(ZoneOffset.UTC);
            long value = shown.getEpochSecond() * 1000000L + shown.getNano() / 1000L;
            return new Literal(Long.valueOf(value), TimestampNTZType$.MODULE$);
        }
        if (expression instanceof CurrentTimestamp || expression instanceof Now) {
            return new Literal(Long.valueOf(micros), TimestampType$.MODULE$);
        }
        List children = new ArrayList();
        Iterator each = expression.children().iterator();
        while (each.hasNext()) children.add(at((Expression) each.next(), micros));
        return (Expression) expression.withNewChildren(ViewPlan.seq(children).toIndexedSeq());
    }

    private static LocalDateTime local(Option zone, long micros) {
        Instant instant = Instant.ofEpochSecond(Math.floorDiv(micros, 1000000L), Math.floorMod(micros, 1000000L) * 1000L);
        return LocalDateTime.ofInstant(instant, ZoneId.of((String) zone.get()));
    }

    private static Expression ordered(Expression expression, Seq order) {
        if (expression instanceof WindowExpression) {
            WindowExpression window = (WindowExpression) expression;
            WindowSpecDefinition spec = window.windowSpec();
            return window.copy(window.windowFunction(), spec.copy(spec.partitionSpec(), order, spec.frameSpecification()));
        }
        List children = new ArrayList();
        Iterator each = expression.children().iterator();
        while (each.hasNext()) children.add(ordered((Expression) each.next(), order));
        return (Expression) expression.withNewChildren(ViewPlan.seq(children).toIndexedSeq());
    }
}

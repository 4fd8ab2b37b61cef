package lakeward;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.BindReferences$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericRowWithSchema;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.Count;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator$;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.catalyst.expressions.codegen.VariableValue;
import org.apache.spark.sql.catalyst.expressions.package$AttributeSeq;
import org.apache.spark.sql.catalyst.plans.logical.CollectMetrics;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.CodegenSupport;
import org.apache.spark.sql.execution.CollectMetricsExec;
import org.apache.spark.sql.execution.PlanLater;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.util.AccumulatorV2;
import org.apache.spark.util.TaskCompletionListener;
import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Map$;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/**
 * `observe` with counts alone, such as those of expectations, as a part of the generated code of its stage. Spark's own
 * node ends the stage and evaluates each metric on a copy of each row.
 */
public class GeneratedCounts extends CollectMetricsExec implements CodegenSupport {

    /** Code of fewer characters needs no function; a function takes at most 255 words. */
    private static final int SHORT = 200;
    private static final int MOST_PARAMETERS = 100;

    private CodegenSupport parent;
    private transient Counts counts;

    public GeneratedCounts(String name, Seq metrics, SparkPlan child) {
        super(name, metrics, child);
    }

    /** The numbers of one plan. A task counts in an array of its own, which is added when the task has ended. */
    public static class Counts extends AccumulatorV2 {
        private long[] values;

        Counts(int size) {
            values = new long[size];
        }

        /** Called by generated code once per task. */
        public long[] begin() {
            final long[] started = new long[values.length];
            TaskContext.get().addTaskCompletionListener(new TaskCompletionListener() {
                public void onTaskCompletion(TaskContext task) {
                    add(started);
                }
            });
            return started;
        }

        public void add(Object other) {
            long[] added = (long[]) other;
            for (int i = 0; i < values.length; i++) values[i] += added[i];
        }

        public void merge(AccumulatorV2 other) {
            add(((Counts) other).values);
        }

        public boolean isZero() {
            for (int i = 0; i < values.length; i++) {
                if (values[i] != 0) return false;
            }
            return true;
        }

        public AccumulatorV2 copy() {
            Counts copied = new Counts(values.length);
            copied.add(values);
            return copied;
        }

        public void reset() {
            values = new long[values.length];
        }

        public Object value() {
            return values;
        }
    }

    private synchronized Counts counts() {
        if (counts == null) {
            counts = new Counts(metricExpressions().size());
            counts.register(sparkContext(), Option.apply(CollectMetricsExec.ACCUMULATOR_NAME()), false);
        }
        return counts;
    }

    public String nodeName() {
        return "CollectMetrics";
    }

    public CodegenSupport parent() {
        return parent;
    }

    public void parent_$eq(CodegenSupport node) {
        parent = node;
    }

    public Seq inputRDDs() {
        return ((CodegenSupport) child()).inputRDDs();
    }

    public String doProduce(CodegenContext context) {
        return ((CodegenSupport) child()).produce(context, this);
    }

    public String doConsume(CodegenContext context, Seq input, ExprCode row) {
        counts().reset();
        final String reference = context.addReferenceObj("counts", counts(), Counts.class.getName());
        String array = context.addMutableState("long[]", "counted", new AbstractFunction1() {
            public Object apply(Object variable) {
                return variable + " = " + reference + ".begin();";
            }
        }, true, true);
        context.currentVars_$eq(input);
        StringBuilder code = new StringBuilder();
        Iterator metrics = metricExpressions().iterator();
        for (int i = 0; metrics.hasNext(); i++) {
            Expression metric = computed((Expression) metrics.next());
            if (metric instanceof Literal) continue;
            Iterator counted = metric.children().iterator();
            List terms = new ArrayList();
            while (counted.hasNext()) terms.add(counted.next());
            code.append(counting(context, terms, array + "[" + i + "]++;"));
        }
        return code + consume(context, input, null);
    }

    /** Code that runs `statement` where no value of `terms` is NULL: a function of its own, which keeps the loop short. */
    private String counting(CodegenContext context, List terms, String statement) {
        StringBuilder code = new StringBuilder();
        StringBuilder ends = new StringBuilder();
        List parameters = new ArrayList();
        for (int i = 0; i < terms.size(); i++) {
            Expression bound = BindReferences$.MODULE$.bindReference((Expression) terms.get(i), new package$AttributeSeq(child().output()), false);
            Iterator locals = ((scala.collection.immutable.Set) CodeGenerator$.MODULE$.getLocalInputVariableValues(context, bound, Map$.MODULE$.empty())._1())
                .iterator();
            while (locals.hasNext()) {
                Object local = locals.next();
                if (!parameters.contains(local)) parameters.add(local);
            }
            ExprCode value = bound.genCode(context);
            code.append(value.code()).append("if (!").append(value.isNull()).append(") {\n");
            ends.append("}\n");
        }
        String body = code.append(statement).append("\n").append(ends).toString();
        if (code.length() < SHORT || parameters.size() > MOST_PARAMETERS) return body;
        StringBuilder declared = new StringBuilder();
        StringBuilder given = new StringBuilder();
        for (int i = 0; i < parameters.size(); i++) {
            VariableValue local = (VariableValue) parameters.get(i);
            if (i > 0) {
                declared.append(", ");
                given.append(", ");
            }
            declared.append(local.javaType().getCanonicalName()).append(" ").append(local.variableName());
            given.append(local.variableName());
        }
        String function = context.freshName("count");
        String text = "private void " + function + "(" + declared + ") throws java.io.IOException {\n" + body + "}\n";
        return context.addNewFunction(function, text, false) + "(" + given + ");\n";
    }

    /** The counts of generated code, and what Spark's own code has: constants, and the counts where no code was generated. */
    public Row collectedMetrics() {
        Row other = super.collectedMetrics();
        long[] values = (long[]) counts().value();
        Object[] sums = new Object[values.length];
        for (int i = 0; i < values.length; i++) sums[i] = Long.valueOf(values[i] + other.getLong(i));
        return new GenericRowWithSchema(sums, metricsSchema());
    }

    public void resetMetrics() {
        counts().reset();
        super.resetMetrics();
    }

    public CollectMetricsExec withNewChildInternal(SparkPlan child) {
        return new GeneratedCounts(name(), metricExpressions(), child);
    }

    /** What a metric computes: a count, or the constant that Spark takes for a count of NULL. */
    private static Expression computed(Expression metric) {
        Expression value = metric instanceof Alias ? ((Alias) metric).child() : metric;
        return value instanceof AggregateExpression ? ((AggregateExpression) value).aggregateFunction() : value;
    }

    /** Plans this node for metrics that are counts, in every session. */
    public static class Strategy extends SessionStrategy {
        SparkPlan planned(LogicalPlan plan) {
            if (!(plan instanceof CollectMetrics)) return null;
            CollectMetrics collect = (CollectMetrics) plan;
            Iterator metrics = collect.metrics().iterator();
            while (metrics.hasNext()) {
                Expression metric = computed((Expression) metrics.next());
                if (!(metric instanceof Count) && !(metric instanceof Literal && metric.dataType() instanceof LongType)) return null;
            }
            return new GeneratedCounts(collect.name(), collect.metrics(), new PlanLater(collect.child()));
        }
    }
}

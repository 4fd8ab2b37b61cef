package lakeward;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.AggregatingAccumulator;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.storage.RDDInfo;
import scala.Option;
import scala.collection.immutable.Seq;

/**
 * Rows that are computed once. A few of them become a part of the plans that read them: the optimizer knows their
 * number, applies projections and filters to them, and leaves out what an empty input makes empty; their aggregates
 * need no Spark job.
 */
public final class ComputedRows {

    private ComputedRows() {}

    /** Compute the rows now. Up to `largest` bytes are in the plan of the result; more are kept by Spark. */
    public static Dataset compute(Dataset rows, long largest) {
        LocalRelation known = local(rows);
        if (known != null) return relation(rows, known.data());
        Dataset kept = (Dataset) rows.localCheckpoint(true);
        RDD stored = ((LogicalRDD) kept.logicalPlan()).rdd();
        if (bytes(stored) > largest) return kept;
        Object[] found = (Object[]) stored.collect();
        stored.unpersist(false);
        List copied = new ArrayList();
        for (int i = 0; i < found.length; i++) copied.add(found[i]);
        return relation(rows, PythonUtils.toSeq(copied));
    }

    /** The rows if they are a part of the plan, else null. */
    private static LocalRelation local(Dataset rows) {
        LogicalPlan plan = rows.queryExecution().optimizedPlan();
        return plan instanceof LocalRelation && !plan.isStreaming() ? (LocalRelation) plan : null;
    }

    private static Dataset relation(Dataset rows, Seq data) {
        Seq output = rows.queryExecution().analyzed().output();
        LogicalPlan plan = new LocalRelation(output, data, false, Option.empty());
        return Dataset$.MODULE$.ofRows((SparkSession) rows.sparkSession(), plan);
    }

    /** The bytes that Spark stores of an RDD; more than any limit if it stores none. */
    public static long bytes(RDD rows) {
        RDDInfo[] stored = rows.sparkContext().getRDDStorageInfo();
        for (int i = 0; i < stored.length; i++) {
            if (stored[i].id() == rows.id()) return stored[i].memSize() + stored[i].diskSize();
        }
        return Long.MAX_VALUE;
    }

    /** The number of rows that are a part of the plan, -1 if Spark has to count them. */
    public static long count(Dataset rows) {
        LocalRelation known = local(rows);
        return known == null ? -1 : known.data().length();
    }

    /** The one row of an aggregate without GROUP BY as a part of a plan; the same rows if a Spark job computes it. */
    public static Dataset aggregate(Dataset rows) {
        LogicalPlan plan = rows.queryExecution().optimizedPlan();
        if (!(plan instanceof Aggregate)) return rows;
        Aggregate aggregate = (Aggregate) plan;
        if (!aggregate.groupingExpressions().isEmpty() || !(aggregate.child() instanceof LocalRelation)) return rows;
        LocalRelation input = (LocalRelation) aggregate.child();
        AggregatingAccumulator found = AggregatingAccumulator.apply(aggregate.aggregateExpressions(), input.output());
        for (int i = 0; i < input.data().length(); i++) found.add((InternalRow) input.data().apply(i));
        List row = new ArrayList();
        row.add(found.value());
        return relation(rows, PythonUtils.toSeq(row));
    }

    /**
     * Each row as many times as its column at `place` says, if the rows are a part of the plan and are `most` in the
     * result, else null.
     */
    public static Dataset repeat(Dataset rows, int place, long most) {
        LocalRelation known = local(rows);
        if (known == null) return null;
        List repeated = new ArrayList();
        for (int i = 0; i < known.data().length(); i++) {
            InternalRow row = (InternalRow) known.data().apply(i);
            long copies = row.getLong(place);
            if (repeated.size() + copies > most) return null;
            for (long copy = 0; copy < copies; copy++) repeated.add(row);
        }
        return relation(rows, PythonUtils.toSeq(repeated));
    }
}

package lakeward;

import java.lang.reflect.Field;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.classic.ObservationManager;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.QueryExecution;

/**
 * Observations of rows that create or replace a Delta table. Spark completes an observation with the first
 * execution whose plan has it. For CREATE TABLE AS SELECT that is one without metrics, so that the observation
 * has no values: Delta writes the files in an execution of its own, which follows.
 */
public class ObservedWrites extends ObservationManager {

    public ObservedWrites(SparkSession session) {
        super(session);
    }

    /** Give the session this class in place of Spark's own. Call it before the session's first observation. */
    public static synchronized void watch(SparkSession session) {
        if (session.observationManager() instanceof ObservedWrites) return;
        try {
            Field field = SparkSession.class.getDeclaredField("observationManager");
            field.setAccessible(true);
            field.set(session, new ObservedWrites(session));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("This Spark keeps its observations elsewhere than 4.2 does", e);
        }
    }

    public void tryComplete(QueryExecution execution) {
        if (execution.logical() instanceof V2WriteCommand && execution.observedMetrics().isEmpty()) return;
        super.tryComplete(execution);
    }
}

package lakeward;

import java.io.IOException;
import java.lang.ref.SoftReference;
import java.util.Map;
import java.util.WeakHashMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.datasources.InsertIntoHadoopFsRelationCommand;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.scheduler.SparkListenerEvent;

/**
 * The number of rows that the last DML statement of a session has affected, for GET DIAGNOSTICS … = ROW_COUNT
 * (sql/constructs/scripting.py). The listener of ScriptErrors gives the statements in the order of their ends.
 */
public class RowCounts {

    /** The column of the results of DML statements. */
    private static final String COLUMN = "num_affected_rows";

    /** The number, or a reference to a command whose rows are not counted yet, by session: its plan holds the session. */
    private static final Map LAST = new WeakHashMap();

    /** The result of a statement that this process runs instead of Spark. */
    public static class Counted implements SparkListenerEvent {
        private final SparkSession session;
        private final Object rows;

        private Counted(SparkSession session, Object rows) {
            this.session = session;
            this.rows = rows;
        }

        void store() {
            RowCounts.store(session, rows);
        }

        public boolean logEvent() {
            return false;
        }
    }

    private static void store(SparkSession session, Object value) {
        synchronized (LAST) {
            LAST.put(session, value);
        }
    }

    /** Called with the result of a statement that Python runs; statements that affect no rows have another one. */
    static void returned(SparkSession session, StructType schema, InternalRow[] rows) {
        int column = schema.getFieldIndex(COLUMN).isEmpty() ? -1 : ((Integer) schema.getFieldIndex(COLUMN).get()).intValue();
        if (column < 0 || rows.length != 1 || rows[0].isNullAt(column)) return;
        session.sparkContext().listenerBus().post(new Counted(session, Long.valueOf(rows[0].getLong(column))));
    }

    /** Called for each statement that has succeeded. */
    static void ended(QueryExecution execution) {
        LogicalPlan plan = execution.analyzed();
        if (plan instanceof V2WriteCommand) {
            store((SparkSession) execution.sparkSession(), new SoftReference(plan));
        } else if (plan instanceof InsertIntoHadoopFsRelationCommand) {
            // The platform returns the numbers of Delta tables alone.
            store((SparkSession) execution.sparkSession(), null);
        } else if (plan instanceof Command && plan.schema().getFieldIndex(COLUMN).isDefined()) {
            // The rows of a command are computed once.
            InternalRow[] rows = execution.executedPlan().executeCollect();
            int column = ((Integer) plan.schema().getFieldIndex(COLUMN).get()).intValue();
            if (rows.length == 1) store((SparkSession) execution.sparkSession(), Long.valueOf(rows[0].getLong(column)));
        }
    }

    /** The rows of the last DML statement of a session; null without one, and where they are not known. */
    static Long last(SparkSession session) throws IOException {
        Object last;
        synchronized (LAST) {
            last = LAST.get(session);
        }
        if (!(last instanceof SoftReference)) return (Long) last;
        LogicalPlan inserted = (LogicalPlan) ((SoftReference) last).get();
        return inserted == null ? null : InsertedRows.count(inserted);
    }
}

package lakeward;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.CatalogManager;
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution;
import org.apache.spark.sql.streaming.StreamingQueryListener;
import scala.runtime.AbstractFunction1;

/**
 * Functions of foreachBatch have the current catalog and schema of the session that starts the stream. Spark
 * clones the session for a stream, and copies the current schema where the catalog is spark_catalog alone.
 */
public class StreamSessions extends StreamingQueryListener {

    /** Spark calls it before start() returns, and before the first batch. */
    public void onQueryStarted(StreamingQueryListener.QueryStartedEvent event) {
        SparkSession any = (SparkSession) SparkSession.getActiveSession().getOrElse(null);
        if (any == null) return;
        StreamExecution started = (StreamExecution) any.sharedState().activeStreamingQueries().get(event.id());
        if (started != null) copyCurrentSchema((SparkSession) started.sparkSession(), started.sparkSessionForStream());
    }

    public void onQueryProgress(StreamingQueryListener.QueryProgressEvent event) {
    }

    public void onQueryTerminated(StreamingQueryListener.QueryTerminatedEvent event) {
    }

    /** Clone a session, with its current catalog and schema. */
    public static SparkSession cloneSession(SparkSession session) {
        SparkSession clone = session.cloneSession();
        copyCurrentSchema(session, clone);
        return clone;
    }

    /** True for a plan with transformWithState, of any form. */
    public static boolean hasStatefulProcessor(LogicalPlan plan) {
        return plan.exists(new Processor());
    }

    public static class Processor extends AbstractFunction1 {
        public Object apply(Object node) {
            return Boolean.valueOf(node.getClass().getSimpleName().startsWith("TransformWithState"));
        }
    }

    private static void copyCurrentSchema(SparkSession from, SparkSession to) {
        SparkSession before = (SparkSession) SparkSession.getActiveSession().getOrElse(null);
        // A catalog belongs to the session that is active when it is loaded.
        SparkSession.setActiveSession(to);
        try {
            SparkCatalog.admit(to);
            CatalogManager current = from.sessionState().catalogManager();
            CatalogManager copied = to.sessionState().catalogManager();
            copied.setCurrentCatalog(current.currentCatalog().name());
            copied.setCurrentNamespace(current.currentNamespace());
        } finally {
            if (before == null) SparkSession.clearActiveSession();
            else SparkSession.setActiveSession(before);
        }
    }
}

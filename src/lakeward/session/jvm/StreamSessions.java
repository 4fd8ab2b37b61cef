package lakeward;

import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.CatalogManager;
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution;
import org.apache.spark.sql.streaming.StreamingQueryListener;
import scala.runtime.AbstractFunction1;

/**
 * What the session of a stream has, which Spark clones from the session that starts it:
 *
 * - The current catalog and schema, for functions of foreachBatch: Spark copies the schema where the catalog is
 *   spark_catalog alone.
 * - RocksDB as state store of transformWithState, which needs it; Spark's default is another. A setting of the
 *   user's own wins, and the name of Databricks becomes the only one that Spark takes there.
 */
public class StreamSessions extends StreamingQueryListener {

    private static final String STATE_STORE = "spark.sql.streaming.stateStore.providerClass";
    private static final String ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider";

    private static final String DATABRICKS_ROCKSDB = com.databricks.sql.streaming.state.RocksDBStateStoreProvider.class.getName();

    /** Spark calls it before start() returns, and before the first batch. */
    public void onQueryStarted(StreamingQueryListener.QueryStartedEvent event) {
        SparkSession any = (SparkSession) SparkSession.getActiveSession().getOrElse(null);
        if (any == null) return;
        StreamExecution started = (StreamExecution) any.sharedState().activeStreamingQueries().get(event.id());
        if (started == null) return;
        SparkSession clone = started.sparkSessionForStream();
        copyCurrentSchema((SparkSession) started.sparkSession(), clone);
        boolean isOpen = !clone.sessionState().conf().contains(STATE_STORE) || clone.conf().get(STATE_STORE).equals(DATABRICKS_ROCKSDB);
        if (isOpen && started.analyzedPlan().exists(new Processor())) clone.conf().set(STATE_STORE, ROCKSDB);
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

    /** True for transformWithState, in any form. */
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

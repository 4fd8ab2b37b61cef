package lakeward;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.SparkExecutorInfo;
import org.apache.spark.api.python.PythonWorkerFactory;
import org.apache.spark.sql.internal.SharedState;
import org.apache.spark.sql.streaming.StreamingQuery;

/** Jobs, queries and Python workers that a terminated client process left running. */
public class OrphanedJobs {

    private static final long PAUSE_MILLIS = 20;

    /**
     * Cancel them. Python workers are stopped too: they cache imported modules, which users edit between commands.
     *
     * A call continues after its caller has ended: a query in planning starts its job later, and a task may
     * request a new worker. This method therefore returns only after two checks in a row found nothing.
     */
    public static void end(SparkContext context, SharedState shared) throws Exception {
        int quiet = 0;
        while (true) {
            context.cancelAllJobs();
            if (shared != null) stopStreams(shared);
            stopPythonWorkers();
            quiet = isCalled() || hasTasks(context) ? 0 : quiet + 1;
            if (quiet == 2) return;
            Thread.sleep(PAUSE_MILLIS);
        }
    }

    /** Whether Java executes a call from Python, other than the call of the next client of this JVM. */
    private static boolean isCalled() {
        Iterator stacks = Thread.getAllStackTraces().values().iterator();
        while (stacks.hasNext()) {
            StackTraceElement[] stack = (StackTraceElement[]) stacks.next();
            boolean called = false;
            boolean next = false;
            for (int i = 0; i < stack.length; i++) {
                String name = stack[i].getClassName();
                if (name.startsWith("py4j.commands.")) called = true;
                if (name.equals("lakeward.Daemon") && stack[i].getMethodName().equals("begin")) next = true;
            }
            if (called && !next) return true;
        }
        return false;
    }

    private static boolean hasTasks(SparkContext context) {
        SparkExecutorInfo[] executors = context.statusTracker().getExecutorInfos();
        for (int i = 0; i < executors.length; i++) {
            if (executors[i].numRunningTasks() > 0) return true;
        }
        return false;
    }

    private static void stopStreams(SharedState shared) throws Exception {
        List queries = new ArrayList(shared.activeStreamingQueries().values());
        for (int i = 0; i < queries.size(); i++) ((StreamingQuery) queries.get(i)).stop();
    }

    private static void stopPythonWorkers() throws Exception {
        SparkEnv env = SparkEnv.get();
        Field field = SparkEnv.class.getDeclaredField("pythonWorkers");
        field.setAccessible(true);
        synchronized (env) {
            scala.collection.mutable.HashMap workers = (scala.collection.mutable.HashMap) field.get(env);
            scala.collection.Iterator each = workers.valuesIterator();
            while (each.hasNext()) ((PythonWorkerFactory) each.next()).stop();
            workers.clear();
        }
    }
}

package lakeward;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.QueryContext;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkThrowable;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.trees.SQLQueryContext;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * What GET DIAGNOSTICS and RESIGNAL need of statements (sql/constructs/scripting.py): the errors that handlers
 * handle, and the rows of the last DML statement.
 *
 * Spark passes an error to no handler. This listener keeps how the last statement of each session ended; a
 * handler asks for it first of all. It has a queue of its own, so that no listener of the user delays it.
 */
public class ScriptErrors extends SparkListener {

    /** The number of the error that the handler handles. */
    public static final String HANDLED = "lakeward_handled";
    /** A part of the error with this number. */
    public static final String DIAGNOSTIC = "lakeward_diagnostic";
    /** Raises the error with this number again. */
    public static final String RESIGNAL = "lakeward_resignal";

    /** The rows of the last DML statement. */
    public static final String ROW_COUNT = "lakeward_row_count";

    private static final int KEPT = 1000;
    private static final long PATIENCE_SECONDS = 60;
    /** Condition, text and SQLSTATE; lines about the place in the statement follow. */
    private static final Pattern MESSAGE = Pattern.compile("^\\s*(?:\\[\\S+\\] )?(.*?)(?: SQLSTATE: \\w{5}.*)?$", Pattern.DOTALL);

    private static final Map ERRORS = new LinkedHashMap();
    private static long last = 0;

    private final Map ends = new WeakHashMap();
    /** Numbers of failed statements. */
    private final Map failures = new WeakHashMap();

    /** Listens to the statements of a context. Called for each session: a daemon removes listeners after a client. */
    static synchronized void listen(SparkContext context) {
        if (of(context) == null) context.listenerBus().addToQueue(new ScriptErrors(), "lakeward");
    }

    private static ScriptErrors of(SparkContext context) {
        Object[] listeners = context.listenerBus().listeners().toArray();
        for (int i = 0; i < listeners.length; i++) {
            if (listeners[i] instanceof ScriptErrors) return (ScriptErrors) listeners[i];
        }
        return null;
    }

    /** Marks a place in the queue of events. */
    public static class Marker implements SparkListenerEvent {
        final CountDownLatch reached = new CountDownLatch(1);

        public boolean logEvent() {
            return false;
        }
    }

    public void onOtherEvent(SparkListenerEvent event) {
        if (event instanceof Marker) {
            ((Marker) event).reached.countDown();
        } else if (event instanceof RowCounts.Counted) {
            ((RowCounts.Counted) event).store();
        } else if (event instanceof SparkListenerSQLExecutionEnd) {
            SparkListenerSQLExecutionEnd end = (SparkListenerSQLExecutionEnd) event;
            if (end.qe() == null) return;
            Object failure = end.executionFailure() == null || end.executionFailure().isEmpty() ? null : end.executionFailure().get();
            if (failure == null) RowCounts.ended(end.qe());
            synchronized (ends) {
                ends.put(end.qe().sparkSession(), failure);
                if (failure != null) failures.put(end.qe().sparkSession(), Long.valueOf(failures(end.qe().sparkSession()) + 1));
            }
        }
    }

    /** Called at the beginning of a handler. */
    public static long handled() throws InterruptedException {
        SparkSession session = (SparkSession) org.apache.spark.sql.SparkSession.active();
        ScriptErrors listener = of(session.sparkContext());
        Object failure = listener == null ? null : listener.take(session);
        synchronized (ERRORS) {
            last++;
            ERRORS.put(Long.valueOf(last), failure);
            Iterator oldest = ERRORS.keySet().iterator();
            while (ERRORS.size() > KEPT) {
                oldest.next();
                oldest.remove();
            }
            return last;
        }
    }

    /** How the last statement of the session ended; null if it succeeded, or if that is not known in time. */
    private Object take(SparkSession session) throws InterruptedException {
        boolean reached = catchUp(session.sparkContext());
        synchronized (ends) {
            Object ended = ends.remove(session);
            return reached ? ended : null;
        }
    }

    /** The number of statements of the session that have failed, all that have ended included. */
    static long failed(SparkSession session) {
        ScriptErrors listener = of(session.sparkContext());
        if (listener == null) return 0;
        try {
            catchUp(session.sparkContext());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        synchronized (listener.ends) {
            return listener.failures(session);
        }
    }

    private long failures(Object session) {
        Object number = failures.get(session);
        return number == null ? 0 : ((Long) number).longValue();
    }

    /** Waits until the listener has seen all statements that ended before; false if that takes too long. */
    private static boolean catchUp(SparkContext context) throws InterruptedException {
        if (of(context) == null) return false;
        Marker marker = new Marker();
        context.listenerBus().post(marker);
        return marker.reached.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    /** The rows that the last DML statement of the session has affected; null where they are not known. */
    public static Long rowCount() throws InterruptedException, IOException {
        SparkSession session = (SparkSession) org.apache.spark.sql.SparkSession.active();
        return catchUp(session.sparkContext()) ? RowCounts.last(session) : null;
    }

    private static Throwable error(long number) {
        Object found;
        synchronized (ERRORS) {
            found = ERRORS.get(Long.valueOf(number));
        }
        // Of several causes the first one with a condition is what handlers are chosen by.
        for (Throwable each = (Throwable) found; each != null; each = each.getCause()) {
            if (each instanceof SparkThrowable && ((SparkThrowable) each).getCondition() != null) return each;
        }
        throw new Signal("UNSUPPORTED_SQL", "0A000", "The condition that this handler handles is not known here: the script itself raised it, "
            + "and none of its statements. Handle the condition by its name, without GET DIAGNOSTICS and RESIGNAL.");
    }

    /** Called for a part that GET DIAGNOSTICS asks for; arguments are a JSON object. */
    public static UTF8String diagnostic(long number, UTF8String item) {
        Throwable error = error(number);
        return UTF8String.fromString(part(error, (SparkThrowable) error, item.toString()));
    }

    private static String part(Throwable error, SparkThrowable condition, String item) {
        if (item.equals("CONDITION_IDENTIFIER")) return condition.getCondition();
        if (item.equals("RETURNED_SQLSTATE")) return condition.getSqlState();
        if (item.equals("LINE_NUMBER")) return line(condition);
        if (item.equals("MESSAGE_ARGUMENTS")) return arguments(condition);
        Matcher message = MESSAGE.matcher(String.valueOf(error.getMessage()));
        return message.matches() ? message.group(1) : error.getMessage();
    }

    private static String arguments(SparkThrowable condition) {
        ObjectNode values = WarehouseLayout.JSON.createObjectNode();
        Iterator entries = condition.getMessageParameters().entrySet().iterator();
        while (entries.hasNext()) {
            Map.Entry entry = (Map.Entry) entries.next();
            values.put((String) entry.getKey(), (String) entry.getValue());
        }
        return values.toString();
    }

    /** The line in the script; null for errors of a statement that is executed by a text of its own. */
    private static String line(SparkThrowable condition) {
        QueryContext[] contexts = condition.getQueryContext();
        if (contexts.length == 0 || !(contexts[0] instanceof SQLQueryContext)) return null;
        SQLQueryContext context = (SQLQueryContext) contexts[0];
        boolean isScript = context.sqlText().isDefined() && ((String) context.sqlText().get()).contains(HANDLED);
        return isScript && context.line().isDefined() ? String.valueOf(context.line().get()) : null;
    }

    /** Called for the SELECT that RESIGNAL becomes. */
    public static UTF8String resignal(long number) throws Throwable {
        throw error(number);
    }

    static void register(SparkSessionExtensions all) {
        all.injectFunction(SqlFunctions.described(ROW_COUNT,
            new SqlFunctions.StaticMethod(ScriptErrors.class, "rowCount", DataTypes.LongType, new DataType[0])));
        Class here = ScriptErrors.class;
        all.injectFunction(SqlFunctions.described(HANDLED, new SqlFunctions.StaticMethod(here, "handled", DataTypes.LongType, new DataType[0])));
        all.injectFunction(SqlFunctions.described(DIAGNOSTIC,
            new SqlFunctions.StaticMethod(here, "diagnostic", DataTypes.StringType, new DataType[] {DataTypes.LongType, DataTypes.StringType})));
        all.injectFunction(SqlFunctions.described(RESIGNAL,
            new SqlFunctions.StaticMethod(here, "resignal", DataTypes.StringType, new DataType[] {DataTypes.LongType})));
    }
}

package lakeward;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.FileOutputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TimeZone;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.scheduler.SparkListenerInterface;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.internal.SharedState;
import scala.Tuple2;

/**
 * A JVM that outlives the command that started it. One client process at a time holds it. When the client
 * has ended, its state is removed, and the next one gets the JVM as if newly started. The JVM exits after an
 * idle time, when its record is deleted, and when its state cannot be reset.
 */
public class Daemon implements Runnable {

    private static final int LEASES = 200;
    private static final long CLEARING_MILLIS = 15000;
    private static Daemon only;

    private final ReentrantLock lock = new ReentrantLock();
    private final File record;
    private final long patience;
    private final FileOutputStream input;
    private final String pid = "\"pid\": " + ProcessHandle.current().pid() + ",";
    private final Properties properties = (Properties) System.getProperties().clone();
    private final TimeZone zone = TimeZone.getDefault();
    private final Locale locale = Locale.getDefault();

    private volatile boolean ending;
    private volatile ProcessHandle holder;
    private long freeSince = System.currentTimeMillis();
    private int leases;
    private py4j.GatewayServer server;

    private SparkContext context;
    private List listeners = new ArrayList();
    private Map sparks = new HashMap();
    private Configuration hadoop;
    private int artifacts;

    private Daemon(String record, String input, long patience) throws java.io.IOException {
        this.record = new File(record);
        this.patience = patience;
        // Spark's gateway exits at the end of its input: from here on this process keeps the input open.
        this.input = new FileOutputStream(input);
    }

    /** Called by the process that started this JVM; until `begin`, the JVM ends with that process. */
    public static synchronized void start(String record, String input, long idleMillis) throws java.io.IOException {
        if (only != null) return;
        only = new Daemon(record, input, idleMillis);
        Thread thread = new Thread(only, "lakeward-daemon");
        thread.setDaemon(true);
        thread.start();
    }

    /** Lease this JVM to the process `pid`; returns "" or the reason of a refusal. */
    public static String begin(long pid, py4j.GatewayServer server, String logLevel) throws InterruptedException {
        if (only == null) return "it is not a daemon";
        if (!only.lock.tryLock(5, TimeUnit.SECONDS)) return "it is busy";
        try {
            return only.take(pid, server, logLevel);
        } finally {
            only.lock.unlock();
        }
    }

    /** The process that has the lease; 0 without one. */
    public static long holderId() {
        ProcessHandle now = only == null ? null : only.holder;
        return now != null && now.isAlive() ? now.pid() : 0;
    }

    private String take(long pid, py4j.GatewayServer server, String logLevel) {
        if (holder != null && holder.isAlive()) return "process " + holder.pid() + " has it";
        if (holder != null) release();
        if (ending) return "it is ending";
        Optional found = ProcessHandle.of(pid);
        if (!found.isPresent()) return "it sees no process " + pid;
        holder = (ProcessHandle) found.get();
        this.server = server;
        leases++;
        setLogLevel(logLevel);
        return "";
    }

    private static void setLogLevel(String level) {
        org.apache.logging.log4j.core.config.Configurator.setRootLevel(
            org.apache.logging.log4j.Level.toLevel(level, org.apache.logging.log4j.Level.OFF));
    }

    // ---- the context, which is kept

    /** The kept context with the settings `json` of the new client; null without a kept context. */
    public static JavaSparkContext settled(String json) throws java.io.IOException {
        SparkContext now = only == null ? null : only.context;
        if (now == null || now.isStopped()) return null;
        only.settle((ObjectNode) WarehouseLayout.JSON.readTree(json));
        return JavaSparkContext.fromSparkContext(now);
    }

    /** Record the state of a new context, created with the settings `json`, to be able to reset it. */
    public static void learn(SparkContext made, String json) throws java.io.IOException {
        if (only == null) return;
        ObjectNode wanted = (ObjectNode) WarehouseLayout.JSON.readTree(json);
        only.context = made;
        only.artifacts = only.countArtifacts();
        only.listeners = new ArrayList(made.listenerBus().listeners());
        only.sparks = new HashMap();
        Tuple2[] all = made.conf().getAll();
        for (int i = 0; i < all.length; i++) {
            if (!wanted.has((String) all[i]._1())) only.sparks.put(all[i]._1(), all[i]._2());
        }
        only.hadoop = new Configuration(made.hadoopConfiguration());
        Iterator names = wanted.fieldNames();
        while (names.hasNext()) {
            String name = (String) names.next();
            if (name.startsWith("spark.hadoop.")) only.hadoop.unset(name.substring(13));
        }
    }

    private void settle(ObjectNode wanted) {
        SparkConf conf = context.conf();
        Tuple2[] all = conf.getAll();
        for (int i = 0; i < all.length; i++) {
            String name = (String) all[i]._1();
            if (!wanted.has(name) && !sparks.containsKey(name)) conf.remove(name);
        }
        Iterator own = sparks.entrySet().iterator();
        while (own.hasNext()) {
            Map.Entry entry = (Map.Entry) own.next();
            conf.set((String) entry.getKey(), (String) entry.getValue());
        }
        Configuration now = context.hadoopConfiguration();
        now.clear();
        Iterator base = hadoop.iterator();
        while (base.hasNext()) {
            Map.Entry entry = (Map.Entry) base.next();
            now.set((String) entry.getKey(), (String) entry.getValue());
        }
        Iterator names = wanted.fieldNames();
        while (names.hasNext()) {
            String name = (String) names.next();
            String value = wanted.get(name).asText();
            conf.set(name, value);
            if (name.startsWith("spark.hadoop.")) now.set(name.substring(13), value);
        }
    }

    private int countArtifacts() {
        return context.listJars().length() + context.listFiles().length() + context.listArchives().length();
    }

    // ---- from one process to the next

    /** Runs after the client has ended. A JVM that cannot be reset in time exits. */
    private void release() {
        final Clearing clearing = new Clearing();
        Thread thread = new Thread(clearing, "lakeward-clearing");
        thread.setDaemon(true);
        thread.start();
        try {
            thread.join(CLEARING_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        holder = null;
        freeSince = System.currentTimeMillis();
        if (!clearing.done || leases >= LEASES) end();
    }

    public static class Clearing implements Runnable {
        volatile boolean done;

        public void run() {
            try {
                done = only.clear();
            } catch (Throwable e) {
                e.printStackTrace();
            }
        }
    }

    /** False if state of the former client cannot be removed. */
    private boolean clear() throws Exception {
        boolean clean = true;
        SharedState shared = sharedState();
        if (context != null && !context.isStopped()) {
            OrphanedJobs.end(context, shared);
            clean = countArtifacts() == artifacts;
            scala.collection.Iterator rdds = context.getPersistentRDDs().valuesIterator();
            while (rdds.hasNext()) ((RDD) rdds.next()).unpersist(false);
            List there = new ArrayList(context.listenerBus().listeners());
            for (int i = 0; i < there.size(); i++) {
                if (!listeners.contains(there.get(i))) {
                    context.listenerBus().removeListener((SparkListenerInterface) there.get(i));
                }
            }
        } else {
            context = null;
        }
        stopOtherContext();
        if (shared != null) shared.cacheManager().clearCache();
        SparkSession.clearDefaultSession();
        SparkSession.clearActiveSession();
        PlannedTable.clear();
        org.apache.spark.sql.delta.DeltaLog.clearCache();
        System.setProperties((Properties) properties.clone());
        TimeZone.setDefault(zone);
        Locale.setDefault(locale);
        forgetObjects();
        return clean;
    }

    /** A context that the former client made after it had stopped the kept one: a JVM has one at a time. */
    private void stopOtherContext() {
        scala.Option active = org.apache.spark.SparkContext$.MODULE$.getActive();
        if (active.isDefined() && active.get() != context) ((SparkContext) active.get()).stop();
    }

    private static SharedState sharedState() {
        scala.Option session = SparkSession.getDefaultSession();
        return session.isDefined() ? ((SparkSession) session.get()).sharedState() : null;
    }

    /** Objects referenced by the client's Python; the gateway's own have other ids. */
    private void forgetObjects() {
        Iterator names = server.getGateway().getBindings().keySet().iterator();
        while (names.hasNext()) {
            if (((String) names.next()).matches("o\\d+")) names.remove();
        }
    }

    // ---- the end

    public void run() {
        while (!ending) {
            try {
                Thread.sleep(holder == null ? 1000 : 100);
            } catch (InterruptedException e) {
                return;
            }
            lock.lock();
            try {
                if (holder != null) {
                    if (!holder.isAlive()) release();
                } else if (System.currentTimeMillis() - freeSince > patience || !isRecorded()) {
                    end();
                }
            } finally {
                lock.unlock();
            }
        }
    }

    private boolean isRecorded() {
        try {
            return new String(java.nio.file.Files.readAllBytes(record.toPath()), "UTF-8").contains(pid);
        } catch (java.io.IOException e) {
            return false;
        }
    }

    private void end() {
        ending = true;
        if (isRecorded()) record.delete();
        Thread thread = new Thread(new Ending(), "lakeward-ending");
        thread.setDaemon(true);
        thread.start();
    }

    public static class Ending implements Runnable {
        public void run() {
            System.exit(0);
        }
    }
}

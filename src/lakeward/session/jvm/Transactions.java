package lakeward;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.CopyOption;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.analysis.ResolvedProcedure;
import org.apache.spark.sql.catalyst.analysis.UnresolvedExecuteImmediate;
import org.apache.spark.sql.catalyst.plans.logical.Call;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.CompoundBody;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.delta.DeltaHistoryManager$;
import org.apache.spark.sql.delta.DeltaLog;
import org.apache.spark.sql.delta.OptimisticTransaction;
import org.apache.spark.sql.delta.actions.CommitInfo;
import org.apache.spark.sql.delta.util.FileNames$;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import scala.Option;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/**
 * The transactions of SQL, one at a time in a session: the tables that their statements write, and the versions of
 * these before. sql/transactions.py begins and ends them, and restores the tables.
 *
 * Sources: https://docs.databricks.com/aws/en/transactions/transaction-modes and the conditions
 * TRANSACTION_NOT_SUPPORTED and TRANSACTION_ROLLBACK_REQUIRED_AFTER_ABORT.
 */
public final class Transactions {

    /** Whether the session has a transaction. */
    public static final String ACTIVE = "lakeward_transaction_active";

    private static final Map OPEN = Collections.synchronizedMap(new WeakHashMap());
    private static final Pattern ROLLBACK = Pattern.compile("^\\s*rollback\\b", Pattern.CASE_INSENSITIVE);
    private static final Pattern CONTROL = Pattern.compile("^\\s*(commit|set\\s+autocommit)\\b", Pattern.CASE_INSENSITIVE);
    /** Commands that write a table or change nothing but the session: those of Spark, and those of Python. */
    private static final Set ALLOWED = new HashSet(Arrays.asList(new Object[] {
        "DeleteFromTable", "UpdateTable", "MergeIntoTable", "DescribeRelation", "DescribeColumn", "DescribeRelationJsonCommand",
        "DescribeTableCommand", "DescribeColumnCommand", "DescribeQueryCommand", "ExplainCommand", "SetCommand", "ResetCommand",
        "SetAutocommit", "SetCatalogAndNamespace", "SetCatalogCommand", "SetNamespaceCommand", "SetVariable", "CreateVariable", "DropVariable",
        "AtomicBlock", "BeginTransaction", "CommitTransaction", "RollbackTransaction", "CallProcedures", "ComputeIdentifiers",
        "InsertReplace", "RequireTable", "RequireSchema", "UseCatalog", "UseSchema", "KeepSetting", "SetParameter", "SetQueryTags",
        "ShowQueryTags", "DescribeAsJson", "DescribeExtended", "DescribeDetail", "information_schema"}));

    /** Version of each table before its first write, by the path of its data. */
    private final Map versions = new LinkedHashMap();
    private final Set commits = new HashSet();
    private final boolean isInteractive;
    /** Failed statements of the session before it. */
    private final long failures;
    private volatile boolean isUsed;
    private volatile boolean isAborted;
    private volatile boolean isPending;

    private final File record;

    private Transactions(boolean isInteractive, long failures, File record) {
        this.isInteractive = isInteractive;
        this.failures = failures;
        this.record = record;
    }

    private static Transactions of(SparkSession session) {
        return session == null || OPEN.isEmpty() ? null : (Transactions) OPEN.get(session);
    }

    private static SparkSession active() {
        Option session = org.apache.spark.sql.SparkSession.getActiveSession();
        return session.isDefined() && session.get() instanceof SparkSession ? (SparkSession) session.get() : null;
    }

    /**
     * False if the session has a transaction already. After a statement that failed, an interactive one accepts ROLLBACK alone;
     * in BEGIN ATOMIC … END a handler may handle the error. The file `record` is written before each commit.
     */
    public static boolean begin(SparkSession session, boolean isInteractive, String record) {
        return OPEN.putIfAbsent(session, new Transactions(isInteractive, ScriptErrors.failed(session), new File(record))) == null;
    }

    static void register(SparkSessionExtensions all) {
        all.injectHintResolutionRule(new Statements());
        all.injectCheckRule(new Analyzed());
        all.injectFunction(SqlFunctions.described(ACTIVE,
            new SqlFunctions.StaticMethod(Transactions.class, "isActive", DataTypes.BooleanType, new DataType[0])));
    }

    public static boolean isActive() {
        return of(active()) != null;
    }

    /** Whether the session has a transaction with a statement. */
    public static boolean isUsed(SparkSession session) {
        Transactions open = of(session);
        return open != null && open.isUsed;
    }

    /** Ends the transaction of a session, if it has one. Its changes remain. */
    public static void end(SparkSession session) {
        OPEN.remove(session);
    }

    /** Ends the transaction of a session, and returns what it has written. */
    public static String endForRollback(SparkSession session) {
        Transactions ended = (Transactions) OPEN.remove(session);
        return ended == null ? "[]" : written(session, ended.asJson().toString());
    }

    /**
     * The tables that a transaction has written, by its record, as JSON: `path`, the `version` before, whether it `changed`,
     * and `shared`, whether other writers have changed it since then.
     */
    public static String written(SparkSession session, String record) {
        ArrayNode written = WarehouseLayout.JSON.createArrayNode();
        JsonNode transaction;
        try {
            transaction = WarehouseLayout.JSON.readTree(record);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Set own = new HashSet();
        for (int k = 0; k < transaction.get("commits").size(); k++) own.add(((JsonNode) transaction.get("commits").get(k)).asText());
        Iterator tables = transaction.get("versions").fields();
        while (tables.hasNext()) {
            Map.Entry table = (Map.Entry) tables.next();
            DeltaLog log = DeltaLog.forTable((org.apache.spark.sql.SparkSession) session, new Path((String) table.getKey()));
            long before = ((JsonNode) table.getValue()).asLong();
            long now = log.update(false, ObjectDefinitions.none(), ObjectDefinitions.none()).version();
            boolean isShared = false;
            for (long version = before + 1; version <= now; version++) isShared |= !own.contains(transaction(session, log, version));
            ObjectNode row = written.addObject();
            row.put("path", (String) table.getKey()).put("version", before).put("changed", now > before).put("shared", isShared);
        }
        return written.toString();
    }

    private synchronized ObjectNode asJson() {
        ObjectNode record = WarehouseLayout.JSON.createObjectNode();
        record.set("versions", WarehouseLayout.JSON.valueToTree(versions));
        record.set("commits", WarehouseLayout.JSON.valueToTree(commits));
        return record;
    }

    private static Object transaction(SparkSession session, DeltaLog log, long version) {
        Configuration conf = session.sessionState().newHadoopConf();
        Option info = DeltaHistoryManager$.MODULE$.getCommitInfoOpt(log.store(), FileNames$.MODULE$.unsafeDeltaFile(log.logPath(), version), conf);
        Option id = info.isDefined() ? ((CommitInfo) info.get()).txnId() : ObjectDefinitions.none();
        return id.isDefined() ? id.get() : null;
    }

    /** Called for each transaction of Delta that begins. */
    static void started(OptimisticTransaction delta) {
        Transactions open = of(active());
        if (open == null) return;
        synchronized (open) {
            open.versions.putIfAbsent(delta.deltaLog().dataPath().toString(), Long.valueOf(delta.snapshot().version()));
            open.commits.add(delta.txnId());
            open.save();
        }
    }

    private void save() {
        File next = new File(record.getPath() + ".next");
        try {
            Files.write(next.toPath(), asJson().toString().getBytes(StandardCharsets.UTF_8), new OpenOption[0]);
            Files.move(next.toPath(), record.toPath(), new CopyOption[] {StandardCopyOption.ATOMIC_MOVE});
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Called before a statement is parsed: after one that failed, only ROLLBACK is accepted. */
    static void parsing(SparkSession session, String text) {
        Transactions open = of(session);
        if (open == null || !open.isInteractive) return;
        String code = PythonSqlBridge.withoutComments(text);
        if (ROLLBACK.matcher(code).find()) return;
        // A statement that was parsed, and whose analysis has not ended, is a statement that has failed.
        open.isAborted |= open.isPending || ScriptErrors.failed(session) > open.failures;
        if (open.isAborted) throw PythonSqlBridge.error("TRANSACTION_ROLLBACK_REQUIRED_AFTER_ABORT.PREVIOUS_QUERY_FAILURE", "40000",
            "The current transaction has been aborted: the previous query in the transaction failed. Run ROLLBACK before continuing.");
        open.isPending = true;
        open.isUsed |= !CONTROL.matcher(code).find();
    }

    /** Called with a parsed statement. The analysis of some statements parses or runs others, or is that of their parts. */
    static void parsed(SparkSession session, Object plan) {
        Transactions open = of(session);
        boolean hasOthers = plan instanceof CompoundBody || plan instanceof UnresolvedExecuteImmediate || plan instanceof Call;
        if (open != null && hasOthers) open.isPending = false;
    }

    /** Refuses the commands that change more than the rows of tables. */
    public static class Statements extends SessionRule {
        TreeNode rewritten(LogicalPlan plan, SparkSession session) {
            if (of(session) == null || plan instanceof V2WriteCommand) return plan;
            String command = plan instanceof Command ? plan.getClass().getSimpleName() : procedure(plan);
            if (command == null || ALLOWED.contains(command)) return plan;
            throw PythonSqlBridge.error("TRANSACTION_NOT_SUPPORTED.COMMAND", "0A000", "Failed to execute the statement. Command " + command
                + " is not supported in a transaction. Only SELECT / INSERT / MERGE / UPDATE / DELETE / DESCRIBE TABLE are supported.");
        }

        /** The name of a statement that Python runs, else null. */
        private static String procedure(LogicalPlan plan) {
            if (!(plan instanceof Call) || !(((Call) plan).procedure() instanceof ResolvedProcedure)) return null;
            return ((ResolvedProcedure) ((Call) plan).procedure()).procedure().name();
        }
    }

    /** Called at the end of each analysis that succeeds. */
    public static class Analyzed extends AbstractFunction1 {
        public Object apply(Object session) {
            return new Check((SparkSession) session);
        }

        private static class Check extends AbstractFunction1 {
            private final SparkSession session;

            Check(SparkSession session) {
                this.session = session;
            }

            public Object apply(Object plan) {
                Transactions open = of(session);
                if (open != null) open.isPending = false;
                return BoxedUnit.UNIT;
            }
        }
    }
}

package lakeward;

import org.apache.spark.sql.delta.DummySnapshot;
import org.apache.spark.sql.delta.OptimisticTransaction;
import org.apache.spark.sql.delta.Snapshot;
import org.apache.spark.sql.delta.TransactionExecutionObserver;
import org.apache.spark.sql.delta.TransactionExecutionObserver$;
import org.apache.spark.sql.delta.VersionChecksum;
import org.apache.spark.sql.delta.actions.Protocol;
import scala.Function0;
import scala.None$;
import scala.Option;
import scala.Some;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;

/**
 * The state of a table before its first commit. Delta adds the files of a commit to the list in the checksum of the
 * state before, which this one lacks in Delta: it runs a query for no files, which takes as long as the commit.
 */
public class EmptySnapshot extends DummySnapshot {

    private final Snapshot of;

    private EmptySnapshot(Snapshot of) {
        super(of.path(), of.deltaLog(), of.metadata(), None$.MODULE$, None$.MODULE$);
        this.of = of;
    }

    /** Delta's own, found when it is used: properties of the session that it refuses are an error of the commit. */
    public Protocol protocol() {
        return of == null ? super.protocol() : of.protocol();
    }

    public Seq domainMetadata() {
        return of == null ? super.domainMetadata() : of.domainMetadata();
    }

    public VersionChecksum computeChecksum() {
        VersionChecksum c = super.computeChecksum();
        return new VersionChecksum(c.txnId(), c.tableSizeBytes(), c.numFiles(), c.numDeletedRecordsOpt(), c.numDeletionVectorsOpt(),
            c.numMetadata(), c.numProtocol(), c.inCommitTimestampOpt(), c.setTransactions(), c.domainMetadata(), c.metadata(), c.protocol(),
            c.fileSizeHistogram(), c.deletedRecordCountsHistogramOpt(), new Some(Nil$.MODULE$), c.lastManifestCommit());
    }

    /**
     * Lets transactions on tables without a commit start from it, and reports each to `Transactions`. Delta has an observer
     * of them for each thread.
     */
    public static class OfTransactions implements TransactionExecutionObserver {

        private Option next = None$.MODULE$;

        static void register() {
            TransactionExecutionObserver$ observers = TransactionExecutionObserver$.MODULE$;
            if (observers.threadObserver() instanceof OfThreads) return;
            observers.org$apache$spark$sql$delta$ThreadStorageExecutionObserver$_setter_$threadObserver_$eq(new OfThreads());
        }

        public OptimisticTransaction startingTransaction(Function0 start) {
            OptimisticTransaction begun = (OptimisticTransaction) start.apply();
            if (begun.snapshot().getClass() == DummySnapshot.class) {
                begun = new OptimisticTransaction(begun.deltaLog(), begun.catalogTable(), new EmptySnapshot(begun.snapshot()));
            }
            Transactions.started(begun);
            return begun;
        }

        public TransactionExecutionObserver createChild() {
            return this;
        }

        public Object preparingCommit(Function0 commit) {
            return commit.apply();
        }

        public Option nextObserver() {
            return next;
        }

        public void nextObserver_$eq(Option observer) {
            next = observer;
        }

        public void beginDoCommit() {}

        public void beginBackfill() {}

        public void beginPostCommit() {}

        public void transactionCommitted() {}

        public void transactionAborted() {}
    }

    private static class OfThreads extends ThreadLocal {
        protected Object initialValue() {
            return new OfTransactions();
        }
    }
}

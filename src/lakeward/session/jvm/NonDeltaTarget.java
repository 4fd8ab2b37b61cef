package lakeward;

import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation$;
import org.apache.spark.sql.catalyst.plans.logical.InsertIntoStatement;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.V1Table;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.SupportsTruncate;
import org.apache.spark.sql.connector.write.V1Write;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.sources.InsertableRelation;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.None$;
import scala.Option;
import scala.collection.immutable.Seq;

/**
 * An existing table of another format than Delta's as a writer finds it. For a table of Spark's own kind, `saveAsTable`
 * and `insertInto` forget the catalog of the name, and write to a table of the session catalog or of the current one.
 */
public class NonDeltaTarget extends DelegatingTable implements SupportsWrite {

    private final Seq name;

    private NonDeltaTarget(V1Table table, Seq name) {
        super(table);
        this.name = name;
    }

    /** `table` for the caller of `loadTable`, which calls this method. */
    static Table of(Table table, SparkSession session, String catalog, Identifier identifier) {
        if (!(table instanceof V1Table)) return table;
        String caller = (String) StackWalker.getInstance().walk(new Caller());
        boolean isCurrent = session.sessionState().catalogManager().currentCatalog().name().equals(catalog);
        if (!caller.contains("saveAsTable") && (isCurrent || !caller.contains("insertInto"))) return table;
        Object[] parts = new Object[] {catalog, identifier.namespace()[0], identifier.name()};
        return new NonDeltaTarget((V1Table) table, PythonUtils.toSeq(Arrays.asList(parts)));
    }

    /** The method that called the caller of this class. */
    public static class Caller implements Function {
        public Object apply(Object frames) {
            return ((StackWalker.StackFrame) ((Stream) frames).skip(2).findFirst().get()).getMethodName();
        }
    }

    public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
        return new Rows(name);
    }

    /** INSERT of the rows, whose columns have the order of the table's. */
    public static class Rows implements WriteBuilder, SupportsTruncate, V1Write, InsertableRelation {
        private final Seq name;
        private boolean isOverwrite;

        Rows(Seq name) {
            this.name = name;
        }

        public WriteBuilder truncate() {
            isOverwrite = true;
            return this;
        }

        public Write build() {
            return this;
        }

        public InsertableRelation toInsertableRelation() {
            return this;
        }

        /** Spark's `overwrite` is always false here. */
        public void insert(org.apache.spark.sql.Dataset rows, boolean overwrite) {
            Map privileges = Collections.singletonMap(UnresolvedRelation$.MODULE$.REQUIRED_WRITE_PRIVILEGES(), isOverwrite ? "INSERT,DELETE" : "INSERT");
            UnresolvedRelation target = new UnresolvedRelation(name, new CaseInsensitiveStringMap(privileges), false);
            Seq none = PythonUtils.toSeq(Collections.emptyList());
            Dataset.ofRows((SparkSession) rows.sparkSession(), new InsertIntoStatement(target, ObjectDefinitions.scalaMap(null), none,
                ((Dataset) rows).logicalPlan(), isOverwrite, false, false, (Option) None$.MODULE$, false));
        }
    }

    public Column[] columns() {
        return described.columns();
    }

    public Set capabilities() {
        return EnumSet.of(TableCapability.V1_BATCH_WRITE, TableCapability.TRUNCATE);
    }
}

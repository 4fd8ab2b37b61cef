package lakeward;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.CreateTableAsSelect;
import org.apache.spark.sql.catalyst.plans.logical.DeltaMergeInto;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.ReplaceTableAsSelect;
import org.apache.spark.sql.catalyst.plans.logical.TableSpecBase;
import org.apache.spark.sql.catalyst.plans.logical.V2CreateTableAsSelectPlan;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.catalyst.streaming.WriteToStream;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.util.ResolveDefaultColumns;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.delta.commands.MergeIntoCommand;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.execution.datasources.SaveIntoDataSourceCommand;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.MetadataBuilder;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.Some;
import scala.collection.immutable.Seq;

/**
 * Default values of the columns that a query reads are no part of the table that is made of it: they are declared for
 * INSERT into the table that was read. Spark passes them on, and Delta refuses the new table, which lacks the feature
 * for them. A table that is made with the feature keeps them, as a clone does. Neither are they part of a column that
 * a write adds to a table: INSERT would use them there, with or without the feature.
 */
public class QueryDefaults extends SessionRule {

    private static final String FEATURE = "delta.feature.allowColumnDefaults";

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        if (plan instanceof V2WriteCommand && !isStaged((V2WriteCommand) plan)) {
            LogicalPlan query = ((V2WriteCommand) plan).query();
            LogicalPlan stripped = stripped(query);
            return stripped == query ? plan : (TreeNode) ((V2WriteCommand) plan).withNewQuery(stripped);
        }
        if (plan instanceof SaveIntoDataSourceCommand) {
            SaveIntoDataSourceCommand save = (SaveIntoDataSourceCommand) plan;
            LogicalPlan stripped = stripped(save.query());
            return stripped == save.query() ? plan : save.copy(stripped, save.dataSource(), save.options(), save.mode());
        }
        if (plan instanceof WriteToStream) {
            LogicalPlan query = ((WriteToStream) plan).inputQuery();
            LogicalPlan stripped = stripped(query);
            return stripped == query ? plan : plan.withNewChildren(PythonUtils.toSeq(Collections.singletonList(stripped)));
        }
        if (plan instanceof DeltaMergeInto) {
            DeltaMergeInto m = (DeltaMergeInto) plan;
            Option columns = evolved(m.finalSchema(), m.target());
            return columns == m.finalSchema() ? plan : m.copy(m.target(), m.source(), m.condition(), m.matchedClauses(), m.notMatchedClauses(),
                m.notMatchedBySourceClauses(), m.withSchemaEvolution(), columns);
        }
        if (plan instanceof MergeIntoCommand) {
            MergeIntoCommand m = (MergeIntoCommand) plan;
            Option columns = evolved(m.migratedSchema(), m.target());
            return columns == m.migratedSchema() ? plan : m.copy(m.source(), m.target(), m.catalogTable(), m.targetFileIndex(), m.condition(),
                m.matchedClauses(), m.notMatchedClauses(), m.notMatchedBySourceClauses(), columns, m.trackHighWaterMarks(), m.schemaEvolutionEnabled());
        }
        if (!(plan instanceof V2CreateTableAsSelectPlan)) return plan;
        V2CreateTableAsSelectPlan created = (V2CreateTableAsSelectPlan) plan;
        if (specification(plan).properties().contains(FEATURE)) return plan;
        LogicalPlan stripped = stripped(created.query());
        return stripped == created.query() ? plan : (TreeNode) created.withNameAndQuery(created.name(), stripped);
    }

    /** Whether the table is made by the write: CREATE TABLE AS SELECT has decided on its columns before. */
    private static boolean isStaged(V2WriteCommand write) {
        return write.table() instanceof DataSourceV2Relation && ((DataSourceV2Relation) write.table()).table() instanceof StagedTable;
    }

    /** The columns of a target after MERGE, where those that it adds have no default values. */
    private static Option evolved(Option columns, LogicalPlan target) {
        if (columns.isEmpty() || !target.resolved()) return columns;
        Set before = new HashSet();
        Seq output = target.output();
        for (int k = 0; k < output.length(); k++) before.add(((Attribute) output.apply(k)).name().toLowerCase(Locale.ROOT));
        StructType after = new StructType();
        boolean isChanged = false;
        for (StructField field : ((StructType) columns.get()).fields()) {
            Metadata metadata = before.contains(field.name().toLowerCase(Locale.ROOT)) ? field.metadata() : plain(field.metadata());
            isChanged = isChanged || metadata != field.metadata();
            after = after.add(field.copy(field.name(), field.dataType(), field.nullable(), metadata));
        }
        return isChanged ? new Some(after) : columns;
    }

    /** The same rows in columns without default values: `query` itself if it has none. */
    private static LogicalPlan stripped(LogicalPlan query) {
        if (!query.resolved()) return query;
        Seq output = query.output();
        List columns = new ArrayList();
        boolean isChanged = false;
        for (int k = 0; k < output.length(); k++) {
            Attribute column = (Attribute) output.apply(k);
            Metadata plain = plain(column.metadata());
            isChanged = isChanged || plain != column.metadata();
            columns.add(plain == column.metadata() ? column : new Alias(column, column.name(), column.exprId(), column.qualifier(), new Some(plain), none()));
        }
        return isChanged ? new Project(PythonUtils.toSeq(columns), query) : query;
    }

    private static TableSpecBase specification(LogicalPlan plan) {
        return plan instanceof CreateTableAsSelect ? ((CreateTableAsSelect) plan).tableSpec() : ((ReplaceTableAsSelect) plan).tableSpec();
    }

    private static Seq none() {
        return PythonUtils.toSeq(new ArrayList());
    }

    private static Metadata plain(Metadata metadata) {
        String current = ResolveDefaultColumns.CURRENT_DEFAULT_COLUMN_METADATA_KEY();
        String existing = ResolveDefaultColumns.EXISTS_DEFAULT_COLUMN_METADATA_KEY();
        if (!metadata.contains(current) && !metadata.contains(existing)) return metadata;
        return new MetadataBuilder().withMetadata(metadata).remove(current).remove(existing).build();
    }
}

package lakeward;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.CreateTableAsSelect;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.ReplaceTableAsSelect;
import org.apache.spark.sql.catalyst.plans.logical.TableSpecBase;
import org.apache.spark.sql.catalyst.plans.logical.V2CreateTableAsSelectPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.util.ResolveDefaultColumns;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.MetadataBuilder;
import scala.Some;
import scala.collection.immutable.Seq;

/**
 * Default values of the columns that a query reads are no part of the table that is made of it: they are declared for
 * INSERT into the table that was read. Spark passes them on, and Delta refuses the new table, which lacks the feature
 * for them. A table that is made with the feature keeps them, as a clone does.
 */
public class QueryDefaults extends SessionRule {

    private static final String FEATURE = "delta.feature.allowColumnDefaults";

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        if (!(plan instanceof V2CreateTableAsSelectPlan)) return plan;
        V2CreateTableAsSelectPlan created = (V2CreateTableAsSelectPlan) plan;
        if (!created.query().resolved() || specification(plan).properties().contains(FEATURE)) return plan;
        Seq output = created.query().output();
        List columns = new ArrayList();
        boolean isChanged = false;
        for (int k = 0; k < output.length(); k++) {
            Attribute column = (Attribute) output.apply(k);
            Metadata plain = plain(column.metadata());
            isChanged = isChanged || plain != column.metadata();
            columns.add(plain == column.metadata() ? column : new Alias(column, column.name(), column.exprId(), column.qualifier(), new Some(plain), none()));
        }
        if (!isChanged) return plan;
        return (TreeNode) created.withNameAndQuery(created.name(), new Project(PythonUtils.toSeq(columns), created.query()));
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

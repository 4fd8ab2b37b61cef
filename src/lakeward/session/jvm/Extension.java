package lakeward;

import java.lang.reflect.Field;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.catalog.ExternalCatalogWithListener;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.internal.SharedState;
import scala.Tuple3;
import scala.runtime.AbstractFunction1;
import scala.runtime.AbstractFunction2;
import scala.runtime.BoxedUnit;

/**
 * What every session of this JVM gets, cloned sessions of streaming queries included. The parser is
 * the first thing a session state makes, before its catalog: the place to put the warehouse in.
 */
public class Extension extends AbstractFunction1 {

    public Object apply(Object extensions) {
        PlatformProperties.register();
        PythonSqlBridge.completeStates();
        EmptySnapshot.OfTransactions.register();
        SparkSessionExtensions all = (SparkSessionExtensions) extensions;
        all.injectParser(new Parser());
        all.injectHintResolutionRule(new SqlRules());
        all.injectFunction(new Tuple3(new FunctionIdentifier(SqlRules.EXTRACT), new ExpressionInfo("lakeward.JsonPath", SqlRules.EXTRACT),
            new SqlRules.Builder()));
        all.injectHintResolutionRule(new InferredJson());
        all.injectFunction(SqlFunctions.described(InferredJson.CALL, new InferredJson.Builder()));
        all.injectHintResolutionRule(new InsertTargets());
        all.injectHintResolutionRule(new MergeStars());
        all.injectHintResolutionRule(new ColumnDefaults());
        all.injectHintResolutionRule(new CatalogNames());
        all.injectHintResolutionRule(new ShortNames());
        all.injectHintResolutionRule(new FunctionBodies());
        all.injectFunction(SqlFunctions.described(FunctionBodies.CALL, new FunctionBodies.Builder()));
        all.injectTableFunction(SqlFunctions.described(FunctionBodies.TABLE_CALL, new FunctionBodies.TableBuilder()));
        all.injectFunction(SqlFunctions.described(Signal.CALL, new Signal.Builder()));
        ScriptErrors.register(all);
        all.injectHintResolutionRule(new SqlNames());
        all.injectHintResolutionRule(new PolicyRules());
        all.injectHintResolutionRule(new CheckConditions());
        Transactions.register(all);
        all.injectHintResolutionRule(new ChangeFeeds());
        all.injectHintResolutionRule(new PlannedDescriptions());
        all.injectHintResolutionRule(new ShownNames());
        all.injectHintResolutionRule(new GlobalTemporary());
        all.injectHintResolutionRule(new SqlRefusals());
        all.injectHintResolutionRule(new PlatformFeatures.Options());
        all.injectHintResolutionRule(new AddedFiles());
        all.injectHintResolutionRule(new FormatCheck());
        all.injectHintResolutionRule(new FileRescue());
        all.injectHintResolutionRule(new StreamOfPath());
        all.injectHintResolutionRule(new StreamOfView());
        all.injectHintResolutionRule(new InputFileName());
        // Again, for names that an IDENTIFIER clause computes: the hint rules see the clause instead of the name.
        all.injectResolutionRule(new CatalogNames());
        all.injectResolutionRule(new SqlNames());
        NarrowedArguments.register(all);
        all.injectResolutionRule(new CollatedColumns());
        all.injectResolutionRule(new ClusteringColumns());
        all.injectResolutionRule(new ShownGeometries());
        all.injectResolutionRule(new InputFileName.OfAutoLoader());
        all.injectResolutionRule(new StreamingMetadata());
        all.injectResolutionRule(new ListedSnapshot.OfTables());
        all.injectResolutionRule(new TableQualifiers());
        all.injectResolutionRule(new VersionedNames());
        all.injectResolutionRule(new ViewTargets());
        all.injectResolutionRule(new FunctionColumns());
        all.injectResolutionRule(new MaterializedViews());
        all.injectResolutionRule(new RowSelection());
        all.injectPostHocResolutionRule(new ViewTargets.WithoutTable());
        all.injectPostHocResolutionRule(new OverwrittenFiles());
        all.injectPostHocResolutionRule(new DeclaredTypes());
        all.injectPostHocResolutionRule(new QueryDefaults());
        all.injectPostHocResolutionRule(new TargetFileSize());
        all.injectPostHocResolutionRule(new RowSelection.Results());
        all.injectPostHocResolutionRule(new ViewEvolution());
        SqlFunctions.register(all);
        ZstdFunctions.register(all);
        GeoTable.register(all);
        all.injectPlannerStrategy(new SystemFunctions());
        all.injectPlannerStrategy(new GeneratedCounts.Strategy());
        all.injectPlannerStrategy(new MaterializedViews.Merges());
        all.injectPlannerStrategy(new PresentTargetMerge.Strategy());
        return BoxedUnit.UNIT;
    }

    public static class Parser extends AbstractFunction2 {
        public Object apply(Object session, Object parser) {
            useWarehouse(((SparkSession) session).sharedState());
            ScriptErrors.listen(((SparkSession) session).sparkContext());
            return new SqlParser((SparkSession) session, (ParserInterface) parser);
        }
    }

    static synchronized void useWarehouse(SharedState shared) {
        try {
            ExternalCatalogWithListener holder = shared.externalCatalog();
            if (holder.unwrapped() instanceof WarehouseCatalog) return;
            Field field = ExternalCatalogWithListener.class.getDeclaredField("delegate");
            field.setAccessible(true);
            field.set(holder, new WarehouseCatalog(shared.sparkContext().conf(), shared.hadoopConf(),
                shared.conf().get("spark.sql.warehouse.dir")));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("This Spark keeps its catalog elsewhere than 4.2 does", e);
        }
    }
}

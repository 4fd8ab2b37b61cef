package lakeward;

import java.util.ArrayList;
import java.util.Locale;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.delta.DeltaConfig;
import org.apache.spark.sql.delta.DeltaConfigs$;
import scala.Tuple2;
import scala.runtime.AbstractFunction1;

/**
 * Table properties `delta.…` that Delta on Databricks has and open-source Delta lacks, and values of theirs. They
 * are stored as they are; any other name is DELTA_UNKNOWN_CONFIGURATION, on both.
 * Source: https://docs.databricks.com/aws/en/delta/table-properties and the pages of the features.
 */
final class PlatformProperties {

    private static final String[] NAMES = new String[] {
        "autoOptimize", "autoOptimize.autoCompactMinFileSize", "autoOptimize.autoCompactMaxFileSize", "castIcebergTimeType",
        "enableIcebergWriterCompatV1", "enableIcebergWriterCompatV3", "enableOptimizeWrite", "enableVariantShredding",
        "parquet.compression.codec", "parquet.format.version", "rowLevelConcurrencyPreview", "tuneFileSizesForRewrites",
        "workloadBasedColumns.optimizerStatistics"
    };

    private PlatformProperties() {
    }

    static synchronized void register() {
        for (int i = 0; i < NAMES.length; i++) {
            if (DeltaConfigs$.MODULE$.entries().containsKey(NAMES[i].toLowerCase(Locale.ROOT))) continue;
            DeltaConfigs$.MODULE$.buildConfig(NAMES[i], "", new Text(), new Anything(), "", true, PythonUtils.toSeq(new ArrayList()));
        }
        put(new AutoCompact());
        put(new IsolationLevel());
    }

    private static void put(DeltaConfig config) {
        DeltaConfigs$.MODULE$.entries().put(config.key().substring("delta.".length()).toLowerCase(Locale.ROOT), config);
    }

    /**
     * `auto` and `legacy` choose the size of files on Databricks, and are stored as `true`: other values of the property
     * fail Delta's commits.
     */
    public static class AutoCompact extends DeltaConfig {
        private static final DeltaConfig DELTA = DeltaConfigs$.MODULE$.AUTO_COMPACT();

        public AutoCompact() {
            super(DELTA.key(), DELTA.defaultValue(), DELTA.fromString(), DELTA.validationFunction(), DELTA.helpMessage(), DELTA.editable(), DELTA.alternateKeys());
        }

        public Tuple2 apply(String value) {
            return super.apply("auto".equalsIgnoreCase(value) || "legacy".equalsIgnoreCase(value) ? "true" : value);
        }
    }

    /** WriteSerializable is the default on Databricks. Delta's commits know it, and only this check refuses it. */
    public static class IsolationLevel extends DeltaConfig {
        private static final DeltaConfig DELTA = DeltaConfigs$.MODULE$.ISOLATION_LEVEL();

        public IsolationLevel() {
            super(
                DELTA.key(), DELTA.defaultValue(), DELTA.fromString(), new Writable(),
                "must be one of: Serializable, WriteSerializable", DELTA.editable(), DELTA.alternateKeys());
        }
    }

    public static class Writable extends AbstractFunction1 {
        public Object apply(Object level) {
            return Boolean.valueOf(!"SnapshotIsolation".equals(String.valueOf(level)));
        }
    }

    public static class Text extends AbstractFunction1 {
        public Object apply(Object text) {
            return text;
        }
    }

    public static class Anything extends AbstractFunction1 {
        public Object apply(Object text) {
            return Boolean.TRUE;
        }
    }
}

package lakeward;

import java.util.ArrayList;
import java.util.Locale;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.delta.DeltaConfigs$;
import scala.runtime.AbstractFunction1;

/**
 * Table properties `delta.…` that Delta on Databricks has and open-source Delta lacks. They are stored as they are;
 * any other name is DELTA_UNKNOWN_CONFIGURATION, on both.
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

package lakeward;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.commons.text.similarity.LevenshteinDistance;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.delta.DeltaConfig;
import org.apache.spark.sql.delta.DeltaConfigs$;
import scala.Tuple2;
import scala.runtime.AbstractFunction1;

/**
 * Table properties `delta.…` that Delta on Databricks has and open-source Delta lacks, and values of theirs. They
 * are stored as they are; any other name is DELTA_UNKNOWN_CONFIGURATION, on both. No public list is complete: a name
 * of a feature's family is accepted, unless it seems to be a misspelled one.
 * Source: https://docs.databricks.com/aws/en/delta/table-properties and the pages of the features.
 */
final class PlatformProperties {

    private static final String[] NAMES = new String[] {
        "autoOptimize.autoCompactMinFileSize", "autoOptimize.autoCompactMaxFileSize", "parquet.compression.codec",
        "parquet.format.version", "workloadBasedColumns.optimizerStatistics"
    };

    private static final String[] FLAGS = new String[] {
        "autoOptimize", "castIcebergTimeType", "enableIcebergWriterCompatV1", "enableIcebergWriterCompatV3", "enableOptimizeWrite",
        "enableVariantShredding", "rowLevelConcurrencyPreview", "tuneFileSizesForRewrites"
    };

    private static final Pattern FAMILY = Pattern.compile(
        "(auto(compact|optimize)|bloom|checkpoint|clustering|columnmapping|compatibility|coordinatedcommits|dataskipping"
            + "|deletionvectors|enable|iceberg|identity|incommittimestamp|liquid|managed|optimize|parquet|predictive|row(level|tracking)"
            + "|sharing|stats|type(change|widening)|universalformat|variant|workloadbased).*");

    private PlatformProperties() {
    }

    static synchronized void register() {
        if (DeltaConfigs$.MODULE$.entries() instanceof Entries) return;
        for (int i = 0; i < NAMES.length; i++) putNew(NAMES[i], new Anything(), "");
        for (int i = 0; i < FLAGS.length; i++) putNew(FLAGS[i], new Flag(), "needs to be a boolean.");
        put(new AutoCompact());
        put(new IsolationLevel());
        DeltaConfigs$.MODULE$.org$apache$spark$sql$delta$DeltaConfigsBase$_setter_$entries_$eq(new Entries(DeltaConfigs$.MODULE$.entries()));
    }

    /** Delta's properties by their names in lower case, and those of a family on demand. */
    static final class Entries extends HashMap {
        private static final LevenshteinDistance DISTANCE = new LevenshteinDistance(Integer.valueOf(2));

        Entries(Map known) {
            for (Object key : known.keySet()) put(key, known.get(key));
        }

        public Object put(Object key, Object property) {
            return super.put(key, property instanceof CheckedProperty ? property : new CheckedProperty((DeltaConfig) property));
        }

        public Object get(Object key) {
            Object found = super.get(key);
            String name = String.valueOf(key);
            boolean isNew = found == null && FAMILY.matcher(name).matches() && !isMisspelled(name);
            return isNew ? new Stored(name, new Anything(), "") : found;
        }

        private boolean isMisspelled(String name) {
            for (Object known : keySet()) {
                int distance = DISTANCE.apply(name, known.toString()).intValue();
                // Another number is another version of a feature.
                if (distance > 0 && !name.replaceAll("\\d", "").equals(known.toString().replaceAll("\\d", ""))) return true;
            }
            return false;
        }
    }

    /** A property without an effect. */
    public static class Stored extends DeltaConfig {
        Stored(String name, AbstractFunction1 isValid, String help) {
            super("delta." + name, "", new Text(), isValid, help, true, PythonUtils.toSeq(new ArrayList()));
        }
    }

    private static void putNew(String name, AbstractFunction1 isValid, String help) {
        if (!DeltaConfigs$.MODULE$.entries().containsKey(name.toLowerCase(Locale.ROOT))) put(new Stored(name, isValid, help));
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

    public static class Flag extends AbstractFunction1 {
        public Object apply(Object text) {
            return Boolean.valueOf("true".equalsIgnoreCase(text.toString()) || "false".equalsIgnoreCase(text.toString()));
        }
    }

    public static class Anything extends AbstractFunction1 {
        public Object apply(Object text) {
            return Boolean.TRUE;
        }
    }
}

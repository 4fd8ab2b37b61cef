package lakeward;

import org.apache.spark.SparkThrowable;
import org.apache.spark.sql.delta.DeltaConfig;
import org.apache.spark.sql.delta.DeltaIllegalArgumentException;
import scala.Tuple2;

/**
 * A table property whose wrong values have a condition and a message with the property's name. Delta's own errors are
 * Java's, as `For input string: "maybe"`.
 */
public class CheckedProperty extends DeltaConfig {

    private static final String ALTER = "org.apache.spark.sql.execution.datasources.v2.AlterTableExec";

    private final DeltaConfig property;

    CheckedProperty(DeltaConfig property) {
        super(
            property.key(), property.defaultValue(), property.fromString(), property.validationFunction(), property.helpMessage(),
            property.editable(), property.alternateKeys());
        this.property = property;
    }

    public Tuple2 apply(String value) {
        try {
            return property.apply(value);
        } catch (RuntimeException e) {
            if (e instanceof SparkThrowable) throw e;
            throw refused(value, e);
        }
    }

    private RuntimeException refused(String value, RuntimeException cause) {
        DeltaIllegalArgumentException named = new DeltaIllegalArgumentException(
            "DELTA_ILLEGAL_OPTION", new String[] {value, key(), expectation()}, cause);
        // ALTER TABLE makes UNSUPPORTED_TABLE_CHANGE of errors that have no condition.
        return isAlter() ? new IllegalArgumentException(withoutCondition(named.getMessage()), cause) : named;
    }

    private static String withoutCondition(String message) {
        return message.replaceFirst("^\\[[A-Z_]+\\] ", "");
    }

    private String expectation() {
        if (key().equals("delta.columnMapping.mode")) return "must be one of: none, name, id";
        String help = helpMessage().trim();
        return help.isEmpty() ? "which the property does not have" : help.replaceFirst("^\"", "").replaceFirst("\\.$", "");
    }

    private static boolean isAlter() {
        StackTraceElement[] frames = Thread.currentThread().getStackTrace();
        for (int i = 0; i < frames.length; i++) {
            if (frames[i].getClassName().equals(ALTER)) return true;
        }
        return false;
    }
}

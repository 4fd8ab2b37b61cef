package lakeward;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.util.CharVarcharUtils;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.delta.Snapshot;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DayTimeIntervalType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.FractionalType;
import org.apache.spark.sql.types.IntegralType;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.sql.types.YearMonthIntervalType;
import scala.Option;

/** The values of information_schema.columns for one column, by column name. */
public class InformationColumn {

    private static final String IDENTITY = "delta.identity.";
    private static final String GENERATED = "delta.generationExpression";

    /** Delta's own schema holds column metadata beyond the type: `delta` is null for other formats. */
    static Map of(Column column, int position, Snapshot delta) {
        Metadata kept = delta == null ? Metadata.empty() : delta.schema().apply(column.name()).metadata();
        int partition = delta == null ? -1 : delta.metadata().partitionColumns().indexOf(column.name());
        boolean isIdentity = kept.contains(IDENTITY + "start");
        boolean isGenerated = kept.contains(GENERATED);
        Map values = new HashMap();
        values.put("column_name", column.name());
        values.put("ordinal_position", Integer.valueOf(position));
        values.put("column_default", column.defaultValue() == null ? null : column.defaultValue().getSql());
        values.put("is_nullable", column.nullable() ? "YES" : "NO");
        values.put("comment", column.comment());
        values.put("is_updatable", "YES");
        values.put("is_identity", isIdentity ? "YES" : "NO");
        if (isIdentity) {
            values.put("identity_generation", kept.getBoolean(IDENTITY + "allowExplicitInsert") ? "BY DEFAULT" : "ALWAYS");
            values.put("identity_start", String.valueOf(kept.getLong(IDENTITY + "start")));
            values.put("identity_increment", String.valueOf(kept.getLong(IDENTITY + "step")));
        }
        values.put("is_generated", isGenerated ? "YES" : "NO");
        values.put("generation_expression", isGenerated ? kept.getString(GENERATED) : null);
        values.put("partition_ordinal_position", partition < 0 ? null : Integer.valueOf(partition + 1));
        Option declared = CharVarcharUtils.getRawType(kept);
        addType(values, declared.isDefined() ? (DataType) declared.get() : column.dataType());
        return values;
    }

    /** Source: https://docs.databricks.com/aws/en/sql/language-manual/information-schema/columns */
    private static void addType(Map values, DataType type) {
        String full = type.sql();
        int end = 0;
        while (end < full.length() && (Character.isLetterOrDigit(full.charAt(end)) || full.charAt(end) == '_')) end++;
        values.put("full_data_type", type.catalogString());
        values.put("data_type", full.substring(0, end));
        if (type instanceof DecimalType) {
            addNumber(values, ((DecimalType) type).precision(), 10, Integer.valueOf(((DecimalType) type).scale()));
        } else if (type instanceof IntegralType) {
            addNumber(values, 8 * type.defaultSize(), 2, Integer.valueOf(0));
        } else if (type instanceof FractionalType) {
            // As the SQL standard counts: the bits of the mantissa.
            addNumber(values, type.defaultSize() == 4 ? 24 : 53, 2, null);
        } else if (type instanceof DateType) {
            values.put("datetime_precision", Integer.valueOf(0));
        } else if (type instanceof TimestampType || type instanceof TimestampNTZType) {
            values.put("datetime_precision", Integer.valueOf(3));
        } else if (type instanceof DayTimeIntervalType || type instanceof YearMonthIntervalType) {
            values.put("datetime_precision", Integer.valueOf(full.endsWith("SECOND") ? 3 : 0));
            values.put("interval_type", full.substring(end).trim());
        }
    }

    private static void addNumber(Map values, int precision, int radix, Integer scale) {
        values.put("numeric_precision", Integer.valueOf(precision));
        values.put("numeric_precision_radix", Integer.valueOf(radix));
        values.put("numeric_scale", scale);
    }
}

package lakeward;

/**
 * The errors of functions of geometries and cells, as Databricks names them; all of SQLSTATE 22023, an invalid
 * parameter (docs.databricks.com: error-messages/st-invalid-argument-error-class and error-classes).
 */
public class GeoErrors {

    private static final String STATE = "22023";

    private GeoErrors() {
    }

    static Signal error(String condition, String text) {
        return new Signal(condition, STATE, text);
    }

    static Signal srid(int srid) {
        return error("ST_INVALID_SRID_VALUE", "Invalid or unsupported SRID (spatial reference identifier) value: " + srid + ".");
    }

    static Signal argument(String function, String kind, String text) {
        return error("ST_INVALID_ARGUMENT." + kind, "\"" + function + "\": " + text);
    }

    static Signal type(String function, int argument, String valid) {
        return argument(function, "INVALID_TYPE", "Invalid type for argument " + argument + ". Valid types are: " + valid + ".");
    }

    static Signal index(String function, int index) {
        return argument(function, "INVALID_INDEX_VALUE", "Invalid index " + index + " for the provided geospatial value.");
    }

    static Signal srids(String function, int first, int second) {
        return error("ST_DIFFERENT_SRID_VALUES", "Arguments to \"" + function + "\" must have the same SRID value. SRID values found: "
            + first + ", " + second + ".");
    }

    /** A text or bytes that are no geometry; `format` is the condition, such as WKT_PARSE_ERROR. */
    static Signal parse(String format, String problem, int position) {
        return error(format, "Error parsing " + format.substring(0, format.indexOf('_')) + ": " + problem + " at position " + position);
    }
}

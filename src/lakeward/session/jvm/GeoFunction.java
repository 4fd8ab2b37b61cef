package lakeward;

import com.uber.h3core.exceptions.H3Exception;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.connector.catalog.functions.ScalarFunction;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.GeometryType;
import org.apache.spark.unsafe.types.BinaryView;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A function of the table with the types of one call. Its method has its name and takes one array: values of Java,
 * geometries as {@link GeoValue}, null for an optional argument that is not given. NULL in, NULL out.
 */
public class GeoFunction implements ScalarFunction {

    private static final Class[] OWNERS = new Class[] {
        GeoConstructors.class, GeoAccessors.class, GeoPredicates.class, GeoMeasures.class, GeoOverlay.class,
        H3Functions.class, H3Regions.class
    };

    private final String name;
    private final String[] codes;
    private final int arity;
    private final DataType[] types;
    private final DataType result;
    private transient Method method;
    private transient Parsed[] last;

    GeoFunction(String name, String[] codes, int arity, DataType[] types, DataType result) {
        this.name = name;
        this.codes = codes;
        this.arity = arity;
        this.types = types;
        this.result = result;
    }

    public String name() {
        return name;
    }

    public String canonicalName() {
        return "lakeward." + name + Arrays.toString(types);
    }

    public DataType[] inputTypes() {
        return types;
    }

    public DataType resultType() {
        return result;
    }

    public boolean equals(Object other) {
        return other instanceof GeoFunction && ((GeoFunction) other).canonicalName().equals(canonicalName());
    }

    public int hashCode() {
        return canonicalName().hashCode();
    }

    public Object produceResult(InternalRow row) {
        Object[] arguments = new Object[arity];
        for (int i = 0; i < codes.length; i++) {
            if (row.isNullAt(i)) return null;
            arguments[i] = value(row.get(i, types[i]), i);
        }
        return stored(call(arguments));
    }

    private Object value(Object stored, int at) {
        if (stored instanceof UTF8String) return stored.toString();
        if (stored instanceof BinaryView) return geometry(stored, at);
        if (!(stored instanceof ArrayData)) return stored;
        ArrayData array = (ArrayData) stored;
        DataType element = ((ArrayType) types[at]).elementType();
        Object[] out = new Object[array.numElements()];
        for (int i = 0; i < out.length; i++) {
            if (array.isNullAt(i)) continue;
            Object each = array.get(i, element);
            out[i] = each instanceof UTF8String ? each.toString() : each instanceof BinaryView ? GeoStorage.read(each, element) : each;
        }
        return out;
    }

    /** The geometry; one that is the same object in every row, as a constant is, is read once. */
    private GeoValue geometry(Object stored, int at) {
        Parsed[] all = last;
        if (all == null) last = all = new Parsed[types.length];
        Parsed parsed = all[at];
        if (parsed == null || parsed.stored != stored) {
            parsed = new Parsed(stored, GeoStorage.read(stored, types[at]));
            all[at] = parsed;
        }
        return parsed.value;
    }

    /** A stored value and what it is; one object, because threads may share the function. */
    public static class Parsed {
        public final Object stored;
        public final GeoValue value;

        Parsed(Object stored, GeoValue value) {
            this.stored = stored;
            this.value = value;
        }
    }

    private Object call(Object[] arguments) {
        if (method == null) method = find();
        try {
            return method.invoke(null, new Object[] {arguments});
        } catch (InvocationTargetException e) {
            // The library finds that a number in the range of cells is none.
            if (e.getCause() instanceof H3Exception) throw GeoErrors.error("H3_INVALID_CELL_ID", e.getCause().getMessage());
            throw WarehouseCatalog.sneak(e.getCause());
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    private Method find() {
        for (int i = 0; i < OWNERS.length; i++) {
            Method[] all = OWNERS[i].getDeclaredMethods();
            for (int k = 0; k < all.length; k++) if (all[k].getName().equals(name)) return all[k];
        }
        throw new IllegalStateException("No method " + name);
    }

    private Object stored(Object value) {
        if (value instanceof String) return UTF8String.fromString((String) value);
        if (value instanceof GeoValue) return GeoStorage.write(withType((GeoValue) value));
        if (!(value instanceof Object[])) return value;
        Object[] all = (Object[]) value;
        Object[] out = new Object[all.length];
        for (int i = 0; i < all.length; i++) out[i] = stored(all[i]);
        return new GenericArrayData(out);
    }

    /** A line of no points has the SRID of the type, if the type has one. */
    private GeoValue withType(GeoValue value) {
        if (!(result instanceof GeometryType) || ((GeometryType) result).isMixedSrid() || !value.shape.isEmpty()) return value;
        return new GeoValue(value.shape, value.z, value.m, ((GeometryType) result).srid(), false);
    }
}

package lakeward;

import com.uber.h3core.H3Core;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;

/**
 * Cells of H3 as arguments and results: BIGINT, or STRING in hexadecimal digits. Arguments are checked as the
 * platform does: the value is in the range of cells, which is necessary and not sufficient.
 */
public class H3Cells {

    public static final int FINEST = 15;
    private static final long LEAST = 0x08001fffffffffffL;
    private static final long GREATEST = 0x08ff3b6db6db6db6L;
    private static H3Core library;

    private H3Cells() {
    }

    /** The library; its native code is loaded with the first call. */
    static synchronized H3Core h3() {
        try {
            if (library == null) library = H3Core.newInstance();
            return library;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The number of a cell; null for text that is no number. */
    static Long number(Object cell) {
        if (!(cell instanceof String)) return (Long) cell;
        try {
            return Long.valueOf(Long.parseUnsignedLong((String) cell, 16));
        } catch (NumberFormatException e) {
            return null;
        }
    }

    static boolean isInRange(Long number) {
        return number != null && number.longValue() >= LEAST && number.longValue() <= GREATEST;
    }

    /** The number of a cell. Raises H3_INVALID_CELL_ID. */
    static long cell(Object given) {
        Long number = number(given);
        if (!isInRange(number)) throw invalid(given);
        return number.longValue();
    }

    static Signal invalid(Object given) {
        String shown = given instanceof String ? "'" + given + "'" : String.valueOf(given);
        return GeoErrors.error("H3_INVALID_CELL_ID", shown + " is not a valid H3 cell ID.");
    }

    static int resolution(Object given) {
        return resolution(given, 0, FINEST);
    }

    /** Raises H3_INVALID_RESOLUTION_VALUE unless the resolution is in these bounds. */
    static int resolution(Object given, int least, int most) {
        int resolution = ((Integer) given).intValue();
        if (resolution >= least && resolution <= most) return resolution;
        throw GeoErrors.error("H3_INVALID_RESOLUTION_VALUE", "H3 resolution " + resolution + " must be between " + least + " and " + most
            + ", inclusive.");
    }

    static int distance(Object given) {
        int k = ((Integer) given).intValue();
        if (k >= 0) return k;
        throw GeoErrors.error("H3_INVALID_GRID_DISTANCE_VALUE", "H3 grid distance " + k + " must be non-negative.");
    }

    /** A cell in the form of another one. */
    static Object like(Object sample, long cell) {
        return sample instanceof String ? (Object) h3().h3ToString(cell) : (Object) Long.valueOf(cell);
    }

    static Object[] like(Object sample, List cells) {
        Object[] out = cells.toArray();
        for (int i = 0; i < out.length; i++) out[i] = like(sample, ((Long) out[i]).longValue());
        return out;
    }
}

package lakeward;

import java.math.BigDecimal;
import java.util.Locale;
import org.locationtech.jts.geom.CoordinateSequence;
import org.locationtech.jts.geom.Geometry;
import org.locationtech.jts.geom.LineString;
import org.locationtech.jts.geom.Point;
import org.locationtech.jts.geom.Polygon;

/** Writes WKT, EWKT and GeoJSON, with the shortest digits that read back as the same number. */
public class GeoTextWriter {

    /** From this many digits on a whole number is written with an exponent, as C's `%.17g` does. */
    private static final int DIGITS = 17;

    private final StringBuilder out = new StringBuilder();
    private final boolean z;
    private final boolean m;
    private final boolean isJson;

    private GeoTextWriter(GeoValue value, boolean isJson) {
        this.isJson = isJson;
        z = value.z;
        m = value.m && !isJson;
    }

    static String wkt(GeoValue value) {
        GeoTextWriter writer = new GeoTextWriter(value, false);
        writer.tagged(value.shape);
        return writer.out.toString();
    }

    static String ewkt(GeoValue value) {
        return (value.srid == 0 ? "" : "SRID=" + value.srid + ";") + wkt(value);
    }

    static String json(GeoValue value) {
        GeoTextWriter writer = new GeoTextWriter(value, true);
        writer.object(value.shape);
        return writer.out.toString();
    }

    private void tagged(Geometry g) {
        out.append(GeoValue.NAMES[GeoValue.type(g)].toUpperCase(Locale.ROOT));
        if (z || m) out.append(z ? (m ? " ZM " : " Z ") : " M ");
        if (!isEmpty(g)) {
            body(g);
        } else {
            if (!z && !m) out.append(' ');
            out.append("EMPTY");
        }
    }

    /** Whether there is nothing to write: a collection of empty elements has its elements. */
    private static boolean isEmpty(Geometry g) {
        return GeoValue.type(g) > GeoValue.POLYGON ? g.getNumGeometries() == 0 : g.isEmpty();
    }

    private void object(Geometry g) {
        boolean collection = GeoValue.type(g) == GeoValue.COLLECTION;
        out.append("{\"type\":\"").append(GeoValue.NAMES[GeoValue.type(g)]).append("\",\"");
        out.append(collection ? "geometries" : "coordinates").append("\":");
        body(g);
        out.append('}');
    }

    private void body(Geometry g) {
        if (isJson && isEmpty(g)) {
            out.append("[]");
        } else if (isEmpty(g)) {
            out.append("EMPTY");
        } else if (g instanceof Point) {
            if (!isJson) out.append('(');
            position(((Point) g).getCoordinateSequence(), 0);
            if (!isJson) out.append(')');
        } else if (g instanceof LineString) {
            positions(((LineString) g).getCoordinateSequence());
        } else if (g instanceof Polygon) {
            Polygon p = (Polygon) g;
            open();
            positions(p.getExteriorRing().getCoordinateSequence());
            for (int i = 0; i < p.getNumInteriorRing(); i++) {
                out.append(',');
                positions(p.getInteriorRingN(i).getCoordinateSequence());
            }
            close();
        } else {
            elements(g);
        }
    }

    private void elements(Geometry g) {
        boolean collection = GeoValue.type(g) == GeoValue.COLLECTION;
        open();
        for (int i = 0; i < g.getNumGeometries(); i++) {
            if (i > 0) out.append(',');
            if (!collection) body(g.getGeometryN(i));
            else if (isJson) object(g.getGeometryN(i));
            else tagged(g.getGeometryN(i));
        }
        close();
    }

    private void open() {
        out.append(isJson ? '[' : '(');
    }

    private void close() {
        out.append(isJson ? ']' : ')');
    }

    private void positions(CoordinateSequence all) {
        open();
        for (int i = 0; i < all.size(); i++) {
            if (i > 0) out.append(',');
            position(all, i);
        }
        close();
    }

    private void position(CoordinateSequence all, int i) {
        char between = isJson ? ',' : ' ';
        if (isJson) out.append('[');
        out.append(number(all.getX(i))).append(between).append(number(all.getY(i)));
        if (z) out.append(between).append(number(all.getZ(i)));
        if (m) out.append(between).append(number(all.getM(i)));
        if (isJson) out.append(']');
    }

    static String number(double value) {
        if (Double.isNaN(value) || Double.isInfinite(value)) return String.valueOf(value);
        if (value == 0) return "0";
        BigDecimal exact = new BigDecimal(Double.toString(value)).stripTrailingZeros();
        int exponent = exact.precision() - exact.scale() - 1;
        if (exponent >= -4 && exponent < DIGITS) return exact.toPlainString();
        String digits = exact.unscaledValue().abs().toString();
        String mantissa = digits.length() == 1 ? digits : digits.charAt(0) + "." + digits.substring(1);
        String power = String.valueOf(Math.abs(exponent));
        return (value < 0 ? "-" : "") + mantissa + (exponent < 0 ? "e-" : "e+") + (power.length() == 1 ? "0" : "") + power;
    }
}

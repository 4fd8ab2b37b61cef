package lakeward;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.locationtech.jts.geom.CoordinateSequence;
import org.locationtech.jts.geom.Geometry;
import org.locationtech.jts.geom.LineString;
import org.locationtech.jts.geom.LinearRing;
import org.locationtech.jts.geom.Point;
import org.locationtech.jts.geom.Polygon;

/** Reads WKB, with ISO's codes of dimensions, and EWKB, with flags for them and an SRID. */
public class GeoBinaryReader {

    private static final int Z_FLAG = 0x80000000;
    private static final int M_FLAG = 0x40000000;
    private static final int SRID_FLAG = 0x20000000;

    private final ByteBuffer in;
    private final String condition;
    private int srid = 0;
    private boolean z;
    private boolean m;

    GeoBinaryReader(byte[] bytes, int offset, String condition) {
        in = ByteBuffer.wrap(bytes, offset, bytes.length - offset);
        this.condition = condition;
    }

    /** Whether bytes have one of the flags that WKB lacks. */
    static boolean isExtended(byte[] bytes) {
        if (bytes.length < 5) return false;
        ByteBuffer code = ByteBuffer.wrap(bytes, 1, 4).order(bytes[0] == 0 ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        return (code.getInt() & (Z_FLAG | M_FLAG | SRID_FLAG)) != 0;
    }

    /** The value, with this SRID. */
    GeoValue read(int given, boolean isGeography) {
        Geometry shape = whole();
        return new GeoValue(shape, z, m, given, isGeography);
    }

    /** The value, with the SRID that it contains. */
    GeoValue readExtended() {
        Geometry shape = whole();
        return new GeoValue(shape, z, m, srid, false);
    }

    private Geometry whole() {
        Geometry shape;
        try {
            shape = geometry(0);
        } catch (BufferUnderflowException e) {
            throw error("Unexpected end of buffer");
        }
        if (in.hasRemaining()) throw error("Unexpected bytes after the geometry");
        return shape;
    }

    private Signal error(String problem) {
        return GeoErrors.parse(condition, problem, in.position());
    }

    private Geometry geometry(int parent) {
        byte order = in.get();
        if (order != 0 && order != 1) throw error("Invalid byte order " + order);
        in.order(order == 0 ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        int code = in.getInt();
        boolean hasZ = (code & Z_FLAG) != 0;
        boolean hasM = (code & M_FLAG) != 0;
        if ((code & SRID_FLAG) != 0) srid = in.getInt();
        int type = code & ~(Z_FLAG | M_FLAG | SRID_FLAG);
        hasZ |= type / 1000 == 1 || type / 1000 == 3;
        hasM |= type / 1000 == 2 || type / 1000 == 3;
        int kind = type % 1000;
        if (type < 0 || type >= 4000 || kind < 1 || kind > GeoValue.COLLECTION) throw error("Invalid or unsupported type " + type);
        if (parent != 0 && parent != GeoValue.COLLECTION && kind != parent - 3) throw error("Invalid type in a collection: " + type);
        if (parent != 0 && (hasZ != z || hasM != m)) throw error("Invalid dimension in a collection");
        z = hasZ;
        m = hasM;
        if (kind == GeoValue.POINT) return point();
        if (kind == GeoValue.LINESTRING) return line();
        if (kind == GeoValue.POLYGON) return polygon();
        Geometry[] parts = new Geometry[count(5)];
        for (int i = 0; i < parts.length; i++) {
            ByteOrder own = in.order();
            parts[i] = geometry(kind);
            in.order(own);
        }
        return collection(kind, parts);
    }

    static Geometry collection(int kind, Geometry[] parts) {
        if (kind == 4) {
            Point[] points = new Point[parts.length];
            System.arraycopy(parts, 0, points, 0, parts.length);
            return GeoValue.FACTORY.createMultiPoint(points);
        }
        if (kind == 5) {
            LineString[] lines = new LineString[parts.length];
            System.arraycopy(parts, 0, lines, 0, parts.length);
            return GeoValue.FACTORY.createMultiLineString(lines);
        }
        if (kind == 6) {
            Polygon[] polygons = new Polygon[parts.length];
            System.arraycopy(parts, 0, polygons, 0, parts.length);
            return GeoValue.FACTORY.createMultiPolygon(polygons);
        }
        return GeoValue.FACTORY.createGeometryCollection(parts);
    }

    /** A number of elements, each of which takes at least this many bytes. */
    private int count(int bytes) {
        int n = in.getInt();
        if (n < 0 || (long) n * bytes > in.remaining()) throw error("Unexpected end of buffer");
        return n;
    }

    private CoordinateSequence sequence(int points) {
        int dimension = 2 + (z ? 1 : 0) + (m ? 1 : 0);
        CoordinateSequence out = sequence(points, z, m);
        for (int i = 0; i < points; i++) {
            for (int k = 0; k < dimension; k++) out.setOrdinate(i, k, in.getDouble());
        }
        return out;
    }

    static CoordinateSequence sequence(int points, boolean z, boolean m) {
        return GeoValue.FACTORY.getCoordinateSequenceFactory().create(points, 2 + (z ? 1 : 0) + (m ? 1 : 0), m ? 1 : 0);
    }

    private Point point() {
        CoordinateSequence one = sequence(1);
        boolean empty = Double.isNaN(one.getX(0)) && Double.isNaN(one.getY(0));
        return GeoValue.FACTORY.createPoint(empty ? sequence(0, z, m) : one);
    }

    private LineString line() {
        int n = count(16);
        if (n == 1) throw error("Too few points in linestring");
        return GeoValue.FACTORY.createLineString(sequence(n));
    }

    private Polygon polygon() {
        LinearRing[] rings = new LinearRing[count(4)];
        for (int i = 0; i < rings.length; i++) {
            int n = count(16);
            CoordinateSequence ring = sequence(n);
            String problem = ringProblem(ring);
            if (problem != null) throw error(problem);
            rings[i] = GeoValue.FACTORY.createLinearRing(ring);
        }
        return polygon(rings, z, m);
    }

    /** What makes coordinates unfit for a ring; null if nothing does. */
    static String ringProblem(CoordinateSequence ring) {
        int n = ring.size();
        if (n > 0 && n < 4) return "Too few points in ring";
        boolean closed = n == 0 || ring.getX(0) == ring.getX(n - 1) && ring.getY(0) == ring.getY(n - 1);
        return closed ? null : "Found non-closed ring";
    }

    /** The polygon of these rings, the first of which is the outer one. */
    static Polygon polygon(LinearRing[] rings, boolean z, boolean m) {
        if (rings.length == 0) return GeoValue.FACTORY.createPolygon(sequence(0, z, m));
        LinearRing[] holes = new LinearRing[rings.length - 1];
        System.arraycopy(rings, 1, holes, 0, holes.length);
        return GeoValue.FACTORY.createPolygon(rings[0], holes);
    }
}

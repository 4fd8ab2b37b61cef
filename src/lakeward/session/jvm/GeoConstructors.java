package lakeward;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.locationtech.jts.geom.Coordinate;
import org.locationtech.jts.geom.CoordinateSequence;
import org.locationtech.jts.geom.Envelope;
import org.locationtech.jts.geom.Geometry;
import org.locationtech.jts.geom.LineString;
import org.locationtech.jts.geom.LinearRing;
import org.locationtech.jts.geom.Point;

/** Functions that read geometries from other formats, write them, or make them of points. */
public class GeoConstructors {

    /** The function of arrays that show() uses; users do not call it. */
    public static final String TEXTS = "texts_of_geometries";
    private static final int WGS84 = 4326;

    private GeoConstructors() {
    }

    static int srid(Object given) {
        return given == null ? 0 : ((Integer) given).intValue();
    }

    static Object st_geomfromtext(Object[] a) {
        return new GeoTextReader((String) a[0], "WKT_PARSE_ERROR").read(srid(a[1]), false);
    }

    static Object st_geomfromwkt(Object[] a) {
        return st_geomfromtext(a);
    }

    static Object st_geogfromtext(Object[] a) {
        return bounded(new GeoTextReader((String) a[0], "WKT_PARSE_ERROR").read(WGS84, true), "WKT_PARSE_ERROR");
    }

    static Object st_geogfromwkt(Object[] a) {
        return st_geogfromtext(a);
    }

    static Object st_geomfromewkt(Object[] a) {
        return new GeoTextReader((String) a[0], "EWKT_PARSE_ERROR").readExtended(0, false);
    }

    static Object st_geogfromewkt(Object[] a) {
        return bounded(new GeoTextReader((String) a[0], "EWKT_PARSE_ERROR").readExtended(WGS84, true), "EWKT_PARSE_ERROR");
    }

    static Object st_geomfromgeojson(Object[] a) {
        return GeoJsonReader.read((String) a[0], false);
    }

    static Object st_geogfromgeojson(Object[] a) {
        return bounded(GeoJsonReader.read((String) a[0], true), "GEOJSON_PARSE_ERROR");
    }

    static Object st_geomfromewkb(Object[] a) {
        return new GeoBinaryReader((byte[]) a[0], 0, "EWKB_PARSE_ERROR").readExtended();
    }

    static Object to_geometry(Object[] a) {
        if (a[0] instanceof byte[]) {
            byte[] bytes = (byte[]) a[0];
            if (GeoBinaryReader.isExtended(bytes)) return st_geomfromewkb(a);
            return new GeoBinaryReader(bytes, 0, "WKB_PARSE_ERROR").read(0, false);
        }
        String text = (String) a[0];
        if (text.trim().startsWith("{")) return st_geomfromgeojson(a);
        return GeoTextReader.isExtended(text) ? st_geomfromewkt(a) : st_geomfromtext(new Object[] {text, null});
    }

    static Object to_geography(Object[] a) {
        if (a[0] instanceof byte[]) {
            return bounded(new GeoBinaryReader((byte[]) a[0], 0, "WKB_PARSE_ERROR").read(WGS84, true), "WKB_PARSE_ERROR");
        }
        String text = (String) a[0];
        if (text.trim().startsWith("{")) return st_geogfromgeojson(a);
        return GeoTextReader.isExtended(text) ? st_geogfromewkt(a) : st_geogfromtext(a);
    }

    static Object try_to_geometry(Object[] a) {
        try {
            GeoValue value = (GeoValue) to_geometry(a);
            GeoStorage.write(value);
            return value;
        } catch (Signal e) {
            return null;
        }
    }

    static Object try_to_geography(Object[] a) {
        try {
            GeoValue value = (GeoValue) to_geography(a);
            GeoStorage.write(value);
            return value;
        } catch (Signal e) {
            return null;
        }
    }

    /** A geography has longitudes and latitudes in degrees. */
    private static GeoValue bounded(GeoValue value, String condition) {
        Envelope box = value.shape.getEnvelopeInternal();
        if (box.isNull() || new Envelope(-180, 180, -90, 90).contains(box)) return value;
        throw GeoErrors.parse(condition, "Coordinates are out of the bounds of geographies", 1);
    }

    static Object st_point(Object[] a) {
        Coordinate at = new Coordinate(((Double) a[0]).doubleValue(), ((Double) a[1]).doubleValue());
        return new GeoValue(GeoValue.FACTORY.createPoint(at), false, false, srid(a[2]), false);
    }

    static Object st_geomfromgeohash(Object[] a) {
        Envelope box = GeoHash.cell((String) a[0], "st_geomfromgeohash");
        return new GeoValue(GeoValue.FACTORY.toGeometry(box), false, false, 0, false);
    }

    static Object st_pointfromgeohash(Object[] a) {
        Envelope box = GeoHash.cell((String) a[0], "st_pointfromgeohash");
        return new GeoValue(GeoValue.FACTORY.createPoint(box.centre()), false, false, 0, false);
    }

    static Object st_geohash(Object[] a) {
        GeoValue value = (GeoValue) a[0];
        Envelope box = value.shape.getEnvelopeInternal();
        if (box.isNull()) return null;
        double x = Math.max(Math.abs(box.getMinX()), Math.abs(box.getMaxX()));
        if (x > 180) throw outOfBounds("LONGITUDE", box.getMaxX() > 180 ? box.getMaxX() : box.getMinX(), 180);
        double y = Math.max(Math.abs(box.getMinY()), Math.abs(box.getMaxY()));
        if (y > 90) throw outOfBounds("LATITUDE", box.getMaxY() > 90 ? box.getMaxY() : box.getMinY(), 90);
        return GeoHash.of(box, a[1] == null ? -1 : ((Integer) a[1]).intValue());
    }

    private static Signal outOfBounds(String axis, double value, int bound) {
        String name = axis.charAt(0) + axis.substring(1).toLowerCase(java.util.Locale.ROOT);
        return GeoErrors.argument("st_geohash", axis + "_OUT_OF_BOUNDS", name + " coordinate has an out-of-bounds value: "
            + GeoTextWriter.number(value) + ". The value must be in [-" + bound + ", " + bound + "].");
    }

    /** The algorithm of encoded polylines: differences of latitude and longitude, five bits a character. */
    static Object st_linefromencodedpolyline(Object[] a) {
        String text = (String) a[0];
        double factor = Math.pow(10, a[1] == null ? 5 : ((Integer) a[1]).intValue());
        List points = new ArrayList();
        long latitude = 0;
        long longitude = 0;
        for (int at = 0; at < text.length();) {
            int middle = encodedEnd(text, at);
            int end = encodedEnd(text, middle);
            latitude += decoded(text, at, middle);
            longitude += decoded(text, middle, end);
            points.add(new Coordinate(longitude / factor, latitude / factor));
            at = end;
        }
        if (points.size() == 1) points.add(points.get(0));
        Coordinate[] all = (Coordinate[]) points.toArray(new Coordinate[points.size()]);
        return new GeoValue(GeoValue.FACTORY.createLineString(all), false, false, WGS84, false);
    }

    /** Where the number ends that begins at a place. The condition is assumed: the documentation names none. */
    private static int encodedEnd(String text, int from) {
        for (int at = from; at < text.length() && at < from + 12; at++) {
            int value = text.charAt(at) - 63;
            if (value < 0 || value > 63) break;
            if (value < 32) return at + 1;
        }
        throw GeoErrors.argument("st_linefromencodedpolyline", "INVALID_ENCODED_POLYLINE", "The text is no encoded polyline.");
    }

    private static long decoded(String text, int from, int to) {
        long bits = 0;
        for (int at = to - 1; at >= from; at--) bits = bits << 5 | text.charAt(at) - 63 & 31;
        return (bits & 1) == 1 ? ~(bits >> 1) : bits >> 1;
    }

    static Object st_astext(Object[] a) {
        return GeoTextWriter.wkt((GeoValue) a[0]);
    }

    static Object st_aswkt(Object[] a) {
        return GeoTextWriter.wkt((GeoValue) a[0]);
    }

    static Object st_asewkt(Object[] a) {
        return GeoTextWriter.ewkt((GeoValue) a[0]);
    }

    static Object texts_of_geometries(Object[] a) {
        Object[] all = (Object[]) a[0];
        Object[] out = new Object[all.length];
        for (int i = 0; i < all.length; i++) out[i] = all[i] == null ? null : GeoTextWriter.ewkt((GeoValue) all[i]);
        return out;
    }

    static Object st_asgeojson(Object[] a) {
        return GeoTextWriter.json((GeoValue) a[0]);
    }

    static Object st_aswkb(Object[] a) {
        return GeoBinaryWriter.wkb((GeoValue) a[0], order(a[1], "st_aswkb"));
    }

    static Object st_asewkb(Object[] a) {
        return GeoBinaryWriter.ewkb((GeoValue) a[0], order(a[1], "st_asewkb"));
    }

    private static ByteOrder order(Object given, String function) {
        if (given == null || "NDR".equalsIgnoreCase((String) given)) return ByteOrder.LITTLE_ENDIAN;
        if ("XDR".equalsIgnoreCase((String) given)) return ByteOrder.BIG_ENDIAN;
        throw GeoErrors.argument(function, "INVALID_ENDIANNESS_VALUE",
            "Endianness '" + given + "' must be either 'NDR' (little-endian) or 'XDR' (big-endian).");
    }

    /** The points of points, multipoints and lines in their order. NULL elements are ignored. */
    static Object st_makeline(Object[] a) {
        GeoValue[] parts = present((Object[]) a[0], "st_makeline", null);
        List points = new ArrayList();
        boolean z = true;
        boolean m = true;
        for (int i = 0; i < parts.length; i++) {
            int type = parts[i].type();
            if (type != 1 && type != 2 && type != 4) throw GeoErrors.type("st_makeline", 1, "ST_Point, ST_LineString, ST_MultiPoint");
            if (parts[i].shape.isEmpty()) continue;
            z &= parts[i].z;
            m &= parts[i].m;
            collect(parts[i].shape, points);
        }
        int srid = parts.length == 0 ? 0 : parts[0].srid;
        if (points.isEmpty()) return new GeoValue(GeoValue.FACTORY.createLineString(), false, false, srid, false);
        if (points.size() == 1) points.add(points.get(0));
        CoordinateSequence line = GeoBinaryReader.sequence(points.size(), z, m);
        for (int i = 0; i < points.size(); i++) GeoShapes.put(line, i, (CoordinateSequence) points.get(i), 0);
        return new GeoValue(GeoValue.FACTORY.createLineString(line), z, m, srid, false);
    }

    /** Every point as a sequence of its own. */
    private static void collect(Geometry g, List out) {
        if (g.getNumGeometries() > 1) {
            for (int i = 0; i < g.getNumGeometries(); i++) collect(g.getGeometryN(i), out);
            return;
        }
        Geometry one = g.getGeometryN(0);
        CoordinateSequence all = one instanceof Point ? ((Point) one).getCoordinateSequence() : ((LineString) one).getCoordinateSequence();
        for (int i = 0; i < all.size(); i++) {
            CoordinateSequence point = GeoBinaryReader.sequence(1, true, true);
            GeoShapes.put(point, 0, all, i);
            out.add(point);
        }
    }

    /** The elements that are not NULL, all with the SRID of the first one. */
    private static GeoValue[] present(Object[] all, String function, GeoValue first) {
        List out = new ArrayList();
        GeoValue before = first;
        for (int i = 0; i < all.length; i++) {
            GeoValue each = (GeoValue) all[i];
            if (each == null) continue;
            if (before != null && before.srid != each.srid) throw GeoErrors.srids(function, before.srid, each.srid);
            before = each;
            out.add(each);
        }
        return (GeoValue[]) out.toArray(new GeoValue[out.size()]);
    }

    static Object st_makepolygon(Object[] a) {
        String function = "st_makepolygon";
        GeoValue outer = (GeoValue) a[0];
        GeoValue[] inner = a[1] == null ? new GeoValue[0] : present((Object[]) a[1], function, outer);
        boolean z = outer.z;
        boolean m = outer.m;
        if (outer.type() != GeoValue.LINESTRING) throw GeoErrors.type(function, 1, "ST_LineString");
        for (int i = 0; i < inner.length; i++) {
            if (inner[i].type() != GeoValue.LINESTRING) throw GeoErrors.type(function, 2, "ST_LineString");
            z &= inner[i].z;
            m &= inner[i].m;
        }
        if (outer.shape.isEmpty() && inner.length > 0) {
            throw GeoErrors.argument(function, "EMPTY_OUTER_BOUNDARY",
                "The outer boundary cannot be empty if there is at least one inner boundary.");
        }
        LinearRing[] rings = new LinearRing[outer.shape.isEmpty() ? 0 : 1 + inner.length];
        for (int i = 0; i < rings.length; i++) rings[i] = ring(i == 0 ? outer : inner[i - 1], i, z, m);
        return new GeoValue(GeoBinaryReader.polygon(rings, z, m), z, m, outer.srid, false);
    }

    private static LinearRing ring(GeoValue line, int index, boolean z, boolean m) {
        String which = index == 0 ? "OUTER_BOUNDARY" : "INNER_BOUNDARY";
        String name = index == 0 ? "outer boundary" : index + "-th inner boundary";
        CoordinateSequence from = ((LineString) line.shape).getCoordinateSequence();
        String problem = GeoBinaryReader.ringProblem(from);
        if (from.size() > 0 && !((LineString) line.shape).isClosed()) {
            throw GeoErrors.argument("st_makepolygon", which + "_NOT_CLOSED", "The " + name + " is not closed.");
        }
        if (from.size() == 0 || problem != null) {
            throw GeoErrors.argument("st_makepolygon", "TOO_FEW_VERTICES_IN_" + which, "The " + name + " must have at least 4 vertices.");
        }
        return GeoValue.FACTORY.createLinearRing(GeoShapes.copy(from, z, m));
    }
}

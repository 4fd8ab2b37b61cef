package lakeward;

import com.uber.h3core.PolygonToCellsFlags;
import com.uber.h3core.util.LatLng;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.TreeSet;
import org.locationtech.jts.geom.Coordinate;
import org.locationtech.jts.geom.CoordinateSequence;
import org.locationtech.jts.geom.Geometry;
import org.locationtech.jts.geom.LineString;
import org.locationtech.jts.geom.Point;
import org.locationtech.jts.geom.Polygon;
import org.locationtech.jts.geom.util.AffineTransformation;
import org.locationtech.jts.operation.overlayng.OverlayNG;
import org.locationtech.jts.operation.overlayng.OverlayNGRobust;

/**
 * The cells of points, lines and polygons in WKT, GeoJSON or WKB. Edges are straight in longitude and latitude; cells
 * are in ascending order.
 */
public class H3Regions {

    private H3Regions() {
    }

    /** The shape of an argument, whose dimension is at least this one. A collection is a parse error, as on the platform. */
    private static Geometry shape(Object given, boolean isPoint, int least) {
        GeoValue value = (GeoValue) GeoConstructors.to_geometry(new Object[] {given});
        boolean fits = value.type() != GeoValue.COLLECTION && value.shape.getDimension() >= least && (!isPoint || value.type() == 1);
        if (fits) return value.shape;
        String format = given instanceof byte[] ? "WKB_PARSE_ERROR"
            : ((String) given).trim().startsWith("{") ? "GEOJSON_PARSE_ERROR" : "WKT_PARSE_ERROR";
        throw GeoErrors.parse(format, "Invalid or unsupported type " + value.name(), 1);
    }

    static Object h3_pointash3(Object[] a) {
        int resolution = H3Cells.resolution(a[1]);
        Geometry point = shape(a[0], true, 0);
        return point.isEmpty() ? null : Long.valueOf(cell(point.getCoordinate(), resolution));
    }

    static Object h3_pointash3string(Object[] a) {
        Object cell = h3_pointash3(a);
        return cell == null ? null : H3Cells.h3().h3ToString(((Long) cell).longValue());
    }

    private static long cell(Coordinate at, int resolution) {
        return H3Cells.h3().latLngToCell(at.y, at.x, resolution);
    }

    private static Object[] strings(Object[] cells) {
        if (cells == null) return null;
        Object[] out = new Object[cells.length];
        for (int i = 0; i < out.length; i++) out[i] = H3Cells.h3().h3ToString(((Long) cells[i]).longValue());
        return out;
    }

    static Object h3_polyfillash3(Object[] a) {
        int resolution = H3Cells.resolution(a[1]);
        Geometry shape = shape(a[0], false, 2);
        TreeSet out = new TreeSet();
        for (int i = 0; i < shape.getNumGeometries(); i++) fill((Polygon) shape.getGeometryN(i), resolution, null, out);
        return out.toArray();
    }

    static Object h3_polyfillash3string(Object[] a) {
        return strings((Object[]) h3_polyfillash3(a));
    }

    static Object h3_coverash3(Object[] a) {
        int resolution = H3Cells.resolution(a[1]);
        TreeSet out = new TreeSet();
        cover(shape(a[0], false, 0), resolution, out);
        return out.toArray();
    }

    static Object h3_coverash3string(Object[] a) {
        return strings((Object[]) h3_coverash3(a));
    }

    /** The cells of a polygon: those whose centers it contains, or those of a flag. */
    private static void fill(Polygon p, int resolution, PolygonToCellsFlags flag, TreeSet out) {
        if (p.isEmpty()) return;
        List holes = new ArrayList();
        for (int i = 0; i < p.getNumInteriorRing(); i++) holes.add(corners(p.getInteriorRingN(i)));
        List outer = corners(p.getExteriorRing());
        out.addAll(flag == null ? H3Cells.h3().polygonToCells(outer, holes, resolution)
            : H3Cells.h3().polygonToCellsExperimental(outer, holes, resolution, flag));
    }

    private static List corners(LineString ring) {
        List out = new ArrayList();
        CoordinateSequence all = ring.getCoordinateSequence();
        for (int i = 0; i < all.size() - 1; i++) out.add(new LatLng(all.getY(i), all.getX(i)));
        return out;
    }

    private static void cover(Geometry g, int resolution, TreeSet out) {
        if (g.isEmpty()) return;
        if (g.getNumGeometries() > 1) {
            for (int i = 0; i < g.getNumGeometries(); i++) cover(g.getGeometryN(i), resolution, out);
            return;
        }
        Geometry one = g.getGeometryN(0);
        if (one instanceof Point) out.add(Long.valueOf(cell(one.getCoordinate(), resolution)));
        else if (one instanceof LineString) along((LineString) one, resolution, out);
        else fill((Polygon) one, resolution, PolygonToCellsFlags.containment_overlapping, out);
    }

    /** The cells that a line meets: of those around points of the line that are nearer to each other than cells are wide. */
    private static void along(LineString line, int resolution, TreeSet out) {
        TreeSet near = new TreeSet();
        CoordinateSequence all = line.getCoordinateSequence();
        double step = Math.toDegrees(H3Cells.h3().getHexagonEdgeLengthAvg(resolution, com.uber.h3core.LengthUnit.km) / 6371) / 2;
        for (int i = 1; i < all.size(); i++) {
            Coordinate from = all.getCoordinate(i - 1);
            Coordinate to = all.getCoordinate(i);
            int n = (int) Math.ceil(from.distance(to) / step) + 1;
            for (int k = 0; k <= n; k++) {
                double part = (double) k / n;
                Coordinate at = new Coordinate(from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part);
                near.addAll(H3Cells.h3().gridDisk(cell(at, resolution), 1));
            }
        }
        for (Iterator each = near.iterator(); each.hasNext();) {
            Long cell = (Long) each.next();
            if (outline(cell.longValue(), line).intersects(line)) out.add(cell);
        }
    }

    /** The outline of a cell in longitudes that run on over the antimeridian, on the side where the shape is. */
    private static Geometry outline(long cell, Geometry shape) {
        Geometry outline = H3Functions.boundary(cell);
        if (outline.getEnvelopeInternal().getWidth() <= 180) return outline;
        Coordinate[] ring = outline.getCoordinates();
        for (int i = 0; i < ring.length; i++) if (ring[i].x < 0) ring[i] = new Coordinate(ring[i].x + 360, ring[i].y);
        Geometry east = GeoValue.FACTORY.createPolygon(ring);
        if (east.intersects(shape)) return east;
        return AffineTransformation.translationInstance(-360, 0).transform(east);
    }

    static Object h3_tessellateaswkb(Object[] a) {
        int resolution = H3Cells.resolution(a[1]);
        Geometry shape = shape(a[0], false, 0);
        TreeSet cells = new TreeSet();
        cover(shape, resolution, cells);
        List out = new ArrayList();
        for (Iterator each = cells.iterator(); each.hasNext();) {
            Long cell = (Long) each.next();
            Geometry outline = outline(cell.longValue(), shape);
            boolean core = shape.getDimension() == 2 && shape.covers(outline);
            Geometry chip = core ? outline : shape.getDimension() == 0 ? inside(shape, cell.longValue(), resolution)
                : OverlayNGRobust.overlay(shape, outline, OverlayNG.INTERSECTION);
            if (chip.isEmpty() || chip.getDimension() < shape.getDimension()) continue;
            out.add(new Object[] {cell, Boolean.valueOf(core), GeoBinaryWriter.wkb(new GeoValue(chip, false, false, 0, false), ByteOrder.LITTLE_ENDIAN)});
        }
        return H3Functions.structs(out);
    }

    /** The points of a cell; a point on the border of two cells is in one of them. */
    private static Geometry inside(Geometry points, long cell, int resolution) {
        List out = new ArrayList();
        for (int i = 0; i < points.getNumGeometries(); i++) {
            Geometry point = points.getGeometryN(i);
            if (!point.isEmpty() && cell(point.getCoordinate(), resolution) == cell) out.add(point);
        }
        return GeoValue.FACTORY.buildGeometry(out).union();
    }

    /** The functions that give NULL for an invalid geometry; an invalid resolution is an error nevertheless. */
    private static Object attempt(int function, Object[] a) {
        H3Cells.resolution(a[1]);
        try {
            if (function == 0) return h3_coverash3(a);
            if (function == 1) return h3_polyfillash3(a);
            return h3_tessellateaswkb(a);
        } catch (Signal e) {
            return null;
        }
    }

    static Object h3_try_coverash3(Object[] a) {
        return attempt(0, a);
    }

    static Object h3_try_coverash3string(Object[] a) {
        return strings((Object[]) attempt(0, a));
    }

    static Object h3_try_polyfillash3(Object[] a) {
        return attempt(1, a);
    }

    static Object h3_try_polyfillash3string(Object[] a) {
        return strings((Object[]) attempt(1, a));
    }

    static Object h3_try_tessellateaswkb(Object[] a) {
        return attempt(2, a);
    }
}

package lakeward;

import java.util.ArrayList;
import java.util.List;
import org.locationtech.jts.algorithm.hull.ConcaveHull;
import org.locationtech.jts.geom.Coordinate;
import org.locationtech.jts.geom.Geometry;
import org.locationtech.jts.operation.overlayng.OverlayNG;
import org.locationtech.jts.operation.overlayng.OverlayNGRobust;
import org.locationtech.jts.simplify.DouglasPeuckerSimplifier;

/**
 * Functions whose result is a new geometry of the plane: set operations, hulls, buffers. Results have two dimensions,
 * and those of set operations the order of the normal form.
 */
public class GeoOverlay {

    /** The radius of the sphere of Web Mercator (EPSG:3857). */
    private static final double RADIUS = 6378137;

    private GeoOverlay() {
    }

    private static GeoValue geo(Object[] a) {
        return (GeoValue) a[0];
    }

    private static GeoValue overlay(Object[] a, int operation, String function) {
        GeoPredicates.sameSrid(a, function);
        return geo(a).flat(overlay(geo(a).shape, ((GeoValue) a[1]).shape, operation).norm());
    }

    /** Collections are taken apart: the library combines only geometries whose elements are of one kind. */
    private static Geometry overlay(Geometry first, Geometry second, int operation) {
        if (!isMixed(first) && !isMixed(second)) return OverlayNGRobust.overlay(first, second, operation);
        if (operation == OverlayNG.UNION) return OverlayNGRobust.union(GeoValue.FACTORY.createGeometryCollection(new Geometry[] {first, second}));
        if (operation == OverlayNG.SYMDIFFERENCE) {
            return overlay(overlay(first, second, OverlayNG.DIFFERENCE), overlay(second, first, OverlayNG.DIFFERENCE), OverlayNG.UNION);
        }
        List parts = new ArrayList();
        for (int i = 0; i < first.getNumGeometries(); i++) {
            if (operation == OverlayNG.DIFFERENCE) {
                Geometry rest = first.getGeometryN(i);
                for (int k = 0; k < second.getNumGeometries(); k++) rest = overlay(rest, second.getGeometryN(k), operation);
                parts.add(rest);
            } else {
                for (int k = 0; k < second.getNumGeometries(); k++) parts.add(overlay(first.getGeometryN(i), second.getGeometryN(k), operation));
            }
        }
        return OverlayNGRobust.union(GeoValue.FACTORY.createGeometryCollection((Geometry[]) parts.toArray(new Geometry[parts.size()])));
    }

    private static boolean isMixed(Geometry g) {
        return GeoValue.type(g) == GeoValue.COLLECTION;
    }

    static Object st_union(Object[] a) {
        return overlay(a, OverlayNG.UNION, "st_union");
    }

    static Object st_intersection(Object[] a) {
        return overlay(a, OverlayNG.INTERSECTION, "st_intersection");
    }

    static Object st_difference(Object[] a) {
        return overlay(a, OverlayNG.DIFFERENCE, "st_difference");
    }

    static Object st_symdifference(Object[] a) {
        return overlay(a, OverlayNG.SYMDIFFERENCE, "st_symdifference");
    }

    static Object st_buffer(Object[] a) {
        return geo(a).flat(geo(a).shape.buffer(((Double) a[1]).doubleValue()));
    }

    static Object st_convexhull(Object[] a) {
        return geo(a).flat(geo(a).shape.convexHull());
    }

    static Object st_concavehull(Object[] a) {
        double ratio = ((Double) a[1]).doubleValue();
        if (!(ratio >= 0 && ratio <= 1)) {
            throw GeoErrors.argument("st_concavehull", "LENGTH_RATIO_OUT_OF_BOUNDS",
                "The length ratio must be in [0, 1]; value found: " + GeoTextWriter.number(ratio) + ".");
        }
        boolean holes = a[2] != null && ((Boolean) a[2]).booleanValue();
        return geo(a).flat(ConcaveHull.concaveHullByLengthRatio(geo(a).shape, ratio, holes).norm());
    }

    static Object st_centroid(Object[] a) {
        return geo(a).flat(geo(a).shape.getCentroid());
    }

    static Object st_pointonsurface(Object[] a) {
        return geo(a).flat(geo(a).shape.getInteriorPoint());
    }

    static Object st_boundary(Object[] a) {
        if (isMixed(geo(a).shape)) {
            throw GeoErrors.type("st_boundary", 1, "ST_Point, ST_LineString, ST_Polygon, ST_MultiPoint, ST_MultiLineString, ST_MultiPolygon");
        }
        return geo(a).with(geo(a).shape.getBoundary());
    }

    static Object st_simplify(Object[] a) {
        return geo(a).with(DouglasPeuckerSimplifier.simplify(geo(a).shape, Math.max(0, ((Double) a[1]).doubleValue())));
    }

    /** Between longitudes and latitudes (4326) and Web Mercator (3857); there is no library of other projections here. */
    static Object st_transform(Object[] a) {
        int to = ((Integer) a[1]).intValue();
        int from = geo(a).srid;
        boolean known = (from == 4326 || from == 3857) && (to == 4326 || to == 3857);
        if (!known && from != to) {
            throw new Signal("UNSUPPORTED_SQL", "0A000", "st_transform from SRID " + from + " to " + to
                + " needs a library of projections, which a local session lacks. SRIDs 4326 and 3857 are supported.");
        }
        Geometry copy = geo(a).shape.copy();
        if (from != to) copy.apply(new Projection(to == 3857));
        return new GeoValue(copy, geo(a).z, geo(a).m, to, false);
    }

    public static class Projection implements org.locationtech.jts.geom.CoordinateSequenceFilter {
        private final boolean toMercator;

        Projection(boolean toMercator) {
            this.toMercator = toMercator;
        }

        public void filter(org.locationtech.jts.geom.CoordinateSequence all, int i) {
            double x = all.getX(i);
            double y = all.getY(i);
            if (toMercator) {
                all.setOrdinate(i, 0, RADIUS * Math.toRadians(x));
                all.setOrdinate(i, 1, RADIUS * Math.log(Math.tan(Math.PI / 4 + Math.toRadians(y) / 2)));
            } else {
                all.setOrdinate(i, 0, Math.toDegrees(x / RADIUS));
                all.setOrdinate(i, 1, Math.toDegrees(2 * Math.atan(Math.exp(y / RADIUS)) - Math.PI / 2));
            }
        }

        public boolean isDone() {
            return false;
        }

        public boolean isGeometryChanged() {
            return true;
        }
    }

    /** The union of all shapes. */
    static Geometry union(List shapes) {
        return OverlayNGRobust.union(GeoValue.FACTORY.createGeometryCollection((Geometry[]) shapes.toArray(new Geometry[shapes.size()]))).norm();
    }
}

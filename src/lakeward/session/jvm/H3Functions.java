package lakeward;

import com.uber.h3core.exceptions.H3Exception;
import com.uber.h3core.util.LatLng;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.locationtech.jts.geom.Coordinate;
import org.locationtech.jts.geom.Geometry;

/** The `h3_` functions of cells: neighbors, parents, children, boundaries, conversions. */
public class H3Functions {

    private H3Functions() {
    }

    static Object h3_h3tostring(Object[] a) {
        return H3Cells.h3().h3ToString(H3Cells.cell(a[0]));
    }

    static Object h3_stringtoh3(Object[] a) {
        return Long.valueOf(H3Cells.cell(a[0]));
    }

    static Object h3_isvalid(Object[] a) {
        Long number = H3Cells.number(a[0]);
        return Boolean.valueOf(number != null && H3Cells.h3().isValidCell(number.longValue()));
    }

    static Object h3_validate(Object[] a) {
        if (!((Boolean) h3_isvalid(a)).booleanValue()) throw H3Cells.invalid(a[0]);
        return a[0];
    }

    static Object h3_try_validate(Object[] a) {
        return ((Boolean) h3_isvalid(a)).booleanValue() ? a[0] : null;
    }

    static Object h3_ispentagon(Object[] a) {
        return Boolean.valueOf(H3Cells.h3().isPentagon(H3Cells.cell(a[0])));
    }

    static Object h3_resolution(Object[] a) {
        return Integer.valueOf(H3Cells.h3().getResolution(H3Cells.cell(a[0])));
    }

    static Object h3_longlatash3(Object[] a) {
        double longitude = ((Double) a[0]).doubleValue();
        double latitude = ((Double) a[1]).doubleValue();
        return Long.valueOf(H3Cells.h3().latLngToCell(latitude, longitude, H3Cells.resolution(a[2])));
    }

    static Object h3_longlatash3string(Object[] a) {
        return H3Cells.h3().h3ToString(((Long) h3_longlatash3(a)).longValue());
    }

    static Object h3_toparent(Object[] a) {
        long cell = H3Cells.cell(a[0]);
        int most = H3Cells.h3().getResolution(cell);
        return H3Cells.like(a[0], H3Cells.h3().cellToParent(cell, H3Cells.resolution(a[1], 0, most)));
    }

    private static List children(Object[] a) {
        long cell = H3Cells.cell(a[0]);
        int resolution = H3Cells.resolution(a[1], H3Cells.h3().getResolution(cell), H3Cells.FINEST);
        return H3Cells.h3().cellToChildren(cell, resolution);
    }

    static Object h3_tochildren(Object[] a) {
        return H3Cells.like(a[0], children(a));
    }

    static Object h3_minchild(Object[] a) {
        return H3Cells.like(a[0], childAt(a, false));
    }

    static Object h3_maxchild(Object[] a) {
        return H3Cells.like(a[0], childAt(a, true));
    }

    /** Children are in ascending order. */
    private static long childAt(Object[] a, boolean last) {
        long cell = H3Cells.cell(a[0]);
        int resolution = H3Cells.resolution(a[1], H3Cells.h3().getResolution(cell), H3Cells.FINEST);
        long position = last ? H3Cells.h3().cellToChildrenSize(cell, resolution) - 1 : 0;
        return H3Cells.h3().childPosToCell(position, cell, resolution);
    }

    static Object h3_ischildof(Object[] a) {
        long child = H3Cells.cell(a[0]);
        long parent = H3Cells.cell(a[1]);
        int resolution = H3Cells.h3().getResolution(parent);
        if (resolution > H3Cells.h3().getResolution(child)) return Boolean.FALSE;
        return Boolean.valueOf(H3Cells.h3().cellToParent(child, resolution) == parent);
    }

    static Object h3_kring(Object[] a) {
        return H3Cells.like(a[0], H3Cells.h3().gridDisk(H3Cells.cell(a[0]), H3Cells.distance(a[1])));
    }

    static Object h3_kringdistances(Object[] a) {
        List rings = H3Cells.h3().gridDiskDistances(H3Cells.cell(a[0]), H3Cells.distance(a[1]));
        List out = new ArrayList();
        for (int k = 0; k < rings.size(); k++) {
            Object[] ring = H3Cells.like(a[0], (List) rings.get(k));
            for (int i = 0; i < ring.length; i++) out.add(new Object[] {ring[i], Integer.valueOf(k)});
        }
        return structs(out);
    }

    static Object[] structs(List all) {
        Object[] out = new Object[all.size()];
        for (int i = 0; i < out.length; i++) {
            Object[] fields = (Object[]) all.get(i);
            for (int k = 0; k < fields.length; k++) {
                if (fields[k] instanceof String) fields[k] = org.apache.spark.unsafe.types.UTF8String.fromString((String) fields[k]);
            }
            out[i] = new GenericInternalRow(fields);
        }
        return out;
    }

    static Object h3_hexring(Object[] a) {
        long cell = H3Cells.cell(a[0]);
        int k = H3Cells.distance(a[1]);
        try {
            return H3Cells.like(a[0], k == 0 ? Collections.singletonList(Long.valueOf(cell)) : H3Cells.h3().gridRingUnsafe(cell, k));
        } catch (H3Exception e) {
            throw GeoErrors.error("H3_PENTAGON_ENCOUNTERED_ERROR", "A pentagon was encountered while computing the hex ring of "
                + H3Cells.h3().h3ToString(cell) + " with grid distance " + k + ".");
        }
    }

    static Object h3_distance(Object[] a) {
        Object distance = h3_try_distance(a);
        if (distance != null) return distance;
        throw GeoErrors.error("H3_UNDEFINED_GRID_DISTANCE", "H3 grid distance between " + a[0] + " and " + a[1] + " is undefined.");
    }

    static Object h3_try_distance(Object[] a) {
        long first = H3Cells.cell(a[0]);
        long second = H3Cells.cell(a[1]);
        try {
            return Long.valueOf(H3Cells.h3().gridDistance(first, second));
        } catch (H3Exception e) {
            return null;
        }
    }

    private static List cells(Object given) {
        Object[] all = (Object[]) given;
        List out = new ArrayList();
        for (int i = 0; i < all.length; i++) if (all[i] != null) out.add(Long.valueOf(H3Cells.cell(all[i])));
        return out;
    }

    /** A cell of the array, which tells their form. */
    private static Object sample(Object given) {
        Object[] all = (Object[]) given;
        for (int i = 0; i < all.length; i++) if (all[i] != null) return all[i];
        return null;
    }

    static Object h3_compact(Object[] a) {
        return H3Cells.like(sample(a[0]), H3Cells.h3().compactCells(cells(a[0])));
    }

    static Object h3_uncompact(Object[] a) {
        List all = cells(a[0]);
        int least = 0;
        for (int i = 0; i < all.size(); i++) least = Math.max(least, H3Cells.h3().getResolution(((Long) all.get(i)).longValue()));
        return H3Cells.like(sample(a[0]), H3Cells.h3().uncompactCells(all, H3Cells.resolution(a[1], least, H3Cells.FINEST)));
    }

    private static GeoValue flat(Geometry shape) {
        return new GeoValue(shape, false, false, 4326, false);
    }

    private static GeoValue center(Object[] a) {
        return flat(GeoValue.FACTORY.createPoint(coordinate(H3Cells.h3().cellToLatLng(H3Cells.cell(a[0])))));
    }

    static Coordinate coordinate(LatLng at) {
        return new Coordinate(at.lng, at.lat);
    }

    static Geometry boundary(long cell) {
        List corners = H3Cells.h3().cellToBoundary(cell);
        Coordinate[] ring = new Coordinate[corners.size() + 1];
        for (int i = 0; i < ring.length; i++) ring[i] = coordinate((LatLng) corners.get(i % corners.size()));
        return GeoValue.FACTORY.createPolygon(ring);
    }

    static Object h3_centeraswkt(Object[] a) {
        return GeoTextWriter.wkt(center(a));
    }

    static Object h3_centeraswkb(Object[] a) {
        return GeoBinaryWriter.wkb(center(a), ByteOrder.LITTLE_ENDIAN);
    }

    static Object h3_centerasgeojson(Object[] a) {
        return GeoTextWriter.json(center(a));
    }

    static Object h3_boundaryaswkt(Object[] a) {
        return GeoTextWriter.wkt(flat(boundary(H3Cells.cell(a[0]))));
    }

    static Object h3_boundaryaswkb(Object[] a) {
        return GeoBinaryWriter.wkb(flat(boundary(H3Cells.cell(a[0]))), ByteOrder.LITTLE_ENDIAN);
    }

    static Object h3_boundaryasgeojson(Object[] a) {
        return GeoTextWriter.json(flat(boundary(H3Cells.cell(a[0]))));
    }
}

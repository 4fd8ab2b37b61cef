package lakeward;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.locationtech.jts.geom.CoordinateSequence;
import org.locationtech.jts.geom.Geometry;
import org.locationtech.jts.geom.LineString;
import org.locationtech.jts.geom.Point;
import org.locationtech.jts.geom.Polygon;

/** Writes WKB, with ISO's codes of dimensions, and EWKB, with flags for them and the SRID if it is not 0. */
public class GeoBinaryWriter {

    private final boolean z;
    private final boolean m;
    private final boolean isExtended;
    private ByteBuffer out;

    private GeoBinaryWriter(GeoValue value, ByteOrder order, boolean isExtended) {
        z = value.z;
        m = value.m;
        this.isExtended = isExtended;
        out = ByteBuffer.allocate(64 + value.shape.getNumPoints() * 8 * value.dimensions()).order(order);
    }

    static byte[] wkb(GeoValue value, ByteOrder order) {
        return new GeoBinaryWriter(value, order, false).bytes(value.shape, 0);
    }

    static byte[] ewkb(GeoValue value, ByteOrder order) {
        return new GeoBinaryWriter(value, order, true).bytes(value.shape, value.srid);
    }

    private byte[] bytes(Geometry shape, int srid) {
        write(shape, srid);
        byte[] all = new byte[out.position()];
        System.arraycopy(out.array(), 0, all, 0, all.length);
        return all;
    }

    private ByteBuffer room(int bytes) {
        if (out.remaining() < bytes) {
            ByteBuffer larger = ByteBuffer.allocate(Math.max(out.capacity() * 2, out.position() + bytes)).order(out.order());
            out.flip();
            larger.put(out);
            out = larger;
        }
        return out;
    }

    private void write(Geometry g, int srid) {
        room(9).put((byte) (out.order() == ByteOrder.LITTLE_ENDIAN ? 1 : 0));
        int type = GeoValue.type(g);
        if (isExtended) {
            out.putInt(type | (z ? 0x80000000 : 0) | (m ? 0x40000000 : 0) | (srid != 0 ? 0x20000000 : 0));
            if (srid != 0) out.putInt(srid);
        } else {
            out.putInt(type + (z ? 1000 : 0) + (m ? 2000 : 0));
        }
        if (g instanceof Point) {
            point((Point) g);
        } else if (g instanceof LineString) {
            points(((LineString) g).getCoordinateSequence());
        } else if (g instanceof Polygon) {
            polygon((Polygon) g);
        } else {
            room(4).putInt(g.getNumGeometries());
            for (int i = 0; i < g.getNumGeometries(); i++) write(g.getGeometryN(i), 0);
        }
    }

    private void polygon(Polygon p) {
        if (p.isEmpty()) {
            room(4).putInt(0);
            return;
        }
        room(4).putInt(1 + p.getNumInteriorRing());
        points(p.getExteriorRing().getCoordinateSequence());
        for (int i = 0; i < p.getNumInteriorRing(); i++) points(p.getInteriorRingN(i).getCoordinateSequence());
    }

    private void points(CoordinateSequence all) {
        room(4).putInt(all.size());
        for (int i = 0; i < all.size(); i++) ordinates(all, i);
    }

    private void point(Point p) {
        if (!p.isEmpty()) {
            ordinates(p.getCoordinateSequence(), 0);
            return;
        }
        int n = 2 + (z ? 1 : 0) + (m ? 1 : 0);
        for (int k = 0; k < n; k++) room(8).putDouble(Double.NaN);
    }

    private void ordinates(CoordinateSequence all, int i) {
        room(32).putDouble(all.getX(i)).putDouble(all.getY(i));
        if (z) out.putDouble(all.getZ(i));
        if (m) out.putDouble(all.getM(i));
    }
}

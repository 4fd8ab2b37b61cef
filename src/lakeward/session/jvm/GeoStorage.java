package lakeward;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.GeographyType;
import org.apache.spark.sql.types.GeometryType;
import org.apache.spark.unsafe.types.BinaryView;

/** Values of columns: four bytes of SRID, little-endian, and the WKB, as Spark stores them. */
public class GeoStorage {

    private static final int HEADER = 4;

    private GeoStorage() {
    }

    static GeoValue read(Object stored, DataType type) {
        byte[] bytes = ((BinaryView) stored).getBytes();
        int srid = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt();
        return new GeoBinaryReader(bytes, HEADER, "WKB_PARSE_ERROR").read(srid, type instanceof GeographyType);
    }

    /** Raises ST_INVALID_SRID_VALUE. */
    static Object write(GeoValue value) {
        int srid = value.srid;
        boolean supported = value.isGeography ? GeographyType.isSridSupported(srid) : GeometryType.isSridSupported(srid);
        if (!supported) throw GeoErrors.srid(srid);
        byte[] wkb = GeoBinaryWriter.wkb(value, ByteOrder.LITTLE_ENDIAN);
        ByteBuffer out = ByteBuffer.allocate(HEADER + wkb.length).order(ByteOrder.LITTLE_ENDIAN);
        return BinaryView.fromBytes(out.putInt(srid).put(wkb).array());
    }
}

package lakeward;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.razorvine.pickle.Unpickler;
import net.razorvine.pickle.objects.ClassDict;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.spark.TaskContext;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.paths.SparkPath;
import org.apache.spark.sql.avro.AvroFileFormat;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.execution.datasources.v2.python.PythonStreamingInputPartition;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Function1;
import scala.collection.Iterator;

/** Files of a micro-batch of Auto Loader, read by Spark's own readers of Parquet (as column vectors) and Avro (as rows). */
public class AutoLoaderScan {

    /** How the output is composed: columns that are in the files, and columns with one value for each file. */
    public static class Layout implements Serializable {
        final String format;
        final StructType data;
        final StructType constants;
        /** For each output column its place among those of the files, followed by the constants. */
        final int[] order;
        final HashMap errors = new HashMap();

        Layout(String format, StructType data, StructType constants, int[] order) {
            this.format = format;
            this.data = data;
            this.constants = constants;
            this.order = order;
        }

        static Layout of(JsonNode layout, StructType output) {
            StructType data = chosen((JsonNode) layout.get("data"), output);
            StructType constants = chosen((JsonNode) layout.get("constants"), output);
            int[] order = new int[output.length()];
            Map places = new HashMap();
            for (int i = 0; i < data.length(); i++) places.put(data.fieldNames()[i], Integer.valueOf(i));
            for (int i = 0; i < constants.length(); i++) places.put(constants.fieldNames()[i], Integer.valueOf(data.length() + i));
            for (int i = 0; i < order.length; i++) order[i] = ((Integer) places.get(output.fieldNames()[i])).intValue();
            Layout made = new Layout(((JsonNode) layout.get("format")).asText(), data, constants, order);
            java.util.Iterator kinds = layout.get("errors").fieldNames();
            while (kinds.hasNext()) {
                String kind = (String) kinds.next();
                made.errors.put(kind, layout.get("errors").get(kind).asText());
            }
            return made;
        }

        private static StructType chosen(JsonNode names, StructType output) {
            StructField[] fields = new StructField[names.size()];
            for (int i = 0; i < fields.length; i++) fields[i] = output.apply(((JsonNode) names.get(i)).asText());
            return new StructType(fields);
        }

        boolean isOrdered() {
            for (int i = 0; i < order.length; i++) {
                if (order[i] != i) return false;
            }
            return true;
        }

        /** The constants of a file from Python's values: days, microseconds, numbers and strings. */
        InternalRow values(Object[] given) {
            Object[] values = new Object[given.length];
            for (int i = 0; i < values.length; i++) values[i] = given[i] == null ? null : value(given[i], constants.fields()[i].dataType());
            return new GenericInternalRow(values);
        }

        private static Object value(Object given, DataType type) {
            if (type instanceof StringType) return UTF8String.fromString((String) given);
            if (type instanceof BooleanType) return given;
            if (type instanceof DoubleType) return Double.valueOf(((Number) given).doubleValue());
            if (type instanceof IntegerType || type instanceof DateType) return Integer.valueOf(((Number) given).intValue());
            if (type instanceof LongType || type instanceof TimestampType || type instanceof TimestampNTZType) {
                return Long.valueOf(((Number) given).longValue());
            }
            throw new IllegalArgumentException("a constant of type " + type);
        }
    }

    /** A part of a file; `shown` is its name in messages. */
    public static class Part implements Serializable {
        final String path;
        final String shown;
        final long start;
        final long length;
        final long size;
        final long modified;
        final Object[] constants;

        Part(Object[] given) {
            path = (String) given[0];
            shown = (String) given[1];
            start = ((Number) given[2]).longValue();
            length = ((Number) given[3]).longValue();
            size = ((Number) given[4]).longValue();
            modified = ((Number) given[5]).longValue();
            constants = (Object[]) given[6];
        }
    }

    public static class Partition implements InputPartition {
        /** The names of the module and the class in Python, near the begin of the pickled form. */
        private static final String MARK = "scan_planning\u0094\u008c\rScanPartition";
        private static final int HEAD = 160;
        final Part[] parts;
        boolean mixed = false;

        Partition(Part[] parts) {
            this.parts = parts;
        }

        /** The partition that Python has planned for this scan; null for one that Python workers read. */
        static Partition of(PythonStreamingInputPartition planned) {
            byte[] pickled = planned.pickedPartition();
            String head = new String(pickled, 0, Math.min(HEAD, pickled.length), StandardCharsets.ISO_8859_1);
            if (head.indexOf(MARK) < 0) return null;
            Unpickler unpickler = new Unpickler();
            try {
                List given = (List) ((ClassDict) unpickler.loads(pickled)).get("parts");
                Part[] parts = new Part[given.size()];
                for (int i = 0; i < parts.length; i++) parts[i] = new Part((Object[]) given.get(i));
                return new Partition(parts);
            } catch (IOException e) {
                throw WarehouseCatalog.sneak(e);
            } finally {
                unpickler.close();
            }
        }
    }

    /** Readers of both kinds of partitions; `workers` is null for a batch without partitions of Python. */
    public static class Readers implements PartitionReaderFactory {
        private final Layout layout;
        private final Function1 open;
        private final boolean columnar;
        private final PartitionReaderFactory workers;

        Readers(Layout layout, Function1 open, boolean columnar, PartitionReaderFactory workers) {
            this.layout = layout;
            this.open = open;
            this.columnar = columnar;
            this.workers = workers;
        }

        static Readers of(SparkSession session, Layout layout, PartitionReaderFactory workers) {
            FileFormat format = "avro".equals(layout.format) ? (FileFormat) new AvroFileFormat() : (FileFormat) new ParquetFileFormat();
            StructField[] fields = (StructField[]) Arrays.copyOf(layout.data.fields(), layout.order.length);
            System.arraycopy(layout.constants.fields(), 0, fields, layout.data.length(), layout.constants.length());
            boolean columnar = format.supportBatch(session, new StructType(fields));
            Map options = new HashMap();
            options.put(FileFormat.OPTION_RETURNING_BATCH(), String.valueOf(columnar));
            // Python's readers take dates and times as they are written, and files of every name.
            options.put("datetimeRebaseMode", "CORRECTED");
            options.put("int96RebaseMode", "CORRECTED");
            options.put("ignoreExtension", "true");
            Configuration conf = session.sessionState().newHadoopConf();
            // Paths are real ones, and checksums that Hadoop left next to files may be out of date.
            conf.set("fs.file.impl", RawLocalFileSystem.class.getName());
            conf.setBoolean("fs.file.impl.disable.cache", true);
            Function1 open = format.buildReaderWithPartitionValues(session, layout.data, layout.constants, layout.data,
                PythonUtils.toSeq(Collections.emptyList()), PythonUtils.toScalaMap(options), conf);
            return new Readers(layout, open, columnar, workers);
        }

        public boolean supportColumnarReads(InputPartition partition) {
            return columnar && partition instanceof Partition && !((Partition) partition).mixed;
        }

        public PartitionReader createColumnarReader(InputPartition partition) {
            return new Columns(layout, open, ((Partition) partition).parts);
        }

        public PartitionReader createReader(InputPartition partition) {
            return partition instanceof Partition ? new Rows(layout, open, ((Partition) partition).parts) : workers.createReader(partition);
        }
    }

    /** Reads part after part. */
    abstract static class Reader implements PartitionReader {
        protected final Layout layout;
        private final Function1 open;
        private final Part[] parts;
        private int at = 0;
        private Iterator current = null;

        Reader(Layout layout, Function1 open, Part[] parts) {
            this.layout = layout;
            this.open = open;
            this.parts = parts;
        }

        /** The next element of the parts, null at the end. */
        protected Object element() {
            while (true) {
                if (current == null) {
                    if (at == parts.length) return null;
                    at++;
                }
                Part part = parts[at - 1];
                try {
                    if (current == null) current = opened(part);
                    if (current.hasNext()) return current.next();
                } catch (Throwable e) {
                    TaskContext task = TaskContext.get();
                    if (e instanceof Error || task != null && task.isInterrupted()) throw WarehouseCatalog.sneak(e);
                    throw failure(layout, part, e);
                }
                current = null;
            }
        }

        private Iterator opened(Part part) throws IOException {
            File file = new File(part.path);
            if (!file.exists()) throw new FileNotFoundException(part.path);
            if (file.length() != part.size || file.lastModified() != part.modified) throw new Changed();
            Object values = layout.values(part.constants);
            Path path = new Path("file", null, part.path);
            scala.collection.immutable.Map none = PythonUtils.toScalaMap(Collections.emptyMap());
            return (Iterator) open.apply(new PartitionedFile((InternalRow) values, SparkPath.fromPath(path), part.start, part.length,
                new String[0], part.modified, part.size, none));
        }

        public void close() {
        }
    }

    static class Changed extends IOException {
    }

    /** The errors of the Python readers, in the form that error_translation.py recognizes. */
    static RuntimeException failure(Layout layout, Part part, Throwable cause) {
        String kind = cause instanceof FileNotFoundException ? "missing" : cause instanceof Changed ? "changed" : "corrupt";
        String reason = String.valueOf(cause.getMessage()).replaceAll("\\s+", " ").trim();
        String text = (String) layout.errors.get(kind);
        return new RuntimeException(text.replace("{file}", part.shown).replace("{reason}", reason), cause);
    }

    /** Batches of column vectors in the order of the output; nothing is copied. */
    static class Columns extends Reader {
        private ColumnarBatch batch;

        Columns(Layout layout, Function1 open, Part[] parts) {
            super(layout, open, parts);
        }

        public boolean next() {
            ColumnarBatch read = (ColumnarBatch) element();
            batch = read == null ? null : ordered(read, layout);
            return batch != null;
        }

        static ColumnarBatch ordered(ColumnarBatch read, Layout layout) {
            if (layout.isOrdered()) return read;
            ColumnVector[] vectors = new ColumnVector[layout.order.length];
            for (int i = 0; i < vectors.length; i++) vectors[i] = read.column(layout.order[i]);
            return new ColumnarBatch(vectors, read.numRows());
        }

        public Object get() {
            return batch;
        }
    }

    static class Rows extends Reader {
        private final UnsafeProjection projection;
        private java.util.Iterator rows = Collections.emptyIterator();
        private InternalRow row;

        Rows(Layout layout, Function1 open, Part[] parts) {
            super(layout, open, parts);
            projection = layout.isOrdered() ? null : projection(layout);
        }

        private static UnsafeProjection projection(Layout layout) {
            BoundReference[] columns = new BoundReference[layout.order.length];
            for (int i = 0; i < columns.length; i++) {
                int place = layout.order[i];
                int own = layout.data.length();
                StructField field = place < own ? layout.data.fields()[place] : layout.constants.fields()[place - own];
                columns[i] = new BoundReference(place, field.dataType(), true);
            }
            return UnsafeProjection$.MODULE$.create(PythonUtils.toSeq(Arrays.asList(columns)));
        }

        public boolean next() {
            if (!rows.hasNext()) {
                Object read = element();
                while (read instanceof ColumnarBatch) {
                    rows = Columns.ordered((ColumnarBatch) read, layout).rowIterator();
                    if (rows.hasNext()) break;
                    read = element();
                }
                if (!(read instanceof ColumnarBatch)) {
                    row = read == null || projection == null ? (InternalRow) read : projection.apply((InternalRow) read);
                    return row != null;
                }
            }
            row = (InternalRow) rows.next();
            return true;
        }

        public Object get() {
            return row;
        }
    }
}

package lakeward;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;

/**
 * The local disk under the user's names: /Volumes/…, dbfs:/…, s3://bucket/… are folders of the state
 * folder, every other path is itself. Statuses carry the user's names again, so that listings, globs,
 * Delta logs and checkpoints never show the folder behind.
 */
public class MappedFileSystem extends LocalFileSystem {

    public MappedFileSystem() {
        super(new Raw());
    }

    public String getScheme() {
        return ((Raw) getRaw()).scheme();
    }

    public File pathToFile(Path path) {
        return ((Raw) getRaw()).pathToFile(path);
    }

    public static class Raw extends RawLocalFileSystem {
        private PathMap map = new PathMap("");
        private static final URI FILE = URI.create("file:///");
        private URI root = FILE;

        String scheme() {
            return root.getScheme();
        }

        public void initialize(URI uri, Configuration conf) throws IOException {
            map = new PathMap(conf.get(PathMap.SETTING));
            root = URI.create(uri.getScheme() + "://" + (uri.getAuthority() == null ? "/" : uri.getAuthority()));
            super.initialize(uri, conf);
            if (!root.getScheme().equals("file")) setWorkingDirectory(new Path(root.toString() + (uri.getAuthority() == null ? "" : "/")));
        }

        public Path getWorkingDirectory() {
            String folder = Home.folder();
            return folder != null && getUri().getScheme().equals("file") ? new Path("file", null, folder) : super.getWorkingDirectory();
        }

        /** Asked by the superclass's constructor, before this object has any field. */
        public URI getUri() {
            return root == null ? FILE : root;
        }

        public File pathToFile(Path path) {
            checkPath(path);
            Path absolute = path.isAbsolute() ? path : new Path(getWorkingDirectory(), path);
            String name = absolute.toUri().getPath();
            PathMap now = Home.paths(map);
            File mapped = now.local(asWritten(name));
            if (mapped == null && root.getScheme().equals("dbfs")) mapped = now.local(name);
            if (mapped != null) return mapped;
            if (root.getScheme().equals("file")) return new File(name);
            throw new IllegalArgumentException("No local folder is mounted for " + asWritten(name)
                + ". Mount one with --mount " + root + "=FOLDER.");
        }

        private String asWritten(String name) {
            if (root.getScheme().equals("file")) return name;
            if (root.getScheme().equals("dbfs")) return "dbfs:" + name;
            return root.toString() + name;
        }

        public FileStatus getFileStatus(Path path) throws IOException {
            FileStatus status = super.getFileStatus(path);
            status.setPath(makeQualified(path));
            return status;
        }

        public FileStatus getFileLinkStatus(Path path) throws IOException {
            return getFileStatus(path);
        }

        public FileStatus[] listStatus(Path path) throws IOException {
            FileStatus[] statuses = super.listStatus(path);
            Path parent = makeQualified(path);
            boolean single = pathToFile(path).isFile();
            for (int i = 0; i < statuses.length; i++) {
                statuses[i].setPath(single ? parent : new Path(parent, statuses[i].getPath().getName()));
            }
            return statuses;
        }
    }
}

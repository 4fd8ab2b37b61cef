package lakeward;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Shell;

/**
 * The local disk under platform paths: /Volumes/…, dbfs:/…, s3://bucket/… map to folders of the state
 * folder, other paths are not changed. fs.defaultFS decides whether /x is file:/x or dbfs:/x
 * (session/path_rules.py). Statuses are mapped back, so that listings, globs, Delta logs and checkpoints
 * hold platform paths only.
 */
public class MappedFileSystem extends LocalFileSystem {

    public MappedFileSystem() {
        super(new Raw());
    }

    /** Hadoop keeps a hidden checksum next to each file; storage and volumes have none, so listings would differ. */
    public void initialize(URI uri, Configuration conf) throws IOException {
        super.initialize(uri, conf);
        setWriteChecksum(false);
        setVerifyChecksum(false);
    }

    public String getScheme() {
        return ((Raw) getRaw()).scheme();
    }

    public File pathToFile(Path path) {
        return ((Raw) getRaw()).pathToFile(path);
    }

    /** RocksDB's state is copied to its checkpoint. The superclass takes a file of this machine for one of this file system. */
    public void copyFromLocalFile(boolean delete, Path from, Path to) throws IOException {
        if (isOwn(from)) super.copyFromLocalFile(delete, from, to);
        else FileUtil.copy(getLocal(getConf()), from, this, to, delete, getConf());
    }

    public void copyToLocalFile(boolean delete, Path from, Path to) throws IOException {
        if (isOwn(to)) super.copyToLocalFile(delete, from, to);
        else FileUtil.copy(this, from, getLocal(getConf()), to, delete, getConf());
    }

    private boolean isOwn(Path path) {
        String scheme = path.toUri().getScheme();
        return getScheme().equals(scheme == null ? "file" : scheme);
    }

    public static class Raw extends RawLocalFileSystem {
        private PathMap map = new PathMap("");
        private static final URI FILE = URI.create("file:///");
        private URI root = FILE;

        String scheme() {
            return root.getScheme();
        }

        public void initialize(URI uri, Configuration conf) throws IOException {
            if ("dbfs".equals(uri.getScheme()) && uri.getAuthority() != null) {
                throw new IllegalArgumentException("Hostname not allowed in dbfs uri. Please use 'dbfs:/' instead of "
                    + "'dbfs://' in uri: " + uri);
            }
            map = new PathMap(conf.get(PathMap.SETTING));
            root = URI.create(uri.getScheme() + "://" + (uri.getAuthority() == null ? "/" : uri.getAuthority()));
            super.initialize(uri, conf);
            if (!root.getScheme().equals("file")) setWorkingDirectory(new Path(root.toString() + (uri.getAuthority() == null ? "" : "/")));
        }

        public Path getWorkingDirectory() {
            String folder = LakehouseSettings.folder();
            String scheme = getUri().getScheme();
            // Relative paths are resolved against the working directory under both rules for paths without a scheme.
            if (scheme.equals("dbfs") && map != null && LakehouseSettings.paths(map).rootIsDbfs()) {
                return new Path("dbfs", null, folder != null ? folder : System.getProperty("user.dir"));
            }
            return folder != null && scheme.equals("file") ? new Path("file", null, folder) : super.getWorkingDirectory();
        }

        /** Called by the superclass's constructor, before the fields of this object are set. */
        public URI getUri() {
            return root == null ? FILE : root;
        }

        public File pathToFile(Path path) {
            checkPath(path);
            Path absolute = path.isAbsolute() ? path : new Path(getWorkingDirectory(), path);
            String name = absolute.toUri().getPath();
            PathMap now = LakehouseSettings.paths(map);
            File mapped = find(now, name);
            if (mapped != null) return mapped;
            if (root.getScheme().equals("file")) return new File(name);
            throw UnmappedFileSystem.error(asWritten(name), root.toString());
        }

        private File find(PathMap now, String name) {
            if (root.getScheme().equals("file")) return now.onDriver(name);
            if (root.getScheme().equals("dbfs") && now.rootIsDbfs()) return now.local(name);
            return now.local(asWritten(name));
        }

        private String asWritten(String name) {
            if (root.getScheme().equals("file")) return name;
            if (root.getScheme().equals("dbfs")) return "dbfs:" + name;
            return root.toString() + name;
        }

        public boolean mkdirs(Path path) throws IOException {
            makeParents(path);
            return super.mkdirs(path);
        }

        public boolean mkdirs(Path path, FsPermission permission) throws IOException {
            makeParents(path);
            return super.mkdirs(path, permission);
        }

        /** The superclass makes the folders above the platform path, which are others than those above a mapped folder. */
        private void makeParents(Path path) {
            File folder = pathToFile(path);
            requireVolume(folder);
            File parent = folder.getParentFile();
            if (parent != null) parent.mkdirs();
        }

        /** A folder below /Volumes that is in no volume would be a volume without a declaration; as in volume_folders.py. */
        private void requireVolume(File folder) {
            PathMap now = LakehouseSettings.paths(map);
            String[] names = now.belowVolumes(folder);
            File found = now.local("/Volumes");
            for (int i = 0; i < names.length && i < 3; i++) {
                found = new File(found, names[i]);
                if (!found.isDirectory()) throw UnmappedFileSystem.noVolume(names);
            }
        }

        /** Deleting a volume or a mounted folder, as each overwrite does, leaves it empty: DROP VOLUME removes a volume. */
        public boolean delete(Path path, boolean recursive) throws IOException {
            File folder = pathToFile(path);
            if (!folder.isDirectory() || !isVolumeOrMount(folder)) return super.delete(path, recursive);
            String[] names = folder.list();
            boolean empty = names != null && names.length == 0;
            if (!recursive && !empty) return super.delete(path, false);
            return recursive && FileUtil.fullyDeleteContents(folder);
        }

        /** As in volume_folders.py. */
        private boolean isVolumeOrMount(File folder) {
            PathMap now = LakehouseSettings.paths(map);
            String[] names = now.belowVolumes(folder);
            return names.length > 0 ? names.length == 3 : now.isMapped(folder);
        }

        public FileStatus getFileStatus(Path path) throws IOException {
            return named(super.getFileStatus(path), path, makeQualified(path));
        }

        /**
         * The status under the platform path. Hadoop's class loads permissions by path on demand, which works for
         * local paths only; storage and volumes have no permissions.
         */
        private FileStatus named(FileStatus status, Path written, Path shown) throws IOException {
            if (root.getScheme().equals("file") && pathToFile(written).getPath().equals(shown.toUri().getPath())) {
                status.setPath(shown);
                return status;
            }
            return new FileStatus(status.getLen(), status.isDirectory(), status.getReplication(), status.getBlockSize(),
                status.getModificationTime(), status.getAccessTime(), null, null, null, shown);
        }

        /** Without Hadoop's native library, which Spark's packages lack, the superclass starts a chmod per file. */
        public void setPermission(Path path, FsPermission permission) throws IOException {
            if (Shell.WINDOWS || permission.getStickyBit()) {
                super.setPermission(path, permission);
                return;
            }
            String bits = permission.getUserAction().SYMBOL + permission.getGroupAction().SYMBOL + permission.getOtherAction().SYMBOL;
            Files.setPosixFilePermissions(pathToFile(path).toPath(), PosixFilePermissions.fromString(bits));
        }

        public FileStatus getFileLinkStatus(Path path) throws IOException {
            return getFileStatus(path);
        }

        public FileStatus[] listStatus(Path path) throws IOException {
            FileStatus[] statuses = super.listStatus(path);
            Path parent = makeQualified(path);
            boolean single = pathToFile(path).isFile();
            for (int i = 0; i < statuses.length; i++) {
                Path shown = single ? parent : new Path(parent, statuses[i].getPath().getName());
                statuses[i] = named(statuses[i], shown, shown);
            }
            return statuses;
        }
    }
}

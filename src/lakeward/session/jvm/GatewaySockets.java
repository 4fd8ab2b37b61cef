package lakeward;

import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import py4j.ClientServerConnection;
import py4j.DefaultGatewayServerListener;
import py4j.GatewayServer;
import py4j.Py4JPythonClient;
import py4j.Py4JPythonClientPerThread;
import py4j.Py4JServerConnection;

/**
 * Sends the answers of a gateway at once. The system would hold back the end of an answer of more than 8 kB until
 * Python has acknowledged its beginning, which takes 40 ms.
 */
public class GatewaySockets extends DefaultGatewayServerListener {

    private static final Map KNOWN = Collections.synchronizedMap(new WeakHashMap());

    /** Let the connection of this thread, and those to come, send at once. */
    public static void sendAtOnce(GatewayServer server) throws Exception {
        if (KNOWN.put(server, Boolean.TRUE) == null) server.addListener(new GatewaySockets());
        Py4JPythonClient client = server.getCallbackClient();
        if (!(client instanceof Py4JPythonClientPerThread)) return;
        ClientServerConnection connection = ((Py4JPythonClientPerThread) client).getPerThreadConnection();
        if (connection != null) connection.getSocket().setTcpNoDelay(true);
    }

    public void connectionStarted(Py4JServerConnection connection) {
        try {
            connection.getSocket().setTcpNoDelay(true);
        } catch (java.net.SocketException closed) {
            // It is slower, or gone.
        }
    }
}

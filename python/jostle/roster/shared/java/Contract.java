import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;

import static java.nio.charset.StandardCharsets.UTF_8;

/** The contract on the JDK's own server; a subclass says whose threads serve. */
abstract class Contract {
    static final String HELLO = "x".repeat(1023) + "\n";
    static final byte[] KILOBYTE = HELLO.getBytes(UTF_8);

    /** Read by every count: a step that the compiler cannot know keeps the loop from being calculated away. */
    static volatile long stride = 1;

    /** Whatever is stored here has to be allocated. */
    static volatile Object sink;

    static final HttpClient peers = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    static final String ITSELF = "http://" + System.getenv("HOST") + ":" + System.getenv("PORT");

    /** Null when the server was started without a database. */
    private final DataSource database = database();

    abstract String name();

    /** How many requests compute, or are served, at once. */
    abstract int workers();

    /** Whose threads serve the requests. */
    abstract Executor threads();

    /** Where the computations of a concurrent pair run beside one another: a future for each. */
    abstract List<Future<Long>> atOnce(Callable<Long> first, Callable<Long> second);

    /** Whether a request to itself would wait for the thread that it holds. */
    boolean isAlone() {
        return false;
    }

    /** A response that is not 200: its message is for the client. */
    static final class Refusal extends Exception {
        private static final long serialVersionUID = 1;
        final int status;

        Refusal(int status, String message) {
            super(message);
            this.status = status;
        }
    }

    record Response(String type, String body) {
        static Response text(Object body) {
            return new Response("text/plain", body.toString());
        }

        static Response json(String format, Object... values) {
            return new Response("application/json", format.formatted(values));
        }
    }

    interface Page {
        Response answer(Request request) throws Exception;
    }

    /** A route that sends its response itself, piece by piece. */
    interface Sender {
        void send(HttpExchange exchange, Request request) throws Exception;
    }

    /** What a page may ask of a request: the numbers in its path and the fields of its query. */
    record Request(Matcher path, String query) {
        long whole(int group, long most) throws Refusal {
            String digits = path.group(group);
            if (digits.matches("\\d{1,18}") && Long.parseLong(digits) <= most) return Long.parseLong(digits);
            throw new Refusal(400, "a whole number from 0 to " + most + " is needed here");
        }

        String field(String name, String otherwise) throws Refusal {
            if (query == null) return otherwise;
            for (String pair : query.split("&")) {
                if (pair.startsWith(name + "=")) return decoded(pair.substring(name.length() + 1));
            }
            return otherwise;
        }

        private static String decoded(String value) throws Refusal {
            try {
                return URLDecoder.decode(value, UTF_8);
            } catch (IllegalArgumentException broken) {
                throw new Refusal(400, "the query is not well encoded");
            }
        }

        double decimal(String name, String otherwise, double most) throws Refusal {
            String value = field(name, otherwise);
            if (value.matches("\\d+(\\.\\d+)?") && Double.parseDouble(value) <= most) return Double.parseDouble(value);
            throw new Refusal(400, "%s must be a number from 0 to %.0f".formatted(name, most));
        }

        String oneOf(String name, String... choices) throws Refusal {
            String value = field(name, choices[0]);
            if (Arrays.asList(choices).contains(value)) return value;
            throw new Refusal(400, name + " must be one of: " + String.join(", ", choices));
        }
    }

    static long count(long n) {
        long step = stride;
        long x = 0;
        while (x < n) x += step;
        return x;
    }

    static long fib(long n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    static Response counted(Request request) throws Refusal {
        return Response.text("Hello, World " + count(request.whole(1, 10_000_000_000L)) + "\n");
    }

    static Response square(Request request) throws Refusal {
        long n = request.whole(1, 1_000_000);
        return Response.text(n * n);
    }

    static Response sleep(Request request) throws Exception {
        double ms = request.decimal("ms", "100", 60_000);
        double jitter = request.decimal("jitter", "0", 1);
        ms *= 1 + jitter * (2 * ThreadLocalRandom.current().nextDouble() - 1);
        Thread.sleep(Duration.ofNanos((long) (ms * 1e6)));
        return Response.text(HELLO);
    }

    interface Finder {
        long find(long n) throws Exception;
    }

    static final Pattern PEER = Pattern.compile("http://[\\w.:-]+(/[\\w./-]*)?");
    static final Pattern FIB_RESULT = Pattern.compile("\\{\\s*\"fibResult\"\\s*:\\s*(\\d{1,18})\\s*\\}");

    static long askPeer(String peer, long n) throws Exception {
        try {
            HttpRequest request = HttpRequest.newBuilder(URI.create(peer + "/fibs/" + n)).build();
            String body = peers.send(request, HttpResponse.BodyHandlers.ofString()).body();
            Matcher result = FIB_RESULT.matcher(body.strip());
            if (result.matches()) return Long.parseLong(result.group(1));
            throw new Refusal(502, "the peer did not answer with a Fibonacci number");
        } catch (IOException failed) {
            throw new Refusal(502, "the peer did not answer: " + failed);
        }
    }

    Finder finder(Request request) throws Refusal {
        if (request.oneOf("where", "local", "remote").equals("local")) return Contract::fib;
        String peer = request.field("peer", "");
        if (!PEER.matcher(peer).matches()) throw new Refusal(400, "where=remote needs peer=http://…");
        if (isAlone() && peer.equals(ITSELF)) throw new Refusal(409, "the only thread would wait for itself for ever");
        return n -> askPeer(peer, n);
    }

    Response pair(Request request) throws Exception {
        long a = request.whole(1, 60);
        long b = request.whole(2, 60);
        Finder finder = finder(request);
        if (request.oneOf("async", "0", "1").equals("0")) {
            return Response.json("{\"a\": %d, \"b\": %d}", finder.find(a), finder.find(b));
        }
        var both = atOnce(() -> finder.find(a), () -> finder.find(b));
        try {
            return Response.json("{\"a\": %d, \"b\": %d}", both.get(0).get(), both.get(1).get());
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof Exception cause ? cause : failed;
        }
    }

    static Response allocateBuffers(Request request) {
        byte[][] buffers = new byte[50][];
        for (int i = 0; i < buffers.length; i++) {
            buffers[i] = new byte[1024];
            Arrays.fill(buffers[i], (byte) 'x');
        }
        sink = buffers;
        return Response.text(HELLO);
    }

    static Response allocateStrings(Request request) {
        String[] strings = new String[50];
        for (int i = 0; i < strings.length; i++) strings[i] = new String(KILOBYTE, UTF_8);
        sink = strings;
        return Response.text(HELLO);
    }

    /** Holds n threads at a gate until the last has arrived, then opens it and waits for all to end. */
    static Response spawn(Request request) throws Exception {
        boolean platform = request.oneOf("kind", "virtual", "os").equals("os");
        int n = (int) request.whole(1, platform ? 10_000 : 1_000_000);
        ThreadFactory factory = platform ? Thread.ofPlatform().daemon().factory() : Thread.ofVirtual().factory();
        var arrived = new CountDownLatch(n);
        var gate = new CountDownLatch(1);
        List<Thread> held = new ArrayList<>(n);
        try {
            for (int i = 0; i < n; i++) {
                Thread thread = factory.newThread(() -> {
                    arrived.countDown();
                    awaitQuietly(gate);
                });
                thread.start();
                held.add(thread);
            }
            arrived.await();
        } catch (OutOfMemoryError noMoreThreads) {
            throw new Refusal(503, "only " + held.size() + " threads could be started");
        } finally {
            gate.countDown();
            for (Thread thread : held) thread.join();
        }
        return Response.text(n);
    }

    /** Each event is due on a schedule that begins with the first one: when one is late, the next is not. */
    static void events(HttpExchange exchange, Request request) throws Exception {
        String count = request.field("n", "20");
        if (!count.matches("\\d{1,6}") || Integer.parseInt(count) > 100_000) {
            throw new Refusal(400, "n must be a whole number from 0 to 100000");
        }
        double gapMs = request.decimal("gap", "50", 60_000);
        exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
        exchange.getResponseHeaders().set("Cache-Control", "no-store");
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.sendResponseHeaders(200, -1);
            return;
        }
        exchange.sendResponseHeaders(200, 0);
        long start = System.nanoTime();
        for (int number = 0; number < Integer.parseInt(count); number++) {
            long due = start + (long) (number * gapMs * 1e6);
            Thread.sleep(Duration.ofNanos(Math.max(0, due - System.nanoTime())));
            exchange.getResponseBody().write(("data: " + (number + 1) + "\n\n").getBytes(UTF_8));
            exchange.getResponseBody().flush();
        }
    }

    /** Four questions, one after the other, on one connection of the pool. */
    Response orders(Request request) throws Exception {
        if (database == null) throw new Refusal(503, "started without a database");
        try (Connection connection = database.getConnection()) {
            int least = number(connection, "SELECT min(id) FROM customers");
            int most = number(connection, "SELECT max(id) FROM customers");
            int id = ThreadLocalRandom.current().nextInt(least, most + 1);
            return new Response("text/html; charset=utf-8", """
                    <!DOCTYPE html>
                    <title>Orders</title>
                    <h1>%s</h1>
                    <ol>
                    %s</ol>
                    """.formatted(escape(customer(connection, id)), items(connection, id)));
        }
    }

    static int number(Connection connection, String query) throws SQLException {
        try (var statement = connection.prepareStatement(query); ResultSet row = statement.executeQuery()) {
            row.next();
            return row.getInt(1);
        }
    }

    static String customer(Connection connection, int id) throws SQLException, Refusal {
        try (var statement = connection.prepareStatement("SELECT id, name FROM customers WHERE id = ?")) {
            statement.setInt(1, id);
            ResultSet row = statement.executeQuery();
            if (!row.next()) throw new Refusal(404, "there is no customer " + id);
            return row.getString("name");
        }
    }

    static String items(Connection connection, int customer) throws SQLException {
        var items = new StringBuilder();
        String query = "SELECT * FROM orders WHERE customer_id = ? ORDER BY ordered_on";
        try (var statement = connection.prepareStatement(query)) {
            statement.setInt(1, customer);
            ResultSet order = statement.executeQuery();
            while (order.next()) {
                items.append("<li>").append(order.getString("ordered_on")).append(": ")
                        .append(escape(order.getString("item"))).append("</li>\n");
            }
        }
        return items.toString();
    }

    static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
    }

    /** A pool for an address of the form postgresql://user:password@host:port/name; null for none. */
    static DataSource database() {
        String url = System.getenv("DATABASE_URL");
        if (url.isEmpty()) return null;
        URI address = URI.create(url);
        var config = new HikariConfig();
        String port = address.getPort() < 0 ? "" : ":" + address.getPort();
        config.setJdbcUrl("jdbc:postgresql://" + address.getHost() + port + address.getRawPath());
        String[] who = address.getUserInfo() == null ? new String[0] : address.getUserInfo().split(":", 2);
        if (who.length > 0) config.setUsername(who[0]);
        if (who.length > 1) config.setPassword(who[1]);
        config.setMaximumPoolSize(Integer.parseInt(System.getenv("POOL")));
        config.setConnectionTimeout(0);  // no limit
        return new HikariDataSource(config);
    }

    static void awaitQuietly(CountDownLatch gate) {
        try {
            gate.await();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    /** Serves a page under a prefix; the rest of the path has to match `rest` whole. */
    static void page(HttpServer server, String prefix, String rest, Page page) {
        route(server, prefix, rest, (exchange, request) -> send(exchange, 200, page.answer(request)));
    }

    static void route(HttpServer server, String prefix, String rest, Sender sender) {
        Pattern whole = Pattern.compile(Pattern.quote(prefix) + rest);
        server.createContext(prefix, exchange -> {
            try (exchange) {
                respond(exchange, whole, sender);
            }
        });
    }

    static void respond(HttpExchange exchange, Pattern pattern, Sender sender) throws IOException {
        try {
            String method = exchange.getRequestMethod();
            if (!method.equals("GET") && !method.equals("HEAD")) {
                exchange.getResponseHeaders().set("Allow", "GET, HEAD");
                throw new Refusal(405, "only GET and HEAD");
            }
            Matcher path = pattern.matcher(exchange.getRequestURI().getPath());
            if (!path.matches()) throw new Refusal(404, "no such route");
            sender.send(exchange, new Request(path, exchange.getRequestURI().getRawQuery()));
        } catch (Refusal refusal) {
            send(exchange, refusal.status, Response.text(refusal.getMessage()));
        } catch (IOException clientHasGone) {
            throw clientHasGone;
        } catch (Exception | Error bug) {
            bug.printStackTrace();
            send(exchange, 500, Response.text("internal error"));
        }
    }

    static void send(HttpExchange exchange, int status, Response response) throws IOException {
        byte[] body = response.body().getBytes(UTF_8);
        exchange.getResponseHeaders().set("Content-Type", response.type());
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.getResponseHeaders().set("Content-Length", String.valueOf(body.length));
            exchange.sendResponseHeaders(status, -1);
        } else {
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    Response root(Request request) {
        return Response.json(
                "{\"name\": \"%s\", \"version\": \"%s\", \"runtime\": \"Java\", \"workers\": %d}",
                name(), Runtime.version(), workers());
    }

    /** Time in which collectors stopped all threads since the start, and how often. */
    static Response collected(Request request) {
        long ms = 0;
        long collections = 0;
        for (var collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            ms += Math.max(0, collector.getCollectionTime()); // -1 where a collector does not tell
            collections += Math.max(0, collector.getCollectionCount());
        }
        return Response.json("{\"seconds\": %s, \"collections\": %d}", ms / 1e3, collections);
    }

    /** Listens where the environment says. */
    void serve() throws IOException {
        var address = new InetSocketAddress(System.getenv("HOST"), Integer.parseInt(System.getenv("PORT")));
        HttpServer server = HttpServer.create(address, 4096);
        server.setExecutor(threads());
        page(server, "/", "", this::root);
        page(server, "/hello", "", request -> Response.text(HELLO));
        page(server, "/sleep", "", Contract::sleep);
        page(server, "/count/", "([^/]*)", Contract::counted);
        page(server, "/fast/", "([^/]*)", Contract::square);
        page(server, "/slow/", "([^/]*)", r -> Response.text(fib(r.whole(1, 60))));
        page(server, "/fibs/", "([^/]*)", r -> Response.json("{\"fibResult\": %d}", fib(r.whole(1, 60))));
        page(server, "/pair/", "([^/]*)/([^/]*)", this::pair);
        page(server, "/alloc/buffers", "", Contract::allocateBuffers);
        page(server, "/alloc/strings", "", Contract::allocateStrings);
        page(server, "/spawn/", "([^/]*)", Contract::spawn);
        page(server, "/orders", "", this::orders);
        route(server, "/events", "", Contract::events);
        page(server, "/gc", "", Contract::collected);
        server.start();
    }
}

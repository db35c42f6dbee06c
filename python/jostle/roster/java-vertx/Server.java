import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.core.json.JsonObject;
import io.vertx.pgclient.PgBuilder;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import java.util.regex.Pattern;

import static java.nio.charset.StandardCharsets.UTF_8;

/** One of the event loops: while it computes, the other connections of its own wait. */
public final class Server extends VerticleBase {
    static final String HELLO = "x".repeat(1023) + "\n";
    static final byte[] KILOBYTE = HELLO.getBytes(UTF_8);
    static final Pattern PEER = Pattern.compile("http://[\\w.:-]+(/[\\w./-]*)?");

    /** Read by every count: a step that the compiler cannot know keeps the loop from being calculated away. */
    static volatile long stride = 1;

    /** Whatever is stored here has to be allocated. */
    static volatile Object sink;

    private final int loops;

    /** Null when the server was started without a database. */
    private final Pool database;
    private HttpClient peers;

    Server(int loops, Pool database) {
        this.loops = loops;
        this.database = database;
    }

    /** A response that is not 200: its message is for the client. */
    static final class Refusal extends RuntimeException {
        private static final long serialVersionUID = 1;
        final int status;

        Refusal(int status, String message) {
            super(message, null, false, false);
            this.status = status;
        }
    }

    record Response(String type, Buffer body) {
        static Response text(Object body) {
            return new Response("text/plain", Buffer.buffer(body.toString()));
        }

        static Response json(JsonObject body) {
            return new Response("application/json", body.toBuffer());
        }
    }

    /** Numbers from 1 on; it begins with the first one: when one is late, the next is not. */
    record Schedule(long count, double gapMs) {
        static Schedule of(HttpServerRequest request) {
            return new Schedule(whole(field(request, "n", "20"), 100_000), decimal(request, "gap", "50", 60_000));
        }
    }

    static long whole(String digits, long most) {
        if (digits.matches("\\d{1,18}") && Long.parseLong(digits) <= most) return Long.parseLong(digits);
        throw new Refusal(400, "a whole number from 0 to " + most + " is needed here");
    }

    static String field(HttpServerRequest request, String name, String otherwise) {
        String value = request.getParam(name);
        return value == null ? otherwise : value;
    }

    static double decimal(HttpServerRequest request, String name, String otherwise, double most) {
        String value = field(request, name, otherwise);
        if (value.matches("\\d*\\.?\\d+") && Double.parseDouble(value) <= most) return Double.parseDouble(value);
        throw new Refusal(400, "%s must be a number from 0 to %.0f".formatted(name, most));
    }

    static String oneOf(HttpServerRequest request, String name, String... choices) {
        String value = field(request, name, choices[0]);
        if (Arrays.asList(choices).contains(value)) return value;
        throw new Refusal(400, name + " must be one of: " + String.join(", ", choices));
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

    /** What is due already waits for its turn of the loop. */
    Future<Void> pause(double ms) {
        long micros = Math.round(ms * 1000);
        if (micros > 0) return vertx.timer(micros, TimeUnit.MICROSECONDS).mapEmpty();
        Promise<Void> turn = Promise.promise();
        context.runOnContext(turn::complete);
        return turn.future();
    }

    Future<Response> sleep(HttpServerRequest request) {
        double ms = decimal(request, "ms", "100", 60_000);
        double jitter = decimal(request, "jitter", "0", 1);
        ms *= 1 + jitter * (2 * ThreadLocalRandom.current().nextDouble() - 1);
        return pause(ms).map(_ -> Response.text(HELLO));
    }

    Future<Long> askPeer(String peer, long n) {
        var options = new RequestOptions().setAbsoluteURI(peer + "/fibs/" + n);
        return peers.request(options)
                .compose(request -> request.send())
                .compose(response -> response.body())
                .map(body -> body.toJsonObject().getLong("fibResult"))
                .recover(failed -> Future.failedFuture(new Refusal(502, "the peer did not answer: " + failed)));
    }

    LongFunction<Future<Long>> finder(HttpServerRequest request) {
        if (oneOf(request, "where", "local", "remote").equals("local")) return n -> Future.succeededFuture(fib(n));
        String peer = field(request, "peer", "");
        if (!PEER.matcher(peer).matches()) throw new Refusal(400, "where=remote needs peer=http://…");
        return n -> askPeer(peer, n);
    }

    /** A pair that is asked for at once waits at once, and computes one after the other: the loop is one thread. */
    Future<Response> pair(HttpServerRequest request, long a, long b) {
        boolean atOnce = oneOf(request, "async", "0", "1").equals("1");
        LongFunction<Future<Long>> find = finder(request);
        Future<Long> first = find.apply(a);
        Future<Long> second = atOnce ? find.apply(b) : first.compose(_ -> find.apply(b));
        return Future.all(first, second).map(_ -> Response.json(
                new JsonObject().put("a", first.result()).put("b", second.result())));
    }

    static Response allocateBuffers() {
        byte[][] buffers = new byte[50][];
        for (int i = 0; i < buffers.length; i++) {
            buffers[i] = new byte[1024];
            Arrays.fill(buffers[i], (byte) 'x');
        }
        sink = buffers;
        return Response.text(HELLO);
    }

    static Response allocateStrings() {
        String[] strings = new String[50];
        for (int i = 0; i < strings.length; i++) strings[i] = new String(KILOBYTE, UTF_8);
        sink = strings;
        return Response.text(HELLO);
    }

    /** Holds n futures that wait for one promise, then keeps it. */
    static Future<Response> spawn(HttpServerRequest request, int n) {
        oneOf(request, "kind", "future");
        Promise<Void> gate = Promise.promise();
        List<Future<Void>> held = new ArrayList<>(n);
        for (int i = 0; i < n; i++) held.add(gate.future().compose(_ -> Future.succeededFuture()));
        gate.complete();
        return Future.all(held).map(_ -> Response.text(n));
    }

    /** Sends 1 to the schedule's count, each when it is due, until sending fails. */
    Future<Void> run(Schedule schedule, LongFunction<Future<Void>> send) {
        Promise<Void> done = Promise.promise();
        next(schedule, 1, System.nanoTime(), send, done);
        return done.future();
    }

    /** No chain of futures: it would grow with the numbers. */
    private void next(Schedule schedule, long number, long start, LongFunction<Future<Void>> send, Promise<Void> done) {
        if (number > schedule.count()) {
            done.complete();
            return;
        }
        double dueMs = (number - 1) * schedule.gapMs() - (System.nanoTime() - start) / 1e6;
        pause(dueMs).compose(_ -> send.apply(number))
                .onComplete(_ -> next(schedule, number + 1, start, send, done), done::fail);
    }

    void events(HttpServerRequest request) {
        Schedule schedule = Schedule.of(request);
        HttpServerResponse response = request.response().setChunked(true);
        response.putHeader("Content-Type", "text/event-stream").putHeader("Cache-Control", "no-store");
        if (request.method() == HttpMethod.HEAD) {
            response.end();
            return;
        }
        run(schedule, number -> response.write("data: " + number + "\n\n")).onSuccess(_ -> response.end());
    }

    /** Pushes where n is given, and else echoes. */
    void webSocket(HttpServerRequest request) {
        Schedule schedule = Schedule.of(request);
        if (!request.headers().contains("Upgrade", "websocket", true)) throw new Refusal(426, "this is a WebSocket");
        boolean pushes = request.getParam("n") != null;
        request.toWebSocket().onSuccess(socket -> {
            if (pushes) push(socket, schedule);
            else socket.textMessageHandler(socket::writeTextMessage).binaryMessageHandler(socket::writeBinaryMessage);
        });
    }

    void push(ServerWebSocket socket, Schedule schedule) {
        run(schedule, number -> socket.writeTextMessage(String.valueOf(number)))
                .onSuccess(_ -> socket.close((short) 1000));
    }

    Future<RowSet<Row>> find(String query, Object... values) {
        return database.preparedQuery(query).execute(Tuple.from(values));
    }

    /** Four questions, one after the other, each on whichever connection is free. */
    Future<Response> orders() {
        if (database == null) throw new Refusal(503, "started without a database");
        return find("SELECT min(id) FROM customers")
                .compose(least -> find("SELECT max(id) FROM customers").map(most ->
                        ThreadLocalRandom.current().nextInt(number(least), number(most) + 1)))
                .compose(id -> find("SELECT id, name FROM customers WHERE id = $1", id))
                .compose(customers -> {
                    if (customers.size() == 0) throw new Refusal(404, "there is no such customer");
                    Row customer = customers.iterator().next();
                    return find("SELECT * FROM orders WHERE customer_id = $1 ORDER BY ordered_on", customer.getInteger("id"))
                            .map(orders -> page(customer.getString("name"), orders));
                });
    }

    static int number(RowSet<Row> rows) {
        return rows.iterator().next().getInteger(0);
    }

    static Response page(String name, RowSet<Row> orders) {
        var items = new StringBuilder();
        for (Row order : orders) {
            items.append("<li>").append(order.getValue("ordered_on")).append(": ")
                    .append(escape(order.getString("item"))).append("</li>\n");
        }
        return new Response("text/html; charset=utf-8", Buffer.buffer("""
                <!DOCTYPE html>
                <title>Orders</title>
                <h1>%s</h1>
                <ol>
                %s</ol>
                """.formatted(escape(name), items)));
    }

    static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
    }

    Response about() {
        return Response.json(new JsonObject().put("name", "java-vertx").put("version", Runtime.version().toString())
                .put("runtime", "Java").put("workers", loops));
    }

    Future<Response> route(HttpServerRequest request) {
        String[] path = request.path().substring(1).split("/", -1);
        Response content = switch (path[0] + "/" + (path.length - 1)) {
            case "/0" -> about();
            case "hello/0" -> Response.text(HELLO);
            case "count/1" -> Response.text("Hello, World " + count(whole(path[1], 10_000_000_000L)) + "\n");
            case "fast/1" -> Response.text(whole(path[1], 1_000_000) * whole(path[1], 1_000_000));
            case "slow/1" -> Response.text(fib(whole(path[1], 60)));
            case "fibs/1" -> Response.json(new JsonObject().put("fibResult", fib(whole(path[1], 60))));
            case "alloc/1" -> switch (path[1]) {
                case "buffers" -> allocateBuffers();
                case "strings" -> allocateStrings();
                default -> throw new Refusal(404, "no such route");
            };
            default -> null;
        };
        if (content != null) return Future.succeededFuture(content);
        return switch (path[0] + "/" + (path.length - 1)) {
            case "sleep/0" -> sleep(request);
            case "pair/2" -> pair(request, whole(path[1], 60), whole(path[2], 60));
            case "spawn/1" -> spawn(request, (int) whole(path[1], 1_000_000));
            case "orders/0" -> orders();
            default -> throw new Refusal(404, "no such route");
        };
    }

    void handle(HttpServerRequest request) {
        try {
            if (request.method() != HttpMethod.GET && request.method() != HttpMethod.HEAD) {
                request.response().putHeader("Allow", "GET, HEAD");
                throw new Refusal(405, "only GET and HEAD");
            }
            switch (request.path()) {
                case "/events" -> events(request);
                case "/ws" -> webSocket(request);
                default -> route(request).onComplete(content -> send(request, 200, content), bad -> refuse(request, bad));
            }
        } catch (RuntimeException bad) {
            refuse(request, bad);
        }
    }

    static void refuse(HttpServerRequest request, Throwable bad) {
        if (bad instanceof Refusal refusal) {
            send(request, refusal.status, Response.text(refusal.getMessage()));
        } else {
            bad.printStackTrace();
            send(request, 500, Response.text("internal error"));
        }
    }

    static void send(HttpServerRequest request, int status, Response content) {
        HttpServerResponse response = request.response().setStatusCode(status);
        response.putHeader("Content-Type", content.type());
        response.putHeader("Content-Length", String.valueOf(content.body().length()));
        if (request.method() == HttpMethod.HEAD) response.end();
        else response.end(content.body());
    }

    @Override
    public Future<?> start() {
        peers = vertx.createHttpClient(new PoolOptions().setHttp1MaxSize(1024)); // 5 to a peer by default
        var options = new HttpServerOptions()
                .setHost(System.getenv("HOST")).setPort(Integer.parseInt(System.getenv("PORT"))).setAcceptBacklog(4096);
        return vertx.createHttpServer(options).requestHandler(this::handle).listen();
    }

    static Pool pool(Vertx vertx, String url) {
        var options = PgConnectOptions.fromUri(url).setCachePreparedStatements(true);
        var size = new io.vertx.sqlclient.PoolOptions().setMaxSize(Integer.parseInt(System.getenv("POOL")));
        return PgBuilder.pool().with(size).connectingTo(options).using(vertx).build();
    }

    public static void main(String[] args) {
        int cores = Runtime.getRuntime().availableProcessors();
        int loops = System.getenv("LOOPS").equals("0") ? cores : Integer.parseInt(System.getenv("LOOPS"));
        // It would tell of every loop that computes, which is what they are here for.
        Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(loops).setMaxEventLoopExecuteTime(Long.MAX_VALUE));
        String url = System.getenv("DATABASE_URL");
        Pool database = url.isEmpty() ? null : pool(vertx, url);
        vertx.deployVerticle(() -> new Server(loops, database), new DeploymentOptions().setInstances(loops))
                .onFailure(failed -> {
                    failed.printStackTrace();
                    System.exit(1);
                });
    }
}

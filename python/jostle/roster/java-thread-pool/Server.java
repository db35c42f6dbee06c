import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;

/** A fixed number of platform threads take the requests in turn; the kernel shares the cores between them. */
final class Server extends Contract {
    private final int workers = Integer.parseInt(System.getenv("THREADS"));

    private final ExecutorService threads = Executors.newFixedThreadPool(workers);

    /** For the second half of a concurrent pair: a pool full of pairs would wait for itself for ever. */
    private final ExecutorService helpers = Executors.newCachedThreadPool(Thread.ofPlatform().daemon().factory());

    @Override
    String name() {
        return "java-thread-pool";
    }

    @Override
    int workers() {
        return workers;
    }

    @Override
    ExecutorService threads() {
        return threads;
    }

    @Override
    boolean isAlone() {
        return workers == 1;
    }

    @Override
    List<Future<Long>> atOnce(Callable<Long> first, Callable<Long> second) {
        var beside = helpers.submit(second);
        var here = new FutureTask<>(first);
        here.run();
        return List.of(here, beside);
    }

    public static void main(String[] args) throws IOException {
        new Server().serve();
    }
}

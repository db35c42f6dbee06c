import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Every request has a virtual thread of its own; a thread that computes keeps its carrier until it is done. */
final class Server extends Contract {
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    @Override
    String name() {
        return "java-virtual-threads";
    }

    @Override
    int workers() {
        return Runtime.getRuntime().availableProcessors();
    }

    @Override
    ExecutorService threads() {
        return threads;
    }

    @Override
    List<Future<Long>> atOnce(Callable<Long> first, Callable<Long> second) {
        return List.of(threads.submit(first), threads.submit(second));
    }

    public static void main(String[] args) throws IOException {
        new Server().serve();
    }
}

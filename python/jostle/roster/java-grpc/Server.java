import io.grpc.InsecureServerCredentials;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import roster.EchoGrpc;
import roster.Schedule;
import roster.Words;

/** A thread of a pool for each call that has something to do; as many as are needed. */
public final class Server extends EchoGrpc.EchoImplBase {
    static final int MOST = 100_000;
    static final int LONGEST_MS = 60_000;

    final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();

    @Override
    public void say(Words words, StreamObserver<Words> responses) {
        responses.onNext(words);
        responses.onCompleted();
    }

    @Override
    public void count(Schedule schedule, StreamObserver<Words> responses) {
        if (schedule.getN() < 0 || schedule.getN() > MOST) refuse(responses, "n", MOST);
        else if (schedule.getGapMs() < 0 || schedule.getGapMs() > LONGEST_MS) refuse(responses, "gap_ms", LONGEST_MS);
        else new Count(schedule, (ServerCallStreamObserver<Words>) responses).run();
    }

    static void refuse(StreamObserver<Words> responses, String name, int most) {
        var text = name + " should be a whole number up to " + most;
        responses.onError(Status.INVALID_ARGUMENT.withDescription(text).asRuntimeException());
    }

    /** Sends what is due as long as the connection takes it, and goes on when it does again, or in time. */
    final class Count implements Runnable {
        final Schedule schedule;
        final ServerCallStreamObserver<Words> responses;
        final long begin = System.nanoTime();
        int sent;
        boolean ended;

        Count(Schedule schedule, ServerCallStreamObserver<Words> responses) {
            this.schedule = schedule;
            this.responses = responses;
            responses.setOnReadyHandler(this);
            responses.setOnCancelHandler(() -> {});
        }

        @Override
        public synchronized void run() {
            if (ended) return;
            while (sent < schedule.getN() && responses.isReady() && !responses.isCancelled()) {
                long early = begin + TimeUnit.MILLISECONDS.toNanos((long) sent * schedule.getGapMs()) - System.nanoTime();
                if (early > 0) {
                    clock.schedule(this, early, TimeUnit.NANOSECONDS);
                    return;
                }
                sent++;
                responses.onNext(Words.newBuilder().setNumber(sent).build());
            }
            ended = responses.isCancelled() || sent == schedule.getN();
            if (ended && !responses.isCancelled()) responses.onCompleted();
        }
    }

    @Override
    public StreamObserver<Words> talk(StreamObserver<Words> responses) {
        return new StreamObserver<>() {
            @Override
            public void onNext(Words words) {
                responses.onNext(words);
            }

            @Override
            public void onError(Throwable error) {
                // The client has gone.
            }

            @Override
            public void onCompleted() {
                responses.onCompleted();
            }
        };
    }

    public static void main(String[] arguments) throws Exception {
        var address = new InetSocketAddress(System.getenv("HOST"), Integer.parseInt(System.getenv("PORT")));
        NettyServerBuilder.forAddress(address, InsecureServerCredentials.create())
                .withOption(io.grpc.netty.shaded.io.netty.channel.ChannelOption.SO_BACKLOG, 4096)
                .addService(new Server())
                .addService(ProtoReflectionServiceV1.newInstance())
                .build()
                .start()
                .awaitTermination();
    }
}

import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerCredentials;
import io.grpc.ServerInterceptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServiceDescriptor;
import io.grpc.Status;
import io.grpc.TlsServerCredentials;
import io.grpc.protobuf.ProtoFileDescriptorSupplier;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * A server of grpc-java for echo.proto, whose messages are known from its descriptors alone: nothing is generated.
 *
 * <p>{@code Server DESCRIPTORS CERTIFICATE KEY} prints its ports, without and with TLS.
 */
public final class Server {
  private static final Metadata.Key<String> USER = Metadata.Key.of("x-user", Metadata.ASCII_STRING_MARSHALLER);
  private static final Context.Key<String> ASKED_BY = Context.key("user");

  private final FileDescriptor file;
  private final Descriptor words;
  private final Descriptor order;
  private final Map<MethodDescriptor<?, ?>, ServerCallHandler<DynamicMessage, DynamicMessage>> methods =
      new LinkedHashMap<>();

  private Server(FileDescriptor file) {
    this.file = file;
    words = file.findMessageTypeByName("Words");
    order = file.findMessageTypeByName("Order");
  }

  public static void main(String[] arguments) throws Exception {
    var files = FileDescriptorSet.parseFrom(Files.readAllBytes(Path.of(arguments[0])));
    var server = new Server(FileDescriptor.buildFrom(files.getFile(0), new FileDescriptor[0]));
    var service = server.service();
    var pair = TlsServerCredentials.create(new File(arguments[1]), new File(arguments[2]));
    System.out.println(start(service, InsecureServerCredentials.create()) + " " + start(service, pair));
    Thread.currentThread().join();
  }

  private static int start(ServerServiceDefinition service, ServerCredentials credentials) throws Exception {
    return Grpc.newServerBuilderForPort(0, credentials)
        .addService(service)
        .addService(ProtoReflectionServiceV1.newInstance())
        .intercept(new ReadUser())
        .build()
        .start()
        .getPort();
  }

  private static final class ReadUser implements ServerInterceptor {
    @Override
    public <A, B> ServerCall.Listener<A> interceptCall(
        ServerCall<A, B> call, Metadata metadata, ServerCallHandler<A, B> next) {
      var context = Context.current().withValue(ASKED_BY, metadata.get(USER));
      return Contexts.interceptCall(context, call, metadata, next);
    }
  }

  @SuppressWarnings("unchecked")
  private ServerServiceDefinition service() {
    add("Say", MethodType.UNARY, words, words, ServerCalls.asyncUnaryCall(this::say));
    add("Refuse", MethodType.UNARY, order, words, ServerCalls.asyncUnaryCall(this::refuse));
    add("Repeat", MethodType.SERVER_STREAMING, order, words, ServerCalls.asyncServerStreamingCall(this::repeat));
    add("Collect", MethodType.CLIENT_STREAMING, words, order, ServerCalls.asyncClientStreamingCall(this::collect));
    add("Talk", MethodType.BIDI_STREAMING, words, words, ServerCalls.asyncBidiStreamingCall(this::talk));
    var described = ServiceDescriptor.newBuilder(file.getServices().get(0).getFullName());
    described.setSchemaDescriptor((ProtoFileDescriptorSupplier) () -> file);
    methods.keySet().forEach(described::addMethod);
    var service = ServerServiceDefinition.builder(described.build());
    methods.forEach(
        (method, handler) ->
            service.addMethod((MethodDescriptor<DynamicMessage, DynamicMessage>) method, handler));
    return service.build();
  }

  private void add(
      String name,
      MethodType type,
      Descriptor input,
      Descriptor output,
      ServerCallHandler<DynamicMessage, DynamicMessage> handler) {
    var service = file.getServices().get(0).getFullName();
    var method =
        MethodDescriptor.<DynamicMessage, DynamicMessage>newBuilder()
            .setType(type)
            .setFullMethodName(MethodDescriptor.generateFullMethodName(service, name))
            .setRequestMarshaller(ProtoUtils.marshaller(DynamicMessage.getDefaultInstance(input)))
            .setResponseMarshaller(ProtoUtils.marshaller(DynamicMessage.getDefaultInstance(output)))
            .build();
    methods.put(method, handler);
  }

  private static Object get(DynamicMessage message, String name) {
    return message.getField(message.getDescriptorForType().findFieldByName(name));
  }

  private void say(DynamicMessage message, StreamObserver<DynamicMessage> answers) {
    var answer = message.toBuilder();
    var seen = words.findFieldByName("seen");
    if (ASKED_BY.get() != null) {
      answer.addRepeatedField(seen, "x-user=" + ASKED_BY.get());
    }
    answer.addRepeatedField(seen, "deadline=" + (Context.current().getDeadline() == null ? "none" : "given"));
    answers.onNext(answer.build());
    answers.onCompleted();
  }

  private void refuse(DynamicMessage message, StreamObserver<DynamicMessage> answers) {
    var status = Status.fromCodeValue((int) get(message, "times"));
    if (status.getCode() == Status.Code.DEADLINE_EXCEEDED) {
      try {
        Thread.sleep(1000);
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
    }
    answers.onError(status.withDescription((String) get(message, "text")).asException());
  }

  private void repeat(DynamicMessage message, StreamObserver<DynamicMessage> answers) {
    for (long number = 0; number < (int) get(message, "times"); number++) {
      var answer = DynamicMessage.newBuilder(words);
      answer.setField(words.findFieldByName("text"), get(message, "text"));
      answer.setField(words.findFieldByName("number"), number);
      answers.onNext(answer.build());
    }
    answers.onCompleted();
  }

  private StreamObserver<DynamicMessage> collect(StreamObserver<DynamicMessage> answers) {
    List<String> texts = new ArrayList<>();
    return listener(
        message -> texts.add((String) get(message, "text")),
        () -> {
          var answer = DynamicMessage.newBuilder(order);
          answer.setField(order.findFieldByName("times"), texts.size());
          answer.setField(order.findFieldByName("text"), String.join(" ", texts));
          answers.onNext(answer.build());
          answers.onCompleted();
        });
  }

  private StreamObserver<DynamicMessage> talk(StreamObserver<DynamicMessage> answers) {
    return listener(answers::onNext, answers::onCompleted);
  }

  private static StreamObserver<DynamicMessage> listener(Consumer<DynamicMessage> next, Runnable end) {
    return new StreamObserver<>() {
      @Override
      public void onNext(DynamicMessage message) {
        next.accept(message);
      }

      @Override
      public void onError(Throwable error) {
        // The client has gone, or broke its call off.
      }

      @Override
      public void onCompleted() {
        end.run();
      }
    };
  }
}

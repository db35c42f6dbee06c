// A server of grpc-go for echo.proto, whose messages are known from the file alone: nothing is generated.
//
//	server FILE.proto [CERTIFICATE KEY]
//
// prints its port, and that with TLS where it has a certificate. For every line on its standard input it prints how
// many calls have begun.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bufbuild/protocompile"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"
)

var (
	words, order protoreflect.MessageDescriptor
	calls        atomic.Int64
)

func get(message *dynamicpb.Message, name string) protoreflect.Value {
	return message.Get(message.Descriptor().Fields().ByName(protoreflect.Name(name)))
}

func set(message *dynamicpb.Message, name string, value any) {
	field := message.Descriptor().Fields().ByName(protoreflect.Name(name))
	message.Set(field, protoreflect.ValueOf(value))
}

func say(ctx context.Context, message *dynamicpb.Message) (*dynamicpb.Message, error) {
	seen := message.Mutable(words.Fields().ByName("seen")).List()
	given, _ := metadata.FromIncomingContext(ctx)
	for _, value := range given.Get("x-user") {
		seen.Append(protoreflect.ValueOfString("x-user=" + value))
	}
	deadline := "none"
	if _, has := ctx.Deadline(); has {
		deadline = "given"
	}
	seen.Append(protoreflect.ValueOfString("deadline=" + deadline))
	return message, nil
}

func refuse(ctx context.Context, message *dynamicpb.Message) (*dynamicpb.Message, error) {
	code := codes.Code(get(message, "times").Int())
	if code == codes.DeadlineExceeded {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
	return nil, status.Error(code, get(message, "text").String())
}

func repeat(stream grpc.ServerStream) error {
	message := dynamicpb.NewMessage(order)
	if err := stream.RecvMsg(message); err != nil {
		return err
	}
	for number := range get(message, "times").Int() {
		answer := dynamicpb.NewMessage(words)
		set(answer, "text", get(message, "text").String())
		set(answer, "number", number)
		if err := stream.SendMsg(answer); err != nil {
			return err
		}
	}
	return nil
}

func collect(stream grpc.ServerStream) error {
	var texts []string
	err := each(stream, func(message *dynamicpb.Message) error {
		texts = append(texts, get(message, "text").String())
		return nil
	})
	if err != nil {
		return err
	}
	answer := dynamicpb.NewMessage(order)
	set(answer, "times", int32(len(texts)))
	set(answer, "text", strings.Join(texts, " "))
	return stream.SendMsg(answer)
}

func talk(stream grpc.ServerStream) error {
	return each(stream, func(message *dynamicpb.Message) error { return stream.SendMsg(message) })
}

func each(stream grpc.ServerStream, do func(*dynamicpb.Message) error) error {
	for {
		message := dynamicpb.NewMessage(words)
		switch err := stream.RecvMsg(message); err {
		case nil:
		case io.EOF:
			return nil
		default:
			return err
		}
		if err := do(message); err != nil {
			return err
		}
	}
}

type unary func(context.Context, *dynamicpb.Message) (*dynamicpb.Message, error)

func method(name string, input protoreflect.MessageDescriptor, answer unary) grpc.MethodDesc {
	handle := func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		calls.Add(1)
		message := dynamicpb.NewMessage(input)
		if err := decode(message); err != nil {
			return nil, err
		}
		return answer(ctx, message)
	}
	return grpc.MethodDesc{MethodName: name, Handler: handle}
}

func stream(name string, takes, gives bool, converse func(grpc.ServerStream) error) grpc.StreamDesc {
	handle := func(_ any, stream grpc.ServerStream) error {
		calls.Add(1)
		return converse(stream)
	}
	return grpc.StreamDesc{StreamName: name, ClientStreams: takes, ServerStreams: gives, Handler: handle}
}

func serve(file protoreflect.FileDescriptor, options ...grpc.ServerOption) int {
	files := &protoregistry.Files{}
	must(files.RegisterFile(file))
	server := grpc.NewServer(options...)
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: string(file.Services().Get(0).FullName()),
		Methods:     []grpc.MethodDesc{method("Say", words, say), method("Refuse", order, refuse)},
		Streams: []grpc.StreamDesc{
			stream("Repeat", false, true, repeat),
			stream("Collect", true, false, collect),
			stream("Talk", true, true, talk),
		},
	}, nil)
	described := reflection.NewServerV1(reflection.ServerOptions{Services: server, DescriptorResolver: files})
	reflectionv1.RegisterServerReflectionServer(server, described)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	go func() { must(server.Serve(listener)) }()
	return listener.Addr().(*net.TCPAddr).Port
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	folder, name := filepath.Split(os.Args[1])
	resolver := &protocompile.SourceResolver{ImportPaths: []string{folder}}
	compiler := protocompile.Compiler{Resolver: resolver}
	compiled, err := compiler.Compile(context.Background(), name)
	must(err)
	file := compiled[0]
	words, order = file.Messages().ByName("Words"), file.Messages().ByName("Order")
	ports := []any{serve(file)}
	if len(os.Args) > 2 {
		pair, err := credentials.NewServerTLSFromFile(os.Args[2], os.Args[3])
		must(err)
		ports = append(ports, serve(file, grpc.Creds(pair)))
	}
	fmt.Println(ports...)
	for asked := bufio.NewScanner(os.Stdin); asked.Scan(); {
		fmt.Println(calls.Load())
	}
	select {}
}

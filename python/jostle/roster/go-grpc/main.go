// A goroutine for each call, which the scheduler interrupts every 10 ms where others wait.
package main

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"

	"jostle/go-grpc/generated/roster"
)

const (
	most    = 100_000
	longest = 60_000
)

type echo struct {
	roster.UnimplementedEchoServer
}

func (echo) Say(_ context.Context, words *roster.Words) (*roster.Words, error) {
	return words, nil
}

func (echo) Count(schedule *roster.Schedule, stream grpc.ServerStreamingServer[roster.Words]) error {
	if schedule.N < 0 || schedule.N > most {
		return status.Errorf(codes.InvalidArgument, "n should be a whole number up to %d", most)
	}
	if schedule.GapMs < 0 || schedule.GapMs > longest {
		return status.Errorf(codes.InvalidArgument, "gap_ms should be a whole number up to %d", longest)
	}
	gap := time.Duration(schedule.GapMs) * time.Millisecond
	begin := time.Now()
	for number := range int64(schedule.N) {
		select {
		case <-time.After(time.Until(begin.Add(time.Duration(number) * gap))):
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
		if err := stream.Send(&roster.Words{Number: number + 1}); err != nil {
			return err
		}
	}
	return nil
}

func (echo) Talk(stream grpc.BidiStreamingServer[roster.Words, roster.Words]) error {
	for {
		words, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := stream.Send(words); err != nil {
			return err
		}
	}
}

func main() {
	listener, err := net.Listen("tcp", net.JoinHostPort(os.Getenv("HOST"), os.Getenv("PORT")))
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer()
	roster.RegisterEchoServer(server, echo{})
	reflection.Register(server)
	log.Fatal(server.Serve(listener))
}

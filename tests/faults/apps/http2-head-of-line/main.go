// Over HTTP/2 the images of one connection are made one after another, for 40 ms each.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

type turn struct{}

var (
	counted                     sync.Mutex
	now, most, asking, together int
)

func image(w http.ResponseWriter, r *http.Request) {
	count(func() { asking++; together = max(together, asking) })
	own := r.Context().Value(turn{}).(*sync.Mutex)
	own.Lock()
	count(func() { now++; most = max(most, now) })
	time.Sleep(40 * time.Millisecond)
	count(func() { now--; asking-- })
	own.Unlock()
	fmt.Fprintln(w, "image")
}

func count(what func()) {
	counted.Lock()
	defer counted.Unlock()
	what()
}

func main() {
	http.HandleFunc("/hello", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "hello") })
	http.HandleFunc("/image", image)
	http.HandleFunc("/stats", func(w http.ResponseWriter, r *http.Request) {
		count(func() { fmt.Fprintf(w, `{"most": %d, "together": %d}`, most, together) })
	})
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	server := http.Server{
		Addr:      os.Getenv("HOST") + ":" + os.Getenv("PORT"),
		Protocols: &protocols,
		ConnContext: func(all context.Context, _ net.Conn) context.Context {
			return context.WithValue(all, turn{}, &sync.Mutex{})
		},
	}
	if err := server.ListenAndServe(); err != nil {
		panic(err)
	}
}

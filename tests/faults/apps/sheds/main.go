// Four thumbnails are made at a time, for 40 ms; four more may wait, and all others are answered 503 at once.
package main

import (
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

var (
	room       = make(chan struct{}, 8)
	turn       = make(chan struct{}, 4)
	made, shed atomic.Int64
)

func thumbnail(w http.ResponseWriter, r *http.Request) {
	select {
	case room <- struct{}{}:
	default:
		shed.Add(1)
		http.Error(w, "too many", http.StatusServiceUnavailable)
		return
	}
	turn <- struct{}{}
	time.Sleep(40 * time.Millisecond)
	made.Add(1)
	<-turn
	<-room
	fmt.Fprintln(w, "thumbnail")
}

func main() {
	http.HandleFunc("/hello", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "hello") })
	http.HandleFunc("/thumbnail", thumbnail)
	http.HandleFunc("/stats", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"made": %d, "shed": %d}`, made.Load(), shed.Load())
	})
	if err := http.ListenAndServe(os.Getenv("HOST")+":"+os.Getenv("PORT"), nil); err != nil {
		panic(err)
	}
}

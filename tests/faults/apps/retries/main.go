// A checkout asks the bank, which serves two at a time for 30 ms; after 50 ms it is asked again, three times in all,
// and the bank still works at what was given up. Then the checkout answers 503.
package main

import (
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

const tries = 3

var (
	desks           = make(chan struct{}, 2)
	checkouts, bank atomic.Int64
)

func ask() <-chan bool {
	bank.Add(1)
	done := make(chan bool, 1)
	go func() {
		desks <- struct{}{}
		time.Sleep(30 * time.Millisecond)
		<-desks
		done <- true
	}()
	return done
}

func checkout(w http.ResponseWriter, r *http.Request) {
	checkouts.Add(1)
	for try := 0; try < tries; try++ {
		select {
		case <-ask():
			fmt.Fprintln(w, "paid")
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
	http.Error(w, "the bank does not answer", http.StatusServiceUnavailable)
}

func main() {
	http.HandleFunc("/hello", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "hello") })
	http.HandleFunc("/checkout", checkout)
	http.HandleFunc("/stats", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"checkouts": %d, "bank": %d}`, checkouts.Load(), bank.Load())
	})
	if err := http.ListenAndServe(os.Getenv("HOST")+":"+os.Getenv("PORT"), nil); err != nil {
		panic(err)
	}
}

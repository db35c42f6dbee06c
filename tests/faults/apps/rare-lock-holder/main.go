// An order holds a lock for 5 ms, and every 24th one for 120 ms; nothing else needs it.
package main

import (
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"
)

var (
	lock         sync.Mutex
	orders, long int
)

func order(w http.ResponseWriter, r *http.Request) {
	lock.Lock()
	held := 5 * time.Millisecond
	if orders++; orders%24 == 0 {
		long++
		held = 120 * time.Millisecond
	}
	time.Sleep(held)
	lock.Unlock()
	fmt.Fprintln(w, `{"ordered": true}`)
}

func main() {
	http.HandleFunc("/hello", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "hello") })
	http.HandleFunc("/order", order)
	http.HandleFunc("/stats", func(w http.ResponseWriter, r *http.Request) {
		lock.Lock()
		defer lock.Unlock()
		fmt.Fprintf(w, `{"orders": %d, "long": %d}`, orders, long)
	})
	if err := http.ListenAndServe(os.Getenv("HOST")+":"+os.Getenv("PORT"), nil); err != nil {
		panic(err)
	}
}

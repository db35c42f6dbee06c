// A report, for 30 ms, and the totals, for 15 ms, hold one lock; nothing else needs it.
package main

import (
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"
)

var (
	lock          sync.Mutex
	counted       sync.Mutex
	waiting, most int
)

func locked(held time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		count(1)
		lock.Lock()
		time.Sleep(held)
		lock.Unlock()
		count(-1)
		fmt.Fprintln(w, `{"done": true}`)
	}
}

func count(more int) {
	counted.Lock()
	defer counted.Unlock()
	waiting += more
	most = max(most, waiting)
}

func main() {
	http.HandleFunc("/hello", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "hello") })
	http.HandleFunc("/report", locked(30*time.Millisecond))
	http.HandleFunc("/totals", locked(15*time.Millisecond))
	http.HandleFunc("/stats", func(w http.ResponseWriter, r *http.Request) {
		counted.Lock()
		defer counted.Unlock()
		fmt.Fprintf(w, `{"most": %d}`, most)
	})
	if err := http.ListenAndServe(os.Getenv("HOST")+":"+os.Getenv("PORT"), nil); err != nil {
		panic(err)
	}
}

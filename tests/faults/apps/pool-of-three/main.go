// An invoice needs one of three connections to the database, for 40 ms.
package main

import (
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"
)

var (
	pool      = make(chan struct{}, 3)
	counted   sync.Mutex
	now, most int
)

func count(more int) {
	counted.Lock()
	defer counted.Unlock()
	now += more
	most = max(most, now)
}

func invoices(w http.ResponseWriter, r *http.Request) {
	pool <- struct{}{}
	count(1)
	time.Sleep(40 * time.Millisecond)
	count(-1)
	<-pool
	fmt.Fprintln(w, `{"invoices": [1, 2, 3]}`)
}

func main() {
	http.HandleFunc("/hello", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "hello") })
	http.HandleFunc("/invoices", invoices)
	http.HandleFunc("/stats", func(w http.ResponseWriter, r *http.Request) {
		counted.Lock()
		defer counted.Unlock()
		fmt.Fprintf(w, `{"most": %d}`, most)
	})
	if err := http.ListenAndServe(os.Getenv("HOST")+":"+os.Getenv("PORT"), nil); err != nil {
		panic(err)
	}
}

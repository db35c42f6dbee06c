// Who comes after 1.5 s in which nobody came waits for 250 ms, until the instance is woken.
package main

import (
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"
)

var (
	instance sync.Mutex
	last     = time.Now()
	woken    int
)

func hello(w http.ResponseWriter, r *http.Request) {
	instance.Lock()
	if time.Since(last) > 1500*time.Millisecond {
		woken++
		time.Sleep(250 * time.Millisecond)
	}
	last = time.Now()
	instance.Unlock()
	fmt.Fprintln(w, "hello")
}

func main() {
	http.HandleFunc("/hello", hello)
	http.HandleFunc("/stats", func(w http.ResponseWriter, r *http.Request) {
		instance.Lock()
		defer instance.Unlock()
		fmt.Fprintf(w, `{"woken": %d}`, woken)
	})
	if err := http.ListenAndServe(os.Getenv("HOST")+":"+os.Getenv("PORT"), nil); err != nil {
		panic(err)
	}
}

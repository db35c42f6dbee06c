// Four workers, of which nginx takes one after another; the fourth takes 60 ms where the others take 10.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

const workers = 4

var served [workers]atomic.Int64

func worker(number int) http.Handler {
	work := 10 * time.Millisecond
	if number == workers-1 {
		work = 60 * time.Millisecond
	}
	routes := http.NewServeMux()
	routes.HandleFunc("/hello", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "hello") })
	routes.HandleFunc("/items", func(w http.ResponseWriter, r *http.Request) {
		served[number].Add(1)
		time.Sleep(work)
		fmt.Fprintln(w, "tea")
	})
	routes.HandleFunc("/stats", func(w http.ResponseWriter, r *http.Request) {
		counts := []int64{}
		for place := range served {
			counts = append(counts, served[place].Load())
		}
		json.NewEncoder(w).Encode(map[string][]int64{"served": counts})
	})
	return routes
}

// Each worker has an address of the loopback network: 127.0.0.1, 127.0.0.2, …
func main() {
	for number := 1; number < workers; number++ {
		go http.ListenAndServe(fmt.Sprintf("127.0.0.%d:%s", number+1, os.Getenv("PORT")), worker(number))
	}
	if err := http.ListenAndServe(os.Getenv("HOST")+":"+os.Getenv("PORT"), worker(0)); err != nil {
		panic(err)
	}
}

// Nothing is wrong: some articles are longer than others, by chance, as everywhere: 8 ms and more, 12 on average.
package main

import (
	"fmt"
	"math/rand"
	"net/http"
	"os"
	"sync"
	"time"
)

var (
	counted   sync.Mutex
	now, most int
)

func count(more int) {
	counted.Lock()
	defer counted.Unlock()
	now += more
	most = max(most, now)
}

func article(w http.ResponseWriter, r *http.Request) {
	count(1)
	time.Sleep(8*time.Millisecond + time.Duration(rand.ExpFloat64()*float64(4*time.Millisecond)))
	count(-1)
	fmt.Fprintln(w, "article")
}

func main() {
	http.HandleFunc("/hello", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "hello") })
	http.HandleFunc("/article", article)
	http.HandleFunc("/stats", func(w http.ResponseWriter, r *http.Request) {
		counted.Lock()
		defer counted.Unlock()
		fmt.Fprintf(w, `{"most": %d}`, most)
	})
	if err := http.ListenAndServe(os.Getenv("HOST")+":"+os.Getenv("PORT"), nil); err != nil {
		panic(err)
	}
}

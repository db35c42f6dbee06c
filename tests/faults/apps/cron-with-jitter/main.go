// About every 3 s, up to 10 % sooner or later, the whole store is locked for a checkpoint of 150 ms.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"net/http"
	"os"
	"sync"
	"time"
)

var (
	store sync.RWMutex
	began []float64
)

func checkpoints() {
	drawn := rand.New(rand.NewSource(3))
	for {
		time.Sleep(time.Duration((0.9 + 0.2*drawn.Float64()) * float64(3*time.Second)))
		store.Lock()
		began = append(began, float64(time.Now().UnixNano())/1e9)
		time.Sleep(150 * time.Millisecond)
		store.Unlock()
	}
}

func main() {
	go checkpoints()
	http.HandleFunc("/hello", func(w http.ResponseWriter, r *http.Request) {
		store.RLock()
		defer store.RUnlock()
		fmt.Fprintln(w, "hello")
	})
	http.HandleFunc("/stats", func(w http.ResponseWriter, r *http.Request) {
		store.RLock()
		defer store.RUnlock()
		json.NewEncoder(w).Encode(map[string][]float64{"began": append([]float64{}, began...)})
	})
	if err := http.ListenAndServe(os.Getenv("HOST")+":"+os.Getenv("PORT"), nil); err != nil {
		panic(err)
	}
}

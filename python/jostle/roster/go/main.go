// One goroutine per connection, preempted after about 10 ms when others want the core.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gorilla/websocket"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var hello = append(bytes.Repeat([]byte("x"), 1023), '\n')

// Whatever is stored here has to be allocated on the heap.
var (
	buffersSink atomic.Pointer[[50][]byte]
	stringsSink atomic.Pointer[[50]string]
)

// The default transport keeps only two idle connections to the peer.
var peerClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1024}}

// Any page may open a WebSocket.
var upgrader = websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}

// database is nil when the server was started without one.
var database *pgxpool.Pool

var ordersPage = template.Must(template.New("orders").Parse(`<!DOCTYPE html>
<title>Orders</title>
<h1>{{.Name}}</h1>
<ol>
{{range .Orders}}<li>{{.OrderedOn}}: {{.Item}}</li>
{{end}}</ol>
`))

// A problem is an error that is told to the client, with its status.
type problem struct {
	status  int
	message string
}

func (p problem) Error() string { return p.message }

func badRequest(format string, args ...any) error {
	return problem{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

func count(n int64) int64 {
	x := int64(0)
	for x < n {
		x++
	}
	return x
}

func fib(n int64) int64 {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func whole(r *http.Request, name string, most int64) (int64, error) {
	n, err := strconv.ParseUint(r.PathValue(name), 10, 63)
	if err != nil || n > uint64(most) {
		return 0, badRequest("a whole number from 0 to %d is needed here", most)
	}
	return int64(n), nil
}

func decimal(r *http.Request, name string, otherwise, most float64) (float64, error) {
	query := r.URL.Query()
	if !query.Has(name) {
		return otherwise, nil
	}
	x, err := strconv.ParseFloat(query.Get(name), 64)
	if err != nil || !(x >= 0 && x <= most) { // so written, NaN is refused too
		return 0, badRequest("%s must be a number from 0 to %v", name, most)
	}
	return x, nil
}

func oneOf(r *http.Request, name string, choices ...string) (string, error) {
	query := r.URL.Query()
	if !query.Has(name) {
		return choices[0], nil
	}
	for _, choice := range choices {
		if query.Get(name) == choice {
			return choice, nil
		}
	}
	return "", badRequest("%s must be one of: %s", name, strings.Join(choices, ", "))
}

func sleep(w http.ResponseWriter, r *http.Request) error {
	ms, err := decimal(r, "ms", 100, 60_000)
	if err != nil {
		return err
	}
	jitter, err := decimal(r, "jitter", 0, 1)
	if err != nil {
		return err
	}
	ms *= 1 + jitter*(2*rand.Float64()-1)
	time.Sleep(time.Duration(ms * float64(time.Millisecond)))
	return text(w, hello)
}

// askPeer fetches one Fibonacci number from another server of the contract.
func askPeer(peer string, n int64) (int64, error) {
	resp, err := peerClient.Get(fmt.Sprintf("%s/fibs/%d", peer, n))
	if err != nil {
		return 0, problem{http.StatusBadGateway, "the peer did not answer: " + err.Error()}
	}
	defer resp.Body.Close()
	var answer struct{ FibResult int64 }
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || resp.StatusCode != http.StatusOK {
		return 0, problem{http.StatusBadGateway, "the peer answered " + resp.Status + ", not a Fibonacci number"}
	}
	return answer.FibResult, nil
}

// finder says how /pair finds one number: computed here, or asked of the peer.
func finder(r *http.Request) (func(int64) (int64, error), error) {
	where, err := oneOf(r, "where", "local", "remote")
	if err != nil {
		return nil, err
	}
	if where == "local" {
		return func(n int64) (int64, error) { return fib(n), nil }, nil
	}
	peer := r.URL.Query().Get("peer")
	if u, err := url.Parse(peer); err != nil || u.Scheme != "http" || u.Host == "" {
		return nil, badRequest("where=remote needs peer=http://…")
	}
	return func(n int64) (int64, error) { return askPeer(peer, n) }, nil
}

func pair(w http.ResponseWriter, r *http.Request) error {
	a, errA := whole(r, "a", 60)
	b, errB := whole(r, "b", 60)
	find, errFind := finder(r)
	concurrently, errAsync := oneOf(r, "async", "0", "1")
	if err := errors.Join(errA, errB, errFind, errAsync); err != nil {
		return err
	}
	var fibA, fibB int64
	if concurrently == "1" {
		var both sync.WaitGroup
		both.Go(func() { fibA, errA = find(a) })
		both.Go(func() { fibB, errB = find(b) })
		both.Wait()
	} else {
		fibA, errA = find(a)
		fibB, errB = find(b)
	}
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	return asJSON(w, map[string]int64{"a": fibA, "b": fibB})
}

func allocateBuffers(w http.ResponseWriter, _ *http.Request) error {
	var buffers [50][]byte
	for i := range buffers {
		buffers[i] = bytes.Repeat([]byte("x"), 1024)
	}
	buffersSink.Store(&buffers)
	return text(w, hello)
}

func allocateStrings(w http.ResponseWriter, _ *http.Request) error {
	var fresh [50]string
	for i := range fresh {
		fresh[i] = string(hello)
	}
	stringsSink.Store(&fresh)
	return text(w, hello)
}

// spawn holds n goroutines at the gate until the last has come, then opens it.
func spawn(w http.ResponseWriter, r *http.Request) error {
	n, errN := whole(r, "n", 1_000_000)
	_, errKind := oneOf(r, "kind", "goroutine")
	if err := errors.Join(errN, errKind); err != nil {
		return err
	}
	var arrived, ended sync.WaitGroup
	gate := make(chan struct{})
	arrived.Add(int(n))
	for range n {
		ended.Go(func() {
			arrived.Done()
			<-gate
		})
	}
	arrived.Wait()
	close(gate)
	ended.Wait()
	return text(w, strconv.AppendInt(nil, n, 10))
}

// A schedule begins with its first number: when one is late, the next is not.
type schedule struct {
	count uint64
	gap   float64 // ms
}

func scheduleOf(r *http.Request) (schedule, error) {
	n, err := strconv.ParseUint(r.URL.Query().Get("n"), 10, 63)
	if !r.URL.Query().Has("n") {
		n, err = 20, nil
	}
	if err != nil || n > 100_000 {
		return schedule{}, badRequest("n must be a whole number from 0 to 100000")
	}
	gap, err := decimal(r, "gap", 50, 60_000)
	return schedule{n, gap}, err
}

// run sends 1 to count, each when it is due, until sending fails or the client has gone.
func (s schedule) run(gone <-chan struct{}, send func(number uint64) error) {
	start := time.Now()
	for number := range s.count {
		due := start.Add(time.Duration(float64(number) * s.gap * float64(time.Millisecond)))
		select {
		case <-gone:
			return
		case <-time.After(time.Until(due)):
		}
		if send(number+1) != nil {
			return
		}
	}
}

func events(w http.ResponseWriter, r *http.Request) error {
	schedule, err := scheduleOf(r)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	flush := http.NewResponseController(w).Flush
	if r.Method == http.MethodHead {
		return nil
	}
	schedule.run(r.Context().Done(), func(number uint64) error {
		fmt.Fprintf(w, "data: %d\n\n", number)
		return flush()
	})
	return nil
}

// webSocket pushes where n is given, and else echoes.
func webSocket(w http.ResponseWriter, r *http.Request) error {
	schedule, err := scheduleOf(r)
	if err != nil {
		return err
	}
	if !websocket.IsWebSocketUpgrade(r) {
		return problem{http.StatusUpgradeRequired, "this is a WebSocket"}
	}
	socket, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return nil // it has been told
	}
	defer socket.Close()
	if r.URL.Query().Has("n") {
		push(socket, schedule)
	} else {
		echo(socket)
	}
	return nil
}

func echo(socket *websocket.Conn) {
	for {
		kind, message, err := socket.ReadMessage()
		if err != nil || socket.WriteMessage(kind, message) != nil {
			return
		}
	}
}

// push reads, too: pings and a close are answered while it is read.
func push(socket *websocket.Conn, schedule schedule) {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for {
			if _, _, err := socket.NextReader(); err != nil {
				return
			}
		}
	}()
	schedule.run(gone, func(number uint64) error {
		return socket.WriteMessage(websocket.TextMessage, strconv.AppendUint(nil, number, 10))
	})
	bye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	if socket.WriteMessage(websocket.CloseMessage, bye) == nil {
		<-gone
	}
}

type customer struct {
	ID   int
	Name string
}

type order struct {
	ID         int
	CustomerID int
	OrderedOn  string
	Item       string
}

// orders asks four questions, one after the other, each on whichever connection is free.
func orders(w http.ResponseWriter, r *http.Request) error {
	if database == nil {
		return problem{http.StatusServiceUnavailable, "started without a database"}
	}
	ctx := r.Context()
	var least, most int
	if err := database.QueryRow(ctx, "SELECT min(id) FROM customers").Scan(&least); err != nil {
		return err
	}
	if err := database.QueryRow(ctx, "SELECT max(id) FROM customers").Scan(&most); err != nil {
		return err
	}
	id := least + rand.IntN(most-least+1)
	var page struct {
		customer
		Orders []order
	}
	err := database.QueryRow(ctx, "SELECT id, name FROM customers WHERE id = $1", id).Scan(&page.ID, &page.Name)
	if errors.Is(err, pgx.ErrNoRows) {
		return problem{http.StatusNotFound, fmt.Sprintf("there is no customer %d", id)}
	} else if err != nil {
		return err
	}
	rows, _ := database.Query(ctx, // its error is told when the rows are collected
		"SELECT id, customer_id, ordered_on, item FROM orders WHERE customer_id = $1 ORDER BY ordered_on", page.ID)
	if page.Orders, err = pgx.CollectRows(rows, pgx.RowToStructByName[order]); err != nil {
		return err
	}
	var body bytes.Buffer
	if err := ordersPage.Execute(&body, page); err != nil {
		return err
	}
	return send(w, http.StatusOK, "text/html; charset=utf-8", body.Bytes())
}

// connect makes the pool, which opens its connections as they are needed.
func connect(address, pool string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, err
	}
	most, err := strconv.ParseInt(pool, 10, 32)
	if err != nil {
		return nil, err
	}
	config.MaxConns = int32(most)
	return pgxpool.NewWithConfig(context.Background(), config)
}

func text(w http.ResponseWriter, body []byte) error {
	return send(w, http.StatusOK, "text/plain", body)
}

func asJSON(w http.ResponseWriter, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return send(w, http.StatusOK, "application/json", body)
}

func send(w http.ResponseWriter, status int, kind string, body []byte) error {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body) // fails only when the client has gone: nobody is left to tell
	return nil
}

// handler lets a route return its error instead of writing it.
type handler func(http.ResponseWriter, *http.Request) error

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := h(w, r)
	if err == nil {
		return
	}
	told := problem{http.StatusInternalServerError, "internal error"}
	if !errors.As(err, &told) {
		log.Print(err)
	}
	send(w, told.status, "text/plain", []byte(told.message))
}

// number makes a route of a function of the path's N.
func number(most int64, answer func(w http.ResponseWriter, n int64) error) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		n, err := whole(r, "n", most)
		if err != nil {
			return err
		}
		return answer(w, n)
	}
}

// collected tells the processor time of garbage collection since the start, shared out over all processors, and how
// often it was done. Pauses alone would say little, as most of a collection runs beside the program. What processors
// did that would have been idle is left out.
func collected(w http.ResponseWriter, _ *http.Request) error {
	found := []metrics.Sample{
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
		{Name: "/cpu/classes/gc/mark/idle:cpu-seconds"},
		{Name: "/gc/cycles/total:gc-cycles"},
	}
	metrics.Read(found)
	busy := found[0].Value.Float64() - found[1].Value.Float64()
	return asJSON(w, map[string]any{
		"seconds":     busy / float64(runtime.GOMAXPROCS(0)),
		"collections": found[2].Value.Uint64(),
	})
}

func routes() *http.ServeMux {
	mux := http.NewServeMux() // answers 404 and 405 itself, and HEAD wherever there is a GET
	mux.Handle("GET /{$}", handler(func(w http.ResponseWriter, _ *http.Request) error {
		return asJSON(w, map[string]any{
			"name":    "go",
			"version": strings.TrimPrefix(runtime.Version(), "go"),
			"runtime": "Go",
			"workers": runtime.GOMAXPROCS(0),
		})
	}))
	mux.Handle("GET /hello", handler(func(w http.ResponseWriter, _ *http.Request) error {
		return text(w, hello)
	}))
	mux.Handle("GET /sleep", handler(sleep))
	mux.Handle("GET /count/{n}", number(1e10, func(w http.ResponseWriter, n int64) error {
		return text(w, fmt.Appendf(nil, "Hello, World %d\n", count(n)))
	}))
	mux.Handle("GET /fast/{n}", number(1e6, func(w http.ResponseWriter, n int64) error {
		return text(w, strconv.AppendInt(nil, n*n, 10))
	}))
	mux.Handle("GET /slow/{n}", number(60, func(w http.ResponseWriter, n int64) error {
		return text(w, strconv.AppendInt(nil, fib(n), 10))
	}))
	mux.Handle("GET /fibs/{n}", number(60, func(w http.ResponseWriter, n int64) error {
		return asJSON(w, map[string]int64{"fibResult": fib(n)})
	}))
	mux.Handle("GET /pair/{a}/{b}", handler(pair))
	mux.Handle("GET /alloc/buffers", handler(allocateBuffers))
	mux.Handle("GET /alloc/strings", handler(allocateStrings))
	mux.Handle("GET /spawn/{n}", handler(spawn))
	mux.Handle("GET /orders", handler(orders))
	shopRoutes(mux)
	mux.Handle("GET /events", handler(events))
	mux.Handle("GET /ws", handler(webSocket))
	mux.Handle("GET /gc", handler(collected))
	return mux
}

// reusePort is Linux's SO_REUSEPORT, for which package syscall has no name.
const reusePort = 15

// shared lets several processes listen at one port, among which the kernel deals connections out.
func shared(_, _ string, socket syscall.RawConn) error {
	if os.Getenv("PROCESSES") == "1" {
		return nil
	}
	var failed error
	err := socket.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, reusePort, 1)
	})
	return errors.Join(err, failed)
}

func main() {
	if url := os.Getenv("DATABASE_URL"); url != "" {
		var err error
		if database, err = connect(url, os.Getenv("POOL")); err != nil {
			log.Fatal(err)
		}
	}
	address := net.JoinHostPort(os.Getenv("HOST"), os.Getenv("PORT"))
	listener, err := (&net.ListenConfig{Control: shared}).Listen(context.Background(), "tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	server := http.Server{Handler: routes(), Protocols: protocols}
	log.Fatal(server.Serve(listener))
}

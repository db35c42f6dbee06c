package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

const (
	iterations = 100
	gifts      = "1280" // items to try by default: about 200 ms of computing
	mostBody   = 10_000
)

// secret signs cookies and tokens; nobody but this process needs it.
var secret = []byte(rand.Text())

var shopPages = template.Must(template.New("shop").Parse(`
{{define "token"}}<input type="hidden" name="authenticity_token" value="{{.}}">{{end}}
{{define "login"}}<!DOCTYPE html>
<title>Shop</title>
<form method="post" action="/shop/login">
{{template "token" .}}
<input name="customer">
<input name="password" type="password">
<button>Log in</button>
</form>
{{end}}
{{define "search"}}<!DOCTYPE html>
<title>Shop</title>
<form method="post" action="/shop/orders">
{{template "token" .Token}}
<ul>
{{range .Items}}<li><button name="item" value="{{.ID}}">{{.Name}}</button>: {{.Price}}</li>
{{end}}</ul>
</form>
{{end}}
{{define "items"}}<!DOCTYPE html>
<title>Shop</title>
<h1>{{.Heading}}</h1>
<ul>
{{range .Items}}<li>{{.Name}}: {{.Price}}</li>
{{end}}</ul>
{{end}}
`))

type cents int

func (c cents) String() string { return fmt.Sprintf("%d.%02d", c/100, c%100) }

type item struct {
	ID    int
	Name  string
	Price cents
}

type itemList struct {
	Heading string
	Items   []item
}

// A session travels in a signed cookie. Its customer is 0 before the login.
type session struct {
	id       string
	customer int
}

func sign(text string) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (s session) text() string { return fmt.Sprintf("%s.%d", s.id, s.customer) }

func (s session) token() string { return sign("token " + s.id) }

func (s session) give(w http.ResponseWriter) {
	http.SetCookie(w, &http.Cookie{
		Name: "session", Value: s.text() + "." + sign(s.text()), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// sessionOf is the visitor's session, or a new one.
func sessionOf(r *http.Request) session {
	if cookie, err := r.Cookie("session"); err == nil {
		parts := strings.Split(cookie.Value, ".")
		if len(parts) == 3 && hmac.Equal([]byte(parts[2]), []byte(sign(parts[0]+"."+parts[1]))) {
			customer, _ := strconv.Atoi(parts[1]) // it was signed here
			return session{parts[0], customer}
		}
	}
	return session{id: rand.Text()}
}

// loggedIn refuses those who are not.
func (s session) loggedIn() error {
	if s.customer == 0 {
		return problem{http.StatusUnauthorized, "log in first"}
	}
	return nil
}

// fromHere refuses a form without the session's token.
func (s session) fromHere(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, mostBody)
	if !hmac.Equal([]byte(r.PostFormValue("authenticity_token")), []byte(s.token())) {
		return problem{http.StatusForbidden, "the form is not from here"}
	}
	return nil
}

// id is 0 where the text is none.
func id(text string) int {
	n, _ := strconv.ParseUint(text, 10, 31)
	return int(n)
}

func showPage(w http.ResponseWriter, name string, data any) error {
	var body bytes.Buffer
	if err := shopPages.ExecuteTemplate(&body, name, data); err != nil {
		return err
	}
	return send(w, http.StatusOK, "text/html; charset=utf-8", body.Bytes())
}

func seeOther(w http.ResponseWriter, path string) error {
	w.Header().Set("Location", path)
	return send(w, http.StatusSeeOther, "text/html; charset=utf-8", fmt.Appendf(nil, "<a href=%q>See there</a>\n", path))
}

func loginForm(w http.ResponseWriter, r *http.Request) error {
	visitor := sessionOf(r)
	visitor.give(w)
	return showPage(w, "login", visitor.token())
}

func login(w http.ResponseWriter, r *http.Request) error {
	if err := sessionOf(r).fromHere(w, r); err != nil {
		return err
	}
	customer := id(r.PostFormValue("customer"))
	var salt, hash string
	err := database.QueryRow(r.Context(), "SELECT salt, password_hash FROM shop_accounts WHERE customer_id = $1", customer).
		Scan(&salt, &hash)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	key, failed := pbkdf2.Key(sha256.New, r.PostFormValue("password"), []byte(salt), iterations, sha256.Size)
	if failed != nil {
		return failed
	}
	if err != nil || !hmac.Equal([]byte(hex.EncodeToString(key)), []byte(hash)) {
		return problem{http.StatusUnauthorized, "wrong customer or password"}
	}
	session{rand.Text(), customer}.give(w)
	return seeOther(w, "/shop/search")
}

func search(w http.ResponseWriter, r *http.Request) error {
	visitor := sessionOf(r)
	rows, _ := database.Query(r.Context(), // its error is told when the rows are collected
		"SELECT id, name, price FROM shop_items WHERE strpos(name, $1) > 0 ORDER BY price, id LIMIT 10", r.FormValue("q"))
	items, err := pgx.CollectRows(rows, pgx.RowToStructByPos[item])
	if err != nil {
		return err
	}
	visitor.give(w)
	return showPage(w, "search", struct {
		Token string
		Items []item
	}{visitor.token(), items})
}

func buy(w http.ResponseWriter, r *http.Request) error {
	visitor := sessionOf(r)
	if err := visitor.fromHere(w, r); err != nil {
		return err
	}
	if err := visitor.loggedIn(); err != nil {
		return err
	}
	wanted := id(r.PostFormValue("item"))
	err := database.QueryRow(r.Context(), "SELECT id FROM shop_items WHERE id = $1", wanted).Scan(&wanted)
	if errors.Is(err, pgx.ErrNoRows) {
		return problem{http.StatusNotFound, "there is no such item"}
	} else if err != nil {
		return err
	}
	var bought int
	err = database.QueryRow(r.Context(),
		"INSERT INTO shop_purchases (customer_id, item_id) VALUES ($1, $2) RETURNING id", visitor.customer, wanted).
		Scan(&bought)
	if err != nil {
		return err
	}
	return seeOther(w, fmt.Sprintf("/shop/orders/%d", bought))
}

func receipt(w http.ResponseWriter, r *http.Request) error {
	visitor := sessionOf(r)
	if err := visitor.loggedIn(); err != nil {
		return err
	}
	var customer string
	var bought item
	err := database.QueryRow(r.Context(), `SELECT c.name, i.name, i.price FROM shop_purchases p
		JOIN customers c ON c.id = p.customer_id JOIN shop_items i ON i.id = p.item_id
		WHERE p.id = $1 AND p.customer_id = $2`, id(r.PathValue("id")), visitor.customer).
		Scan(&customer, &bought.Name, &bought.Price)
	if errors.Is(err, pgx.ErrNoRows) {
		return problem{http.StatusNotFound, "there is no such receipt"}
	} else if err != nil {
		return err
	}
	return showPage(w, "items", itemList{customer, []item{bought}})
}

// findGifts tries all threes of the first items.
func findGifts(w http.ResponseWriter, r *http.Request) error {
	budget, errBudget := asked(r, "budget", "10000", 1e9)
	among, errAmong := asked(r, "among", gifts, 10_000)
	if err := errors.Join(errBudget, errAmong); err != nil {
		return err
	}
	rows, _ := database.Query(r.Context(), "SELECT id, name, price FROM shop_items ORDER BY id LIMIT $1", among)
	items, err := pgx.CollectRows(rows, pgx.RowToStructByPos[item])
	if err != nil {
		return err
	}
	prices := make([]cents, len(items))
	for i, one := range items {
		prices[i] = one.Price
	}
	best, three := cents(0), []item(nil)
	for i := range prices {
		for j := i + 1; j < len(prices); j++ {
			for k := j + 1; k < len(prices); k++ {
				if sum := prices[i] + prices[j] + prices[k]; sum <= cents(budget) && sum > best {
					best, three = sum, []item{items[i], items[j], items[k]}
				}
			}
		}
	}
	return showPage(w, "items", itemList{best.String(), three})
}

// asked is a whole number of the query.
func asked(r *http.Request, name, otherwise string, most uint64) (int64, error) {
	text := otherwise
	if query := r.URL.Query(); query.Has(name) {
		text = query.Get(name)
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || n > most {
		return 0, badRequest("%s must be a whole number from 0 to %d", name, most)
	}
	return int64(n), nil
}

func shopRoutes(mux *http.ServeMux) {
	for route, page := range map[string]handler{
		"GET /shop/login":       loginForm,
		"POST /shop/login":      login,
		"GET /shop/search":      search,
		"POST /shop/orders":     buy,
		"GET /shop/orders/{id}": receipt,
		"GET /shop/gifts":       findGifts,
	} {
		mux.Handle(route, handler(func(w http.ResponseWriter, r *http.Request) error {
			if database == nil {
				return problem{http.StatusServiceUnavailable, "started without a database"}
			}
			return page(w, r)
		}))
	}
}

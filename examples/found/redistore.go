// SPDX-License-Identifier: MIT
// Package: redistore 1.2
// Is: sessions of Go's gorilla in Redis
// Lost: Two concurrent requests of one user: the session loses what the first one stores.
// Kind: data
// Fixed: not yet
// Link: https://github.com/boj/redistore/issues/2
// Expected: not serializable, 1
// Options: --init examples/found/redistore.redis
// Install: deb:golang-github-boj-redistore-dev=1.2 deb:golang-go=1.19
package main

import (
	"net/http/httptest"
	"os"

	"github.com/boj/redistore"
	"github.com/gorilla/securecookie"
)

func main() {
	store, _ := redistore.NewRediStore(1, "tcp",
		os.Getenv("REDIS_HOST")+":"+os.Getenv("REDIS_PORT"), "", []byte("0123456789abcdef"))
	store.SetSerializer(redistore.JSONSerializer{})
	request := httptest.NewRequest("GET", "/", nil)
	cookie, _ := securecookie.EncodeMulti("shop", "42", store.Codecs...)
	request.Header.Set("Cookie", "shop="+cookie)
	session, _ := store.Get(request, "shop")
	session.Values[os.Getenv("REDRACE_CLIENT")] = true
	if err := store.Save(request, httptest.NewRecorder(), session); err != nil {
		panic(err)
	}
}

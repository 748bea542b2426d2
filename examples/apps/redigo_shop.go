// Go's net/http with redigo: a goroutine for each request, and a pool of connections.
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"

	"github.com/gomodule/redigo/redis"
)

var pool = &redis.Pool{
	MaxIdle: 2,
	Dial:    func() (redis.Conn, error) { return redis.DialURL(os.Getenv("REDIS_URL")) },
}

var take = redis.NewScript(1, `if tonumber(redis.call('GET', KEYS[1]) or 0) <= 0 then return 0 end
redis.call('DECR', KEYS[1])
return 1`)

// Wrong: looks first and takes then; another request may take the last one in between.
func buy(connection redis.Conn) (bool, error) {
	stock, err := redis.Int(connection.Do("GET", "stock"))
	if err != nil || stock <= 0 {
		return false, err
	}
	_, err = connection.Do("DECR", "stock")
	return err == nil, err
}

// Right: a script looks and takes in one step.
func buyOnce(connection redis.Conn) (bool, error) {
	return redis.Bool(take.Do(connection, "stock"))
}

func answer(buy func(redis.Conn) (bool, error)) http.HandlerFunc {
	return func(response http.ResponseWriter, request *http.Request) {
		connection := pool.Get()
		defer connection.Close()
		sold, err := buy(connection)
		switch {
		case err != nil:
			http.Error(response, err.Error(), http.StatusInternalServerError)
		case sold:
			fmt.Fprintln(response, "sold")
		default:
			http.Error(response, "out", http.StatusConflict)
		}
	}
}

func main() {
	http.Handle("/buy", answer(buy))
	http.Handle("/buy-once", answer(buyOnce))
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}

// SPDX-License-Identifier: MIT
// A counter that is read and written: one of two increments can be lost.
//
//	GOPATH=/usr/share/gocode GO111MODULE=off go build -o counter examples/check/counter.go
//	redrace check -- ./counter
package main

import (
	"log"
	"os"

	"github.com/gomodule/redigo/redis"
)

func main() {
	connection, err := redis.DialURL(os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()
	value, err := redis.Int(connection.Do("GET", "counter"))
	if err != nil && err != redis.ErrNil {
		log.Fatal(err)
	}
	if _, err := connection.Do("SET", "counter", value+1); err != nil {
		log.Fatal(err)
	}
}

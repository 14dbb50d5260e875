// Go's net/http as a push service over TLS: answers 200; with a fourth argument it says GOAWAY every so many requests.
//
//	server PORT-FILE CERTIFICATE KEY LEDGER [GOAWAY-EVERY]
package main

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path"
	"strconv"
	"sync"
)

func main() {
	goAwayEvery := 0
	if len(os.Args) > 5 {
		goAwayEvery, _ = strconv.Atoi(os.Args[5])
	}
	ledger, err := os.Create(os.Args[4])
	if err != nil {
		log.Fatal(err)
	}
	var lock sync.Mutex
	count := 0
	handler := http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return
		}
		token := path.Base(request.URL.Path)
		line, _ := json.Marshal(map[string]any{
			"token": token, "id": request.Header.Get("apns-id"), "taken": true, "answer": 200,
			"sound": bytes.Contains(body, []byte(token)), "size": len(body),
		})
		lock.Lock()
		defer lock.Unlock()
		ledger.Write(append(line, '\n'))
		count++
		response.Header().Set("apns-id", request.Header.Get("apns-id"))
		if goAwayEvery > 0 && count%goAwayEvery == 0 {
			// Over HTTP/2 this makes a GOAWAY.
			response.Header().Set("Connection", "close")
		}
		response.WriteHeader(200)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	if err := os.WriteFile(os.Args[1]+".new", []byte(port), 0600); err != nil {
		log.Fatal(err)
	}
	if err := os.Rename(os.Args[1]+".new", os.Args[1]); err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ServeTLS(listener, handler, os.Args[2], os.Args[3]))
}

// What the senders and askers in Go have in common: net/http as apns2 uses it.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

// clientTrusting gives up a request after some time: a gateway that was killed never answers.
func clientTrusting(authorities string, timeout time.Duration) *http.Client {
	text, err := os.ReadFile(authorities)
	check(err)
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(text)
	return &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			TLSClientConfig:   &tls.Config{RootCAs: trusted},
			ForceAttemptHTTP2: true,
		},
	}
}

// atATime does work for every item, so many at a time.
func atATime[Item any](concurrency int, items []Item, work func(Item)) {
	waiting := make(chan Item)
	var workers sync.WaitGroup
	for i := 0; i < concurrency; i++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for item := range waiting {
				work(item)
			}
		}()
	}
	for _, item := range items {
		waiting <- item
	}
	close(waiting)
	workers.Wait()
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		fail(err.Error())
	}
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(1)
}

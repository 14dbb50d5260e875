// Go's net/http, telling what it was answered, request by request. README.md has the arguments.
package main

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

type request struct {
	Number  int               `json:"number"`
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

func main() {
	if len(os.Args) < 10 {
		fail("usage: go_asker HOST PORT CA PLAN CONCURRENCY ANSWERS KEY KEY-ID TEAM-ID")
	}
	address := "https://" + os.Args[1] + ":" + os.Args[2]
	concurrency := number(os.Args[5])
	requests := planned(os.Args[4])
	token := providerToken(os.Args[7], os.Args[8], os.Args[9])

	client := clientTrusting(os.Args[3], 60*time.Second)
	out, err := os.Create(os.Args[6])
	check(err)
	var writing sync.Mutex
	tell := func(one request) {
		line, err := ask(client, address, token, one)
		check(err)
		writing.Lock()
		defer writing.Unlock()
		_, err = out.Write(append(line, '\n'))
		check(err)
	}
	// The first one alone: so that all go over one connection.
	tell(requests[0])
	atATime(concurrency, requests[1:], tell)
	check(out.Close())
}

func ask(client *http.Client, address, token string, one request) ([]byte, error) {
	outgoing, err := http.NewRequest(one.Method, address+one.Path, strings.NewReader(one.Body))
	if err != nil {
		return nil, err
	}
	outgoing.Header.Set("authorization", token)
	for name, value := range one.Headers {
		outgoing.Header.Set(name, value)
	}
	response, err := client.Do(outgoing)
	if err != nil {
		return nil, fmt.Errorf("request %d: %w", one.Number, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("request %d: %w", one.Number, err)
	}
	if response.ProtoMajor != 2 {
		return nil, fmt.Errorf("request %d was answered over %s", one.Number, response.Proto)
	}
	told := map[string]any{}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &told); err != nil {
			return nil, fmt.Errorf("request %d was answered %q: %w", one.Number, text, err)
		}
	}
	told["number"] = one.Number
	told["status"] = response.StatusCode
	told["id"] = response.Header.Get("apns-id")
	if outcome := response.Header.Get("holdfast-outcome"); outcome != "" {
		told["outcome"] = outcome
	}
	return json.Marshal(told)
}

func planned(path string) []request {
	file, err := os.Open(path)
	check(err)
	defer file.Close()
	var requests []request
	lines := json.NewDecoder(file)
	for {
		var one request
		err := lines.Decode(&one)
		if errors.Is(err, io.EOF) {
			return requests
		}
		check(err)
		requests = append(requests, one)
	}
}

func providerToken(path, keyID, teamID string) string {
	text, err := os.ReadFile(path)
	check(err)
	block, _ := pem.Decode(text)
	if block == nil {
		fail(path + " holds no PEM")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	check(err)
	key, isElliptic := parsed.(*ecdsa.PrivateKey)
	if !isElliptic {
		fail(path + " holds no key for ES256")
	}
	part := func(value any) string {
		bytes, err := json.Marshal(value)
		check(err)
		return base64.RawURLEncoding.EncodeToString(bytes)
	}
	signed := part(map[string]any{"alg": "ES256", "kid": keyID}) + "." +
		part(map[string]any{"iss": teamID, "iat": time.Now().Unix()})
	digest := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, key, digest[:])
	check(err)
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return "bearer " + signed + "." + base64.RawURLEncoding.EncodeToString(signature)
}

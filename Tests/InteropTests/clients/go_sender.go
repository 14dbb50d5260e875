// Go's net/http, as apns2 uses it. README.md has the arguments.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	if len(os.Args) < 9 {
		fail("usage: go_sender HOST PORT CA TOPIC FIRST COUNT CONCURRENCY TOLD")
	}
	address := "https://" + os.Args[1] + ":" + os.Args[2]
	topic := os.Args[4]
	first, count, concurrency := number(os.Args[5]), number(os.Args[6]), number(os.Args[7])
	told, err := os.OpenFile(os.Args[8], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	check(err)

	client := clientTrusting(os.Args[3], 20*time.Second)
	numbers := make([]int, count)
	for i := range numbers {
		numbers[i] = first + i
	}
	atATime(concurrency, numbers, func(number int) {
		sendUntilTold(client, address, topic, number)
		// One write for each line: they do not mix.
		_, err := told.WriteString(fmt.Sprintf("%d\n", number))
		check(err)
	})
}

func sendUntilTold(client *http.Client, address, topic string, number int) {
	for {
		status, text, wait, err := send(client, address, topic, number)
		switch {
		case err != nil:
			time.Sleep(100 * time.Millisecond)
		case status == 200:
			return
		case status == 429 || status == 500 || status == 503:
			time.Sleep(wait)
		default:
			fail(fmt.Sprintf("%d was refused: %d %s", number, status, text))
		}
	}
}

func send(client *http.Client, address, topic string, number int) (int, string, time.Duration, error) {
	body := fmt.Sprintf(`{"aps":{"alert":"Number %d","sound":"default"}}`, number)
	request, err := http.NewRequest("POST", fmt.Sprintf("%s/3/device/%064x", address, number), strings.NewReader(body))
	check(err)
	request.Header.Set("apns-topic", topic)
	request.Header.Set("apns-push-type", "alert")
	// One for each notification, so that what is sent again can be seen to be the same.
	request.Header.Set("apns-id", fmt.Sprintf("00000000-0000-4000-8000-%012x", number))
	response, err := client.Do(request)
	if err != nil {
		return 0, "", 0, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, "", 0, err
	}
	wait := 200 * time.Millisecond
	if seconds, err := strconv.Atoi(response.Header.Get("retry-after")); err == nil && seconds < 5 {
		wait = time.Duration(seconds) * time.Second
	}
	return response.StatusCode, string(text), wait, nil
}

// Command fakeserver stands in for llama-server. What it does is written in
// the file given as its model.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

type script struct {
	// Exit ends it at once with this message.
	Exit string
	// Sick never reports health.
	Sick bool
	// Pause per token in milliseconds, by number of threads.
	Pause map[string]int
	// Busy is how often it says that a slot is processing before it says that none is.
	Busy int32
	// Refuse answers prompts with 500.
	Refuse bool
	// Warmed takes a line for every prompt: the answers to /slots before it, and its first message.
	Warmed string
	// Started takes a line for every start: threads and process id.
	Started string
}

func main() {
	model := flag.String("model", "", "")
	port := flag.String("port", "", "")
	host := flag.String("host", "", "")
	threads := flag.String("threads", "", "")
	for _, name := range []string{"alias", "parallel", "ctx-size", "cache-ram"} {
		flag.String(name, "", "")
	}
	flag.Parse()
	var s script
	b, err := os.ReadFile(*model)
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if s.Exit != "" {
		fmt.Fprintln(os.Stderr, s.Exit)
		os.Exit(1)
	}
	if f, err := os.OpenFile(s.Started, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err == nil {
		fmt.Fprintln(f, *threads, os.Getpid(), os.Getenv("OPENAI_API_KEY")+os.Getenv("OMP_WAIT_POLICY"))
		f.Close()
	}
	http.HandleFunc("/health", func(w http.ResponseWriter, _ *http.Request) {
		if s.Sick {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	http.HandleFunc("/completion", func(w http.ResponseWriter, _ *http.Request) {
		for range 13 {
			fmt.Fprint(w, "data: {}\n\n")
			w.(http.Flusher).Flush()
			time.Sleep(time.Duration(s.Pause[*threads]) * time.Millisecond)
		}
	})
	var looks atomic.Int32
	http.HandleFunc("/slots", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `[{"is_processing": false}, {"is_processing": %v}]`, looks.Add(1) <= s.Busy)
	})
	http.HandleFunc("/v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Messages []struct{ Role, Content string }
		}
		if s.Refuse || json.NewDecoder(r.Body).Decode(&body) != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		if f, err := os.OpenFile(s.Warmed, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err == nil {
			fmt.Fprintln(f, looks.Load(), body.Messages[0].Content)
			f.Close()
		}
		fmt.Fprint(w, `{"timings": {"prompt_n": 7, "cache_n": 0}}`)
	})
	http.HandleFunc("/v1/endless", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "first")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	fmt.Fprintln(os.Stderr, http.ListenAndServe(net.JoinHostPort(*host, *port), nil))
}

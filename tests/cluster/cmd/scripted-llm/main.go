// Command scripted-llm is the model server of the cluster tests: it speaks the OpenAI protocol and
// answers by script with a fixed latency.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"strings"
	"time"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// institutions are Robert Stam's employers in the tests' knowledge graphs: one in each snapshot.
var institutions = []string{"New York University", "University of Ljubljana"}

func main() {
	addr := flag.String("addr", ":8080", "where to listen")
	latency := flag.Duration("latency", 20*time.Millisecond, "time that each answer takes")
	flag.Parse()
	model := script(*latency)
	server := &http.Server{Addr: *addr, ReadHeaderTimeout: 5 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			model.ServeHTTP(w, r)
			model.Forget()
		})}
	log.Fatal(server.ListenAndServe())
}

// script drafts a wrong employer, and takes the right one from the facts in its input.
func script(latency time.Duration) *testkit.LLM {
	model := testkit.NewLLM(testkit.Process{})
	model.On(testkit.Task("pseudo-graph")).Reply(
		`CREATE (s:Person {name: "Robert Stam"})-[:EMPLOYER]->(:Institution {name: "Google"})`).Usage(100,
		20).Slow(latency)
	model.On(testkit.Task("answer")).ReplyFunc(func(r testkit.Request) string {
		for _, name := range institutions {
			if strings.Contains(r.LastUser(), name) {
				return fmt.Sprintf("Robert Stam worked at {%s}.", name)
			}
		}
		return "Robert Stam worked at {Google}."
	}).Usage(60, 10).Slow(latency)
	model.On(testkit.Task("relation-paths")).Reply("employer").Usage(50, 10).Slow(latency)
	model.On(testkit.Task("candidate-answers")).Reply("{New York University}").Usage(80, 12).Slow(latency)
	model.On(testkit.Task("evaluate-question")).ReplyJSON(map[string]any{
		"reason": "nothing is missing", "correct": true, "incomplete": false}).Usage(40, 15).Slow(latency)
	model.On(testkit.Task("evaluate-answer")).ReplyChoice(map[string]float64{"yes": .95, "no": .05}).Usage(30,
		1).Slow(latency)
	model.On(testkit.Task("reflect")).ReplyJSON(map[string]any{"answers": []string{institutions[0]}}).Usage(70,
		20).Slow(latency)
	return model
}

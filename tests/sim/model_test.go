package sim

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/testkit"
	"github.com/triplemesh/triplemesh/internal/testkit/simnet"
)

// model is a model server. Its responses depend on the request, so that an answer to another
// question is detected.
type model struct {
	*testkit.LLM
	faulty atomic.Bool
	// pace is the interval between the pieces of a stream.
	pace time.Duration
}

// newModel scripts the model server of a number. The latency of each task depends on the seed.
func newModel(tb testing.TB, seed uint64, number int) *model {
	m := &model{LLM: testkit.NewScript(tb), pace: 5 * time.Millisecond}
	for task, script := range tasks {
		d := time.Duration(20+simnet.Chance(seed, fmt.Sprint(task, number))*300) * time.Millisecond
		script(m.On(testkit.Task(task))).Slow(d)
		// Questions that measure recovery have no such latency.
		script(m.On(testkit.Task(task), func(r testkit.Request) bool { return askedPerson(r) == prober }))
	}
	return m
}

// tasks scripts the tasks of the stages' model calls.
var tasks = map[string]func(*testkit.Rule) *testkit.Rule{
	"pseudo-graph": func(r *testkit.Rule) *testkit.Rule {
		return r.ReplyFunc(func(r testkit.Request) string {
			return fmt.Sprintf(`CREATE (:Person {name: %q})-[:EMPLOYER]->(:Institution {name: "Nowhere Limited"})`,
				askedPerson(r).name)
		}).Usage(100, 20)
	},
	"answer": func(r *testkit.Rule) *testkit.Rule {
		return r.ReplyFunc(func(r testkit.Request) string {
			return askedPerson(r).name + " worked at " + namesShown(r, person.employers) + "."
		}).Usage(60, 10)
	},
	"relation-paths": func(r *testkit.Rule) *testkit.Rule { return r.Reply("director -> educated at").Usage(50, 10) },
	"candidate-answers": func(r *testkit.Rule) *testkit.Rule {
		return r.ReplyFunc(func(r testkit.Request) string { return namesShown(r, person.studies) }).Usage(80, 12)
	},
	"evaluate-question": func(r *testkit.Rule) *testkit.Rule {
		return r.ReplyJSON(map[string]any{"reason": "all are there", "correct": true, "incomplete": false}).Usage(40,
			15)
	},
	"evaluate-answer": func(r *testkit.Rule) *testkit.Rule {
		return r.ReplyChoice(map[string]float64{"yes": .9, "no": .1}).Usage(30, 1)
	},
	"reflect": func(r *testkit.Rule) *testkit.Rule {
		return r.ReplyFunc(func(r testkit.Request) string {
			return `{"answers": ["` + strings.Trim(namesShown(r, person.studies), "{}") + `"]}`
		}).Usage(70, 20)
	},
}

// askedPerson returns the person that a request is about.
func askedPerson(r testkit.Request) person {
	for _, p := range people {
		if strings.Contains(r.LastUser(), p.name) || strings.Contains(r.LastUser(), p.film) {
			return p
		}
	}
	return person{name: "nobody"}
}

// namesShown returns the names in a request, of any person and snapshot.
func namesShown(r testkit.Request, of func(person) [2]string) string {
	var names []string
	for _, p := range people {
		for _, name := range of(p) {
			if strings.Contains(r.LastUser(), name) {
				names = append(names, "{"+name+"}")
			}
		}
	}
	return strings.Join(names, ", ")
}

// misbehave makes the model fail until behave is called.
func (m *model) misbehave(how func(*testkit.Rule)) {
	how(m.On(func(testkit.Request) bool { return m.faulty.Load() }))
	m.faulty.Store(true)
}

func (m *model) behave() { m.faulty.Store(false) }

// serveModel runs a model server.
func (m *mesh) serveModel(ctx context.Context, p *process) error {
	l, err := p.machine().Listen()
	if err != nil {
		return err
	}
	model := m.models[p.name]
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		model.ServeHTTP(dripping{w, model.pace}, r)
	})}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// dripping sends the pieces of a stream at intervals.
type dripping struct {
	http.ResponseWriter
	pace time.Duration
}

// FlushError is called by http.ResponseController.
func (d dripping) FlushError() error {
	time.Sleep(d.pace)
	return http.NewResponseController(d.ResponseWriter).Flush()
}

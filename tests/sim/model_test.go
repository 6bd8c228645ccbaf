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

// model is what a model server says. It follows from what it is asked, so that
// an answer that belongs to another question shows.
type model struct {
	*testkit.LLM
	faulty atomic.Bool
	// pace is how long after the other the pieces of a stream come.
	pace time.Duration
}

// newModel scripts the model server of a number. How long each task takes is for
// the seed to say.
func newModel(tb testing.TB, seed uint64, number int) *model {
	m := &model{LLM: testkit.NewScript(tb), pace: 5 * time.Millisecond}
	for task, script := range tasks {
		d := time.Duration(20+simnet.Chance(seed, fmt.Sprint(task, number))*300) * time.Millisecond
		script(m.On(testkit.Task(task))).Slow(d)
		// Whoever measures how soon a mesh is well again need not wait for that.
		script(m.On(testkit.Task(task), func(r testkit.Request) bool { return asked(r) == prober }))
	}
	return m
}

// tasks are what the stages ask of models.
var tasks = map[string]func(*testkit.Rule) *testkit.Rule{
	"pseudo-graph": func(r *testkit.Rule) *testkit.Rule {
		return r.ReplyFunc(func(r testkit.Request) string {
			return fmt.Sprintf(`CREATE (:Person {name: %q})-[:EMPLOYER]->(:Institution {name: "Nowhere Limited"})`, asked(r).name)
		}).Usage(100, 20)
	},
	"answer": func(r *testkit.Rule) *testkit.Rule {
		return r.ReplyFunc(func(r testkit.Request) string {
			return asked(r).name + " worked at " + shown(r, person.employers) + "."
		}).Usage(60, 10)
	},
	"relation-paths": func(r *testkit.Rule) *testkit.Rule { return r.Reply("director -> educated at").Usage(50, 10) },
	"candidate-answers": func(r *testkit.Rule) *testkit.Rule {
		return r.ReplyFunc(func(r testkit.Request) string { return shown(r, person.studies) }).Usage(80, 12)
	},
	"evaluate-question": func(r *testkit.Rule) *testkit.Rule {
		return r.ReplyJSON(map[string]any{"reason": "all are there", "correct": true, "incomplete": false}).Usage(40, 15)
	},
	"evaluate-answer": func(r *testkit.Rule) *testkit.Rule {
		return r.ReplyChoice(map[string]float64{"yes": .9, "no": .1}).Usage(30, 1)
	},
	"reflect": func(r *testkit.Rule) *testkit.Rule {
		return r.ReplyFunc(func(r testkit.Request) string {
			return `{"answers": ["` + strings.Trim(shown(r, person.studies), "{}") + `"]}`
		}).Usage(70, 20)
	},
}

// asked is the person whom a request is about.
func asked(r testkit.Request) person {
	for _, p := range people {
		if strings.Contains(r.LastUser(), p.name) || strings.Contains(r.LastUser(), p.film) {
			return p
		}
	}
	return person{name: "nobody"}
}

// shown are the names of a sort, of anybody and any snapshot, that a request
// shows.
func shown(r testkit.Request, of func(person) [2]string) string {
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

// misbehave has the model do wrong from now on, until behave.
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

// dripping sends the pieces of a stream one after the other.
type dripping struct {
	http.ResponseWriter
	pace time.Duration
}

// FlushError implements what http.ResponseController looks for.
func (d dripping) FlushError() error {
	time.Sleep(d.pace)
	return http.NewResponseController(d.ResponseWriter).Flush()
}

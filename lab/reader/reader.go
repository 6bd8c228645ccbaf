// Package reader answers the reading calls of a mesh in place of the model: from the right answers
// of a question set, as far as they are among what a call shows. So the figures of an evaluation
// are the ceiling of the other stages, and what a rule loses is not the model's fault. Calls that
// draft from memory or plan go to the model.
package reader

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/lab/dataset"
)

// Oracle is the name of the reader that knows the right answers.
const Oracle = "oracle"

// Reader answers requests by the right answers of the questions that it has learned. It is safe for
// concurrent use.
type Reader struct {
	rate float64 // share of the calls that are answered wrong

	mu   sync.RWMutex
	gold map[string]*gold // by key of the question
}

// Parse returns the reader of a name: "oracle", or "oracle:0.2" for one that errs in 20 % of its
// calls.
func Parse(name string) (*Reader, error) {
	kind, text, hasRate := strings.Cut(name, ":")
	rate, err := 0.0, error(nil)
	if hasRate {
		rate, err = strconv.ParseFloat(text, 64)
	}
	if kind != Oracle || err != nil || !(rate >= 0 && rate <= 1) {
		return nil, fmt.Errorf("%q is no reader; write oracle, or oracle and an error rate between 0 and 1 such as "+
			"oracle:0.2", name)
	}
	return &Reader{rate: rate, gold: make(map[string]*gold)}, nil
}

// Name returns the name that Parse reads, in its shortest form.
func (r *Reader) Name() string {
	if r.rate == 0 {
		return Oracle
	}
	return Oracle + ":" + strconv.FormatFloat(r.rate, 'g', -1, 64)
}

// Learn adds the right answers of questions. The seed determines which calls are answered wrong. A
// question that was learned before keeps its seed and gets the answers of both.
func (r *Reader) Learn(questions []dataset.Question, seed int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, q := range questions {
		key := questionKey(q.Question)
		if r.gold[key] == nil {
			r.gold[key] = &gold{seed: seed, answers: make(map[string]int)}
		}
		r.gold[key].add(q)
	}
}

// Substitute implements llm.Substitute: it answers the calls that read or judge what they show. A
// question that was not learned is an error.
func (r *Reader) Substitute(_ context.Context, req llm.Request) (llm.Response, bool, error) {
	read, reads := tasks[req.Task]
	if !reads {
		return llm.Response{}, false, nil
	}
	m := parseMessage(req)
	r.mu.RLock()
	g := r.gold[questionKey(m.question)]
	r.mu.RUnlock()
	c := &call{message: m, gold: g, schema: req.Schema}
	if !read.shows(c) {
		return llm.Response{}, false, nil
	}
	if g == nil {
		return llm.Response{}, true, fmt.Errorf("reader %s: the question %q is not in the question set", r.Name(),
			m.question)
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{strconv.FormatInt(g.seed, 10), req.Task,
		questionKey(m.question), read.item(c)}, "\x00")))
	c.wrong = draw(sum[:8]) < r.rate
	c.pick = binary.BigEndian.Uint64(sum[8:16])
	c.confidence = min(max(1-r.rate, 0.5), maxConfidence)
	text, tokens := read.answer(c)
	return llm.Response{Text: text, Tokens: tokens, FinishReason: "stop", Model: r.Name()}, true, nil
}

// ReadingShare implements llm.Substitute; it is never 0, which would be the default.
func (r *Reader) ReadingShare() float32 {
	return min(max(float32(1-r.rate), 0.01), llm.MaxReadingShare)
}

// maxConfidence is the probability of an answer of a reader that never errs: models are not surer.
const maxConfidence = 0.99

// draw returns a number from 0 to below 1.
func draw(hash []byte) float64 { return float64(binary.BigEndian.Uint64(hash)>>11) / (1 << 53) }

// call is one request to be answered.
type call struct {
	message
	gold   *gold
	schema *llm.Schema
	// wrong reports whether the call is to be answered wrong; pick chooses the wrong answer.
	wrong bool
	pick  uint64
	// confidence is the probability that the reader gives its answer: 1 less the error rate.
	confidence float64
}

// choose returns one of several names by the call's pick; "" if there are none.
func (c *call) choose(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[c.pick%uint64(len(names))]
}

// token returns a token with the reader's confidence.
func (c *call) token(text string) llm.Token {
	p := math.Log(c.confidence)
	return llm.Token{Text: text, LogProb: p, Top: []llm.Alternative{{Text: text, LogProb: p}}}
}

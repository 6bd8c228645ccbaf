package method

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/triplemesh/triplemesh/internal/client"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// generateAnswer streams the text where somebody waits for it. Where the
// generator is lost in the middle, another begins again, once.
func (s Stages) generateAnswer(ctx context.Context, q *question.Question, req *generatorv1.GenerateAnswerRequest) (*generatorv1.GenerateAnswerResponse, error) {
	if !q.Streaming() {
		return s.Generator.GenerateAnswer(ctx, req)
	}
	w := &writing{q: q}
	answer, err := s.write(ctx, req, w)
	if client.Lost(err) && ctx.Err() == nil {
		w.restart()
		answer, err = s.write(ctx, req, w)
	}
	if err == nil {
		w.end(answer.GetText())
	}
	return answer, err
}

// write hands on the pieces of one generator's text.
func (s Stages) write(ctx context.Context, req *generatorv1.GenerateAnswerRequest, w *writing) (*generatorv1.GenerateAnswerResponse, error) {
	stream, err := s.Generator.GenerateAnswerStream(ctx, &generatorv1.GenerateAnswerStreamRequest{Request: req})
	if err != nil {
		return nil, err
	}
	var answer *generatorv1.GenerateAnswerResponse
	for {
		event, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return answer, nil
		}
		if err != nil {
			return nil, err
		}
		if a := event.GetAnswer(); a != nil {
			answer = a
		} else {
			w.delta(event.GetDelta())
		}
	}
}

// writing is a text on its way to whoever waits for it. A text that begins again
// is held back as long as it says what was told already, which is as a rule all
// of it; where it says something else, what was told is taken back.
type writing struct {
	q      *question.Question
	told   string
	again  string // what came since it began again
	behind bool   // again is not further than told
}

func (w *writing) restart() { w.again, w.behind = "", true }

func (w *writing) delta(text string) {
	if !w.behind {
		w.tell(text)
		return
	}
	w.again += text
	switch rest, further := strings.CutPrefix(w.again, w.told); {
	case further:
		w.behind = false
		w.tell(rest)
	case !strings.HasPrefix(w.told, w.again):
		w.takeBack()
	}
}

// end is where the answer may turn out to be another than was told: one that
// began again is shorter, or the generator's model server broke off and the next
// one wrote it otherwise.
func (w *writing) end(answer string) {
	if w.told == "" || strings.TrimSpace(w.told) == strings.TrimSpace(answer) {
		return
	}
	if rest, further := strings.CutPrefix(answer, w.told); further {
		w.tell(rest)
		return
	}
	w.again = answer
	w.takeBack()
}

func (w *writing) takeBack() {
	w.q.Restart()
	w.told, w.behind = "", false
	w.tell(w.again)
}

func (w *writing) tell(text string) {
	if text != "" {
		w.told += text
		w.q.Delta(text)
	}
}

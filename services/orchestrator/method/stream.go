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

// generateAnswer streams the text if the question has a listener. If the generator is lost during
// the stream, the call is retried once.
func (s Stages) generateAnswer(ctx context.Context, q *question.Question,
	req *generatorv1.GenerateAnswerRequest) (*generatorv1.GenerateAnswerResponse, error) {
	if !q.Streaming() {
		return s.Generator.GenerateAnswer(ctx, req)
	}
	w := &deltaWriter{q: q}
	answer, err := s.streamAnswer(ctx, req, w)
	if client.IsLost(err) && ctx.Err() == nil {
		w.restart()
		answer, err = s.streamAnswer(ctx, req, w)
	}
	if err == nil {
		w.finish(answer.GetText())
	}
	return answer, err
}

// streamAnswer forwards the deltas of one generator.
func (s Stages) streamAnswer(ctx context.Context, req *generatorv1.GenerateAnswerRequest,
	w *deltaWriter) (*generatorv1.GenerateAnswerResponse, error) {
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

// deltaWriter sends the text of an answer to the question's listener. After a restart it suppresses
// the new text as long as it repeats what was sent, which as a rule is all of it; if the new text
// differs, the listener is told to discard the old one.
type deltaWriter struct {
	q          *question.Question
	sent       string
	restarted  string // the text since the restart
	catchingUp bool   // restarted is not longer than sent
}

func (w *deltaWriter) restart() { w.restarted, w.catchingUp = "", true }

func (w *deltaWriter) delta(text string) {
	if !w.catchingUp {
		w.send(text)
		return
	}
	w.restarted += text
	switch rest, longer := strings.CutPrefix(w.restarted, w.sent); {
	case longer:
		w.catchingUp = false
		w.send(rest)
	case !strings.HasPrefix(w.sent, w.restarted):
		w.replace(w.restarted)
	}
}

// finish sends what the deltas lack of the final text. The two differ if the restarted answer is
// shorter, or the generator failed over to another model server.
func (w *deltaWriter) finish(answer string) {
	if w.sent == "" || strings.TrimSpace(w.sent) == strings.TrimSpace(answer) {
		return
	}
	if rest, longer := strings.CutPrefix(answer, w.sent); longer {
		w.send(rest)
		return
	}
	w.replace(answer)
}

// replace tells the listener to discard what was sent, and sends text.
func (w *deltaWriter) replace(text string) {
	w.q.Restart()
	w.sent, w.catchingUp = "", false
	w.send(text)
}

func (w *deltaWriter) send(text string) {
	if text != "" {
		w.sent += text
		w.q.Delta(text)
	}
}

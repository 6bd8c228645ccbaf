package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/probe"
)

// answerWithin is how long the doctor waits for a model's words. One that is
// slower may still do: it has to be read from disk, or has others to answer.
const answerWithin = 15 * time.Second

// endpoint has a model endpoint answer a few words.
func (p *program) endpoint(e mesh.Endpoint) finding {
	f := finding{Name: "model endpoint", State: ok, Found: e.BaseURL + ", model " + e.Model}
	ctx, cancel := context.WithTimeout(p.ctx, answerWithin)
	defer cancel()
	asked := probe.Endpoint{BaseURL: e.BaseURL, Model: e.Model, APIKey: e.APIKey}
	can, err := probe.Ask(ctx, asked)
	switch unknown := new(probe.UnknownModel); {
	case err == nil:
		f.Found += fmt.Sprintf("; it answers in %s; JSON schema: %s; probabilities of tokens: %s", seconds(can.Took), yesNo(can.Schema), yesNo(can.LogProbs))
	case errors.As(err, &unknown):
		f.State, f.Found = missing, err.Error()
		f.Mend = "name one that is there, by llm.model or TRIPLEMESH_LLM_MODEL"
	case errors.Is(err, context.DeadlineExceeded):
		f.Found += fmt.Sprintf("; it has not answered within %v, which may be its pace", answerWithin)
		if _, err := probe.List(p.ctx, asked); err != nil {
			f.State, f.Found, f.Mend = missing, err.Error(), "look at the endpoint's log"
		}
	default:
		f.State, f.Found = missing, err.Error()
		f.Mend = "start the endpoint, or correct OPENAI_BASE_URL and OPENAI_API_KEY, or unset them to use the local model; `triplemesh init` tries one"
	}
	return f
}

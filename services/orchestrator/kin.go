package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// maxKin bounds the answers whose sex is looked up.
const maxKin = 16

// keepSex leaves out the answers of the other sex than a question asks its relatives to be of, where the relation says
// none: the sons of the children, if daughters are asked for. It returns why the answers may be of either; empty if
// they are of the one asked for, or the question asks for neither. A retriever that fails says nothing.
func (s *Service) keepSex(ctx context.Context, q *question.Question) (doubted string) {
	asked, run := kgtext.AskedSex(q.Text()), q.Snapshot()
	saysOwn := func(a *orchestratorv1.Answer) bool { // not that of whose daughter she is
		return slices.ContainsFunc(a.GetEvidence(), func(t *graphv1.Triple) bool {
			return t.GetObject() == a.GetAnswer() && kgtext.SexSaid(t.GetRelation()) != ""
		})
	}
	if asked == "" || len(q.OtherKGs()) > 0 || len(run.GetAnswers()) > maxKin ||
		run.GetGrounding() != orchestratorv1.Grounding_GROUNDING_GROUNDED ||
		slices.ContainsFunc(run.GetAnswers(), saysOwn) {
		return ""
	}
	var kept []*orchestratorv1.Answer
	isKnown := true
	for _, a := range run.GetAnswers() {
		stated, err := s.findSex(ctx, q, cmp.Or(a.GetId(), a.GetAnswer()))
		if err != nil {
			return ""
		}
		switch kgtext.StatedSex(stated) {
		case "":
			isKnown = false
		case asked:
			a.Evidence = append(a.Evidence, stated)
		default:
			continue
		}
		kept = append(kept, a)
	}
	if len(kept) == 0 {
		return fmt.Sprintf("the question asks for somebody %s, and the triples say that none of them is", asked)
	}
	if len(kept) < len(run.GetAnswers()) {
		text := method.JoinNames(kept)
		q.Update(func(run *orchestratorv1.Run) { run.Answers, run.Text = kept, text })
		q.Replace(text)
	} else if isKnown {
		q.Update(func(run *orchestratorv1.Run) { run.Answers = kept })
	}
	if !isKnown && len(kept) > 1 {
		return fmt.Sprintf("the question asks for those who are %s, and the triples do not say who is", asked)
	}
	return ""
}

// findSex returns the triple that says the sex of an entity, nil if none does.
func (s *Service) findSex(ctx context.Context, q *question.Question, entity string) (*graphv1.Triple, error) {
	req := &retrieverv1.ListNeighboursRequest{Kg: q.KG(), Entity: entity,
		Direction: retrieverv1.Direction_DIRECTION_OUT, RelationsOnly: true}
	around, err := s.Stages.Retriever.ListNeighbours(ctx, req)
	if err != nil {
		return nil, err
	}
	req.RelationsOnly = false
	for _, r := range around.GetRelations() {
		if kgtext.IsSex(r.GetRelation()) {
			req.Relations = append(req.Relations, r.GetRelation())
		}
	}
	if len(req.GetRelations()) == 0 {
		return nil, nil
	}
	if around, err = s.Stages.Retriever.ListNeighbours(ctx, req); err != nil {
		return nil, err
	}
	for _, t := range around.GetTriples() {
		if kgtext.StatedSex(t) != "" {
			return t, nil
		}
	}
	return nil, nil
}

package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/paging"
	authv1 "github.com/triplemesh/triplemesh/proto/triplemesh/auth/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/feedback"
	"github.com/triplemesh/triplemesh/services/orchestrator/sources"
)

// callerFeedback returns the caller and the feedback of their tenant.
func (s *Service) callerFeedback(ctx context.Context) (auth.Caller, *feedback.Store, error) {
	caller, ok := auth.CallerFrom(ctx)
	if !ok {
		return auth.Caller{}, nil, auth.ErrNoTenant
	}
	store, err := s.Feedback.Tenant(caller.Tenant)
	return caller, store, err
}

// CreateFeedback implements orchestratorv1.FeedbackServiceServer.
func (s *Service) CreateFeedback(ctx context.Context,
	req *orchestratorv1.CreateFeedbackRequest) (*orchestratorv1.CreateFeedbackResponse, error) {
	caller, runs, err := s.callerRuns(ctx)
	if err != nil {
		return nil, err
	}
	store, err := s.Feedback.Tenant(caller.Tenant)
	if err != nil {
		return nil, err
	}
	run, err := s.readRun(caller, runs, req.GetRunId())
	if err != nil {
		return nil, err
	}
	marks, err := s.resolveMarks(ctx, run, req.GetMarks())
	if err != nil {
		return nil, err
	}
	created := s.describeRun(ctx, run)
	created.Subject, created.CreateTime = caller.Subject, timestamppb.Now()
	resp := &orchestratorv1.CreateFeedbackResponse{}
	seen := map[string]int{}
	for i, mark := range marks {
		m := proto.CloneOf(created)
		m.Id, m.Mark = feedback.ID(run.GetId(), caller.Subject, mark), mark
		if before, twice := seen[m.GetId()]; twice {
			return nil, invalidArgument(fmt.Sprintf("marks[%d]", i),
				fmt.Sprintf("it is about the same item as marks[%d]: mark each item once", before))
		}
		seen[m.GetId()] = i
		resp.Feedback = append(resp.Feedback, m)
	}
	if err := s.Quotas.AddFeedback(caller.Tenant, len(marks)); err != nil {
		s.metrics.countRefusal(ctx, err)
		return nil, err
	}
	if err := store.Save(resp.GetFeedback()...); errors.Is(err, feedback.ErrFull) {
		return nil, status.Errorf(codes.ResourceExhausted, "%v; export them with `triplemesh feedback export` and "+
			"delete what is trained on, or ask the operator to raise orchestrator.feedback.max_marks", err)
	} else if err != nil {
		return nil, err
	}
	s.metrics.countFeedback(ctx, caller.Tenant, marks)
	return resp, nil
}

// describeRun returns what feedback copies from its run. Methods that link no topic entities do so
// here, if the knowledge graph still can: training starts from them.
func (s *Service) describeRun(ctx context.Context, run *orchestratorv1.Run) *orchestratorv1.Feedback {
	m := &orchestratorv1.Feedback{
		RunId: run.GetId(), Question: cmp.Or(run.GetStandaloneQuestion(), run.GetQuestion()), Method: run.GetMethod(),
		Kg: run.GetKg(), OtherKgs: run.GetOtherKgs(),
	}
	links := topicEntities(run)
	if len(links) == 0 && run.GetKg() != nil {
		resp, err := s.Stages.Retriever.LinkEntities(ctx,
			&retrieverv1.LinkEntitiesRequest{Kg: run.GetKg(), Text: m.GetQuestion()})
		if err == nil {
			links = resp.GetLinks()
		}
	}
	seen := map[string]bool{} // several words may mean one entity
	for _, link := range links {
		key := link.GetKgName() + "\x00" + cmp.Or(link.GetEntityId(), link.GetEntity())
		if !seen[key] {
			seen[key] = true
			m.TopicEntities = append(m.TopicEntities,
				&graphv1.Entity{Id: link.GetEntityId(), Name: link.GetEntity(), KgName: link.GetKgName()})
		}
	}
	for _, a := range run.GetAnswers() {
		m.Answers = append(m.Answers, &orchestratorv1.MarkedAnswer{Answer: a.GetAnswer(), Id: a.GetId()})
	}
	return m
}

// topicEntities returns the entities that a run started from.
func topicEntities(run *orchestratorv1.Run) []*graphv1.EntityLink {
	switch g := run.GetGraphs().(type) {
	case *orchestratorv1.Run_Ger:
		return g.Ger.GetTopicEntities()
	case *orchestratorv1.Run_Tog:
		return g.Tog.GetTopicEntities()
	case *orchestratorv1.Run_Rog:
		return g.Rog.GetTopicEntities()
	}
	return nil
}

// resolveMarks returns marks on the items of a run as the run or its knowledge graph names them. It is
// an error if the run lacks an item that is right or wrong, or gave an answer that is missing.
func (s *Service) resolveMarks(ctx context.Context, run *orchestratorv1.Run,
	marks []*orchestratorv1.Mark) ([]*orchestratorv1.Mark, error) {
	known, err := s.findMissing(ctx, run, marks)
	if err != nil {
		return nil, err
	}
	var triples []*graphv1.Triple // of the run, read if a mark needs them
	resolved := make([]*orchestratorv1.Mark, len(marks))
	for i, given := range marks {
		mark := &orchestratorv1.Mark{Judgement: given.GetJudgement(), Comment: given.GetComment()}
		missing := given.GetJudgement() == orchestratorv1.Judgement_JUDGEMENT_MISSING
		if t := given.GetTriple(); t != nil {
			if triples == nil && !missing {
				triples = sources.Triples(run)
			}
			t, err = resolveTriple(t, triples, missing, known)
			mark.Item = &orchestratorv1.Mark_Triple{Triple: t}
		} else {
			var a *orchestratorv1.MarkedAnswer
			a, err = resolveAnswer(given.GetAnswer(), run, missing, known)
			mark.Item = &orchestratorv1.Mark_Answer{Answer: a}
		}
		if err != nil {
			return nil, invalidArgument(fmt.Sprintf("marks[%d]", i), err.Error())
		}
		resolved[i] = mark
	}
	return resolved, nil
}

// findMissing looks the names of missing items up in the knowledge graphs of a run, which may be gone
// since: what is not found keeps the caller's name.
func (s *Service) findMissing(ctx context.Context, run *orchestratorv1.Run,
	marks []*orchestratorv1.Mark) (map[string]*graphv1.Entity, error) {
	var names []string
	for _, mark := range marks {
		if mark.GetJudgement() != orchestratorv1.Judgement_JUDGEMENT_MISSING {
			continue
		}
		if t := mark.GetTriple(); t != nil {
			names = append(names, t.GetSubject(), t.GetObject())
		} else {
			names = append(names, mark.GetAnswer().GetAnswer())
		}
	}
	known := map[string]*graphv1.Entity{}
	if len(names) == 0 || run.GetKg() == nil {
		return known, nil
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, kg := range append([]*graphv1.KnowledgeGraphRef{run.GetKg()}, run.GetOtherKgs()...) {
		resp, err := s.Stages.Retriever.BatchGetEntities(ctx,
			&retrieverv1.BatchGetEntitiesRequest{Kg: kg, Entities: names})
		switch status.Code(err) {
		case codes.OK, codes.NotFound, codes.FailedPrecondition, codes.Unimplemented:
		default:
			return nil, err
		}
		for name, entity := range resp.GetEntities() {
			if known[name] == nil {
				known[name] = entity
			}
		}
	}
	return known, nil
}

// resolveAnswer returns the answer of a run that a mark is about, or a missing one as the knowledge
// graph has it.
func resolveAnswer(given *orchestratorv1.MarkedAnswer, run *orchestratorv1.Run, missing bool,
	known map[string]*graphv1.Entity) (*orchestratorv1.MarkedAnswer, error) {
	wanted := &orchestratorv1.MarkedAnswer{Answer: given.GetAnswer(), Id: given.GetId()}
	if e := known[given.GetAnswer()]; missing && e != nil {
		wanted.Answer, wanted.Id = e.GetName(), e.GetId()
	} else if missing {
		wanted.Id = ""
	}
	all := run.GetAnswers()
	if !missing {
		all = append(slices.Clip(all), run.GetWithheld()...)
	}
	for _, a := range all {
		if !feedback.MatchTerms(wanted.GetId(), wanted.GetAnswer(), a.GetId(), a.GetAnswer()) &&
			(a.GetId() == "" || given.GetAnswer() != a.GetId()) {
			continue
		}
		if missing {
			return nil, fmt.Errorf("the run answered %q: an answer that it gave is right or wrong, not missing",
				a.GetAnswer())
		}
		return &orchestratorv1.MarkedAnswer{Answer: a.GetAnswer(), Id: a.GetId()}, nil
	}
	if missing {
		return wanted, nil
	}
	var names []string
	for _, a := range all {
		names = append(names, fmt.Sprintf("%q", a.GetAnswer()))
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("the run has no answer %q, nor any other: mark the right ones missing",
			given.GetAnswer())
	}
	const shown = 10
	more := ""
	if len(names) > shown {
		more = fmt.Sprintf(" and %d more", len(names)-shown)
	}
	return nil, fmt.Errorf("the run has no answer %q; it has %s%s", given.GetAnswer(),
		strings.Join(names[:min(len(names), shown)], ", "), more)
}

// resolveTriple returns the triple of a run that a mark is about, or a missing one with the names and
// ids of the knowledge graph.
func resolveTriple(given *graphv1.Triple, all []*graphv1.Triple, missing bool,
	known map[string]*graphv1.Entity) (*graphv1.Triple, error) {
	if !missing {
		for _, t := range all {
			if feedback.MatchTriples(given, t) {
				return t, nil
			}
		}
		return nil, fmt.Errorf("the run has no triple %q", kgtext.FormatFact(given))
	}
	t := &graphv1.Triple{Subject: given.GetSubject(), Relation: given.GetRelation(), Object: given.GetObject(),
		Validity: given.GetValidity()}
	if e := known[t.GetSubject()]; e != nil {
		t.Subject, t.SubjectId = e.GetName(), e.GetId()
	}
	if e := known[t.GetObject()]; e != nil {
		t.Object, t.ObjectId = e.GetName(), e.GetId()
	}
	return t, nil
}

// ListFeedback implements orchestratorv1.FeedbackServiceServer.
func (s *Service) ListFeedback(ctx context.Context,
	req *orchestratorv1.ListFeedbackRequest) (*orchestratorv1.ListFeedbackResponse, error) {
	caller, store, err := s.callerFeedback(ctx)
	if err != nil {
		return nil, err
	}
	filter := feedback.Filter{Run: req.GetRunId(), KG: req.GetKgName()}
	all := caller.Allows(authv1.Scope_SCOPE_FEEDBACK_READ) && !req.GetOwn()
	switch subject := req.GetSubject(); {
	case !all && subject != "" && subject != caller.Subject:
		return &orchestratorv1.ListFeedbackResponse{}, nil
	case !all:
		filter.Subject = &caller.Subject
	case subject != "":
		filter.Subject = &subject
	}
	if token := req.GetPageToken(); token != "" && !feedback.IsID(token) { // the id of the last mark of the page before
		return nil, paging.ErrToken
	}
	size := defaultPageSize
	if n := int(req.GetPageSize()); n > 0 {
		size = n
	}
	page, next, err := store.List(ctx, size, req.GetPageToken(), filter)
	if err != nil {
		return nil, err
	}
	return &orchestratorv1.ListFeedbackResponse{Feedback: page, NextPageToken: next}, nil
}

// DeleteFeedback implements orchestratorv1.FeedbackServiceServer.
func (s *Service) DeleteFeedback(ctx context.Context,
	req *orchestratorv1.DeleteFeedbackRequest) (*orchestratorv1.DeleteFeedbackResponse, error) {
	caller, store, err := s.callerFeedback(ctx)
	if err != nil {
		return nil, err
	}
	if !caller.Allows(authv1.Scope_SCOPE_ADMIN) {
		m, err := store.Get(req.GetId())
		if err == nil && m.GetSubject() != caller.Subject {
			err = feedback.ErrNotFound
		}
		if err != nil {
			return nil, explainFeedbackError(err, req.GetId())
		}
	}
	if err := store.Delete(req.GetId()); err != nil {
		return nil, explainFeedbackError(err, req.GetId())
	}
	return &orchestratorv1.DeleteFeedbackResponse{}, nil
}

// explainFeedbackError returns the status of an error about one mark.
func explainFeedbackError(err error, id string) error {
	switch {
	case errors.Is(err, feedback.ErrNotFound):
		return status.Errorf(codes.NotFound, "there is no feedback %q; `triplemesh feedback list` lists what there is",
			id)
	case errors.Is(err, feedback.ErrDamaged):
		return status.Errorf(codes.DataLoss, "the record of the feedback %q is damaged; a caller with the scope admin "+
			"can delete it", id)
	}
	return err
}

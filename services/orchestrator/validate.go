package orchestrator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/config"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method"
)

// defaultMethod answers questions that name no method.
const defaultMethod = "auto"

// validateAsk checks what the rules in the proto cannot express, and returns the method of the
// request.
func (s *Service) validateAsk(req *orchestratorv1.AskRequest) (method.Method, error) {
	m, err := s.findMethod(req.GetMethod())
	if err != nil {
		return nil, err
	}
	options := req.GetOptions()
	switch {
	case options.GetAbstainBelow() > 0 && options.GetAnswerForm() == graphv1.AnswerForm_ANSWER_FORM_TEXT:
		return nil, invalidArgument("options.abstain_below", "there is no confidence in a text: ask for entities")
	case req.GetPlan() != "" && !slices.Contains([]string{"auto", "query"}, m.Info().GetName()):
		return nil, invalidArgument("plan",
			fmt.Sprintf("the method %s computes no plan of the caller's: ask with the method query or auto",
				m.Info().GetName()))
	}
	if err := validateKGs(req); err != nil {
		return nil, err
	}
	if err := s.validateAblation(m.Info(), options.GetAblation()); err != nil {
		return nil, err
	}
	return m, validateUntil(m, req)
}

func (s *Service) findMethod(name string) (method.Method, error) {
	name = cmp.Or(name, defaultMethod)
	var names []string
	for _, m := range s.Methods {
		if m.Info().GetName() == name {
			return m, nil
		}
		names = append(names, m.Info().GetName())
	}
	return nil, invalidArgument("method",
		fmt.Sprintf("there is no method %q; there are: %s", name, strings.Join(names, ", ")))
}

// validateKGs checks that each knowledge graph is named once, because its name labels evidence, and
// that relation paths are followed in knowledge graphs that the question reads.
func validateKGs(req *orchestratorv1.AskRequest) error {
	seen := map[string]bool{req.GetKg().GetName(): true}
	for _, kg := range req.GetOtherKgs() {
		if seen[kg.GetName()] {
			return invalidArgument("other_kgs",
				fmt.Sprintf("the knowledge graph %s is named twice: name each once, and one snapshot of it",
					kg.GetName()))
		}
		seen[kg.GetName()] = true
	}
	for _, path := range req.GetRelationPaths() {
		if kg := path.GetKgName(); kg != "" && !seen[kg] {
			return invalidArgument("relation_paths",
				fmt.Sprintf("a relation path is to be followed in the knowledge graph %s, which the question does "+
					"not read: name it too, or none", kg))
		}
	}
	return nil
}

// validateAblation checks that the method has the ablation.
func (s *Service) validateAblation(info *orchestratorv1.Method, ablation orchestratorv1.Ablation) error {
	if ablation == orchestratorv1.Ablation_ABLATION_UNSPECIFIED || slices.Contains(info.GetAblations(), ablation) {
		return nil
	}
	names, having := []string{}, []string{}
	for _, a := range info.GetAblations() {
		names = append(names, config.EnumName(a))
	}
	for _, m := range s.Methods {
		if slices.Contains(m.Info().GetAblations(), ablation) {
			having = append(having, m.Info().GetName())
		}
	}
	return invalidArgument("options.ablation", fmt.Sprintf(
		"the method %s has no ablation %s; it has: %s; ask for it with the method %s", info.GetName(),
		config.EnumName(ablation), cmp.Or(strings.Join(names, ", "), "none"), strings.Join(having, " or ")))
}

// validateUntil checks that the method has the stage to stop after, and that the ablation does not
// skip it. A follow-up question has the stage rewrite before all methods.
func validateUntil(m method.Method, req *orchestratorv1.AskRequest) error {
	options, until := req.GetOptions(), req.GetOptions().GetUntil()
	if until == orchestratorv1.Stage_STAGE_UNSPECIFIED || until == orchestratorv1.Stage_STAGE_REWRITE &&
		len(req.GetHistory()) > 0 {
		return nil
	}
	with := "the method " + m.Info().GetName()
	var skipped []orchestratorv1.Stage
	ablatable, ok := m.(method.Ablatable)
	if ok && options.GetAblation() != orchestratorv1.Ablation_ABLATION_UNSPECIFIED {
		with += " with the ablation " + config.EnumName(options.GetAblation())
		skipped = ablatable.SkippedStages(options.GetAblation())
	}
	var names []string
	for _, stage := range m.Info().GetStages() {
		if slices.Contains(skipped, stage) {
			continue
		}
		if stage == until {
			return nil
		}
		names = append(names, config.EnumName(stage))
	}
	return invalidArgument("options.until", fmt.Sprintf("%s has no stage %s; it has: %s", with,
		config.EnumName(until), strings.Join(names, ", ")))
}

// invalidArgument returns an INVALID_ARGUMENT error for a field.
func invalidArgument(field, description string) error {
	st := status.New(codes.InvalidArgument, fmt.Sprintf("%s: %s", field, description))
	detailed, err := st.WithDetails(&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{
		{Field: field, Description: description},
	}})
	if err != nil {
		return st.Err()
	}
	return detailed.Err()
}

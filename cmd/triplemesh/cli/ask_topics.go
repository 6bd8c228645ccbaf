package cli

import (
	"context"
	"fmt"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// maxMention is how long a name may be to be linked, in bytes, by the contract.
const maxMention = 16384

// checkTopics finds topic entities that no knowledge graph of a question holds:
// a method that starts from them would find nothing, and answer from the model's
// own knowledge. Where the front door does not link, nothing is checked.
func checkTopics(ctx context.Context, client retrieverv1.RetrieverServiceClient, req *orchestratorv1.AskRequest) error {
	for _, topic := range req.GetTopicEntities() {
		if topic == "" || len(topic) > maxMention {
			continue
		}
		var near []string
		found, asked := false, false
		for _, kg := range append([]*graphv1.KnowledgeGraphRef{req.GetKg()}, req.GetOtherKgs()...) {
			resp, err := client.LinkEntities(ctx, &retrieverv1.LinkEntitiesRequest{Kg: kg, Text: topic})
			if err != nil {
				continue
			}
			asked = true
			for _, link := range resp.GetLinks() {
				found = found || link.GetEntity() == topic
				near = append(near, link.GetEntity())
			}
		}
		if asked && !found {
			return exitError{exitUsage, fmt.Errorf("--topic %s: %s holds no such entity%s", topic, refText(req.GetKg()), orMeant(near))}
		}
	}
	return nil
}

// orMeant proposes the entities that a name may have meant, best first.
func orMeant(names []string) string {
	if len(names) == 0 {
		return ", nor one with a name like it"
	}
	meant := "; did you mean " + names[0]
	for i, name := range names[1:min(3, len(names))] {
		if i == min(3, len(names))-2 {
			meant += " or " + name
		} else {
			meant += ", " + name
		}
	}
	return meant + "?"
}

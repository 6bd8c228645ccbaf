package tests

import (
	"strings"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// notesOfVesselBay scripts the claims and answers for the notes of text.md, sentence by sentence,
// as recorded from the bundled model, errors included.
func notesOfVesselBay(m *testkit.LLM) {
	m.On(testkit.Task("claims")).Reply("none")
	for sentence, facts := range map[string]string{
		"The lifeboat Petrel was built": "Petrel | builder | Hollis & Sons\nPetrel | year built | 1987",
		"Its home port is":              "Petrel | builder | Hollis & Sons\nPetrel | home port | Vessel Bay",
		"The skipper of the Petrel":     "Ruben Aster | occupation | skipper of the Petrel",
		"The ferry Marrow Queen sails": "The ferry Marrow Queen | instance of | ferry\nThe ferry Marrow Queen | " +
			"location | Vessel Bay\nThe ferry Marrow Queen | location | Saltby",
		"It was built by Hollis and": "The ferry Marrow Queen | builder | Hollis and Sons\nThe ferry Marrow " +
			"Queen | year of construction | 2004",
		"The harbour of Vessel Bay was": "Vessel Bay | opening date | 1908",
		"It belongs to the town": "Vessel Bay | instance of | harbour\nVessel Bay | location | " +
			"Marrow\nVessel Bay | county | Marrow",
		"The harbour master is": "The harbour master | employer | Edda Thorne",
		"She has held the post": "Edda Thorne | position | harbour master\nEdda Thorne | date of service | " +
			"since 2016",
		"Lorcan Pike was harbour master": "Edda Thorne | instance of | not harbour master",
		"Pike was born in":               "Pike | place of birth | Saltby",
		"Ruben Aster was born in":        "Ruben Aster | place of birth | Saltby",
		"He studied navigation":          "Ruben Aster | occupation | navigator",
		"E. Thorne teaches":              "E. Thorne | employer | Marrow Nautical College",
		"Edda Thorne is married to":      "Edda Thorne | spouse | Ruben Aster",
	} {
		m.On(testkit.Task("claims"), func(r testkit.Request) bool {
			_, text, _ := strings.Cut(r.LastUser(), "Text: ")
			return strings.Contains(text, sentence)
		}).Reply(facts)
	}
	onTopic(m, "Petrel").
		drafts(`CREATE (:Boat {name: "Petrel"})-[:HOMEPORT]->(:Port {name: "Port of Rotterdam"})`).
		answers("The Petrel's home port is {Vessel Bay}.")
}

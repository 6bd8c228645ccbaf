package kgtext

import "testing"

func TestForeignQuestionsAreDetected(t *testing.T) {
	for want, questions := range map[string][]string{
		"German": {"Wer hat den Film Alexander gedreht?", "Was ist die Hauptstadt von Frankreich?",
			"Wo wurde Goethe geboren?",
			"Nenne alle Filme von Steven Spielberg", "In welcher Stadt ist der Eiffelturm?",
			"wie heißt die Frau von Obama",
			"Welche Universität hat Robert Stam beschäftigt?", "Wer ist Macron?", "WER IST MACRON?",
			"Wer ist der Regisseur von The Lord of the Rings?", "Wer hat den Film The Quiet Harbour gedreht?",
			"Wie viele Einwohner hat Berlin?"},
		"French": {"Qui a réalisé le film Alexander ?", "Quelle est la capitale de la France ?", "Où est né Goethe ?",
			"Dans quelle ville est la tour Eiffel ?", "Combien d'habitants sont à Paris ?",
			"Donne les films de Spielberg"},
		"Spanish": {"¿Quién dirigió la película Alexander?", "Cual es la capital de Francia",
			"¿Dónde está la Torre Eiffel?",
			"Dime las películas de Spielberg", "¿En qué año fue fundada la ciudad de Lima?"},
		"Italian": {"Chi ha diretto il film Alexander?",
			"Qual è la capitale della Francia? Dove è?", "Dove è nato Goethe e quando?"},
		"Portuguese": {"Quem foi o diretor do filme Alexander?",
			"Onde está a Torre Eiffel e quem a fez?"},
		"Dutch": {"Wie heeft de film Alexander geregisseerd?",
			"Wat is de hoofdstad van het land?", "Waar werd Rembrandt geboren?"},
		"Swedish":             {"Vem har regisserat filmen och när?", "Vad är huvudstaden i Frankrike?"},
		"Danish or Norwegian": {"Hvem har skrevet den bog?", "Hvor er Eiffeltårnet?"},
		"Polish": {"Kto jest autorem tej książki?",
			"Gdzie jest wieża Eiffla i kto ją zbudował?"},
		"Turkish":                              {"Bu filmin yönetmeni kimdir ve nerede doğdu?"},
		"Indonesian":                           {"Siapa yang menulis buku ini?"},
		"Finnish":                              {"Kuka on elokuvan ohjaaja?"},
		"a language written in Cyrillic":       {"Кто написал Войну и мир?", "Де народився Гоголь?"},
		"Greek":                                {"Ποιος έγραψε την Οδύσσεια;"},
		"Japanese":                             {"東京はどこですか"},
		"Chinese":                              {"法国的首都是哪里"},
		"Korean":                               {"프랑스의 수도는 어디인가요?"},
		"a language written in Arabic letters": {"ما هي عاصمة فرنسا؟"},
	} {
		for _, q := range questions {
			if got, ok := DetectLanguage(q); !ok || got.Name != want {
				t.Errorf("%q is taken for %q (%v), want %s", q, got.Name, ok, want)
			}
		}
	}
}

func TestEnglishQuestionsFullOfForeignNamesAreEnglish(t *testing.T) {
	for _, q := range []string{
		"Who wrote Die Zauberflöte?", "who directed la vita è bella", "what is the population of los angeles",
		"Who sang Quién es ese niño?", "where is san juan de la maguana", "who is der kaiser von china",
		"What does wie geht es dir mean?", "In which film does Das Boot appear?", "la casa de papel cast",
		"de la soul members", "who played in El Secreto de Sus Ojos and Los Lunes al Sol",
		"Who composed Che gelida manina, E lucevan le stelle and Nessun dorma?",
		"which university did Ludwig van Beethoven attend", "Is K2 in Nepal?", "name a film by Lars von Trier",
		"Tell me about Il buono, il brutto, il cattivo", "capital of Österreich", "Goethe birthplace", "", "?", "2024",
		"who painted Les Demoiselles d'Avignon", "What is Война и мир about?", "who wrote 三体",
		"was die hard released in 1988", "who starred in le dîner de cons and la grande vadrouille",
		"Who Directed The Godfather?", "WHO WROTE DIE ZAUBERFLÖTE", "me and my girl composer",
		"hortense de beauharnais 's father 's wife 's son ?", "when was fc bayern münchen founded",
		"What is the capital of Côte d'Ivoire?",
	} {
		if got, ok := DetectLanguage(q); ok {
			t.Errorf("%q is taken for %s", q, got.Name)
		}
	}
}

func TestGraphsCoverTheLanguagesOfTheirLabels(t *testing.T) {
	englishLabels := []string{"place of birth", "director", "people.person.place_of_birth", "starred_actors", "country"}
	germanLabels := []string{"Geburtsort", "Regisseur", "Mitglied von", "Staatsangehörigkeit", "Name", "Genre"}
	for _, c := range []struct {
		name, question   string
		relations, names []string
		covered          bool
	}{
		{"German, English labels", "Wer hat den Film Alexander gedreht?", englishLabels, nil, false},
		{"German, German labels", "Wer hat den Film Alexander gedreht?", germanLabels, nil, true},
		{"German, no labels", "Wer hat den Film Alexander gedreht?", nil, nil, true},
		{"German, labels that tell nothing", "Wer hat den Film Alexander gedreht?", []string{"p1", "p2"}, nil, true},
		{"Cyrillic, English labels", "Кто написал Войну и мир?", englishLabels, []string{"War and Peace"}, false},
		{"Cyrillic, names in it", "Кто написал Войну и мир?", englishLabels, []string{"Война и мир"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, ok := DetectLanguage(c.question)
			if !ok {
				t.Fatal("not detected")
			}
			if got := l.IsCoveredBy(c.relations, c.names); got != c.covered {
				t.Errorf("covered is %v, want %v", got, c.covered)
			}
		})
	}
}

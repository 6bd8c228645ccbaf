package dataset

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// The fixtures are in the layout of the published files, shortened.
var (
	//go:embed testdata/formats/webqsp.json
	webQSPFile string
	//go:embed testdata/formats/cwq.json
	cwqFile string
	//go:embed testdata/formats/simplequestions.txt
	simpleQuestionsFile string
	//go:embed testdata/formats/qald.json
	qaldFile string
	//go:embed testdata/formats/kilt.jsonl
	kiltFile string
	//go:embed testdata/formats/metaqa.txt
	metaQAFile string
	//go:embed testdata/formats/pathquestion.txt
	pathQuestionFile string
	//go:embed testdata/formats/webquestions.json
	webQuestionsFile string
	//go:embed testdata/formats/tog.json
	togFile string
)

func list(texts ...string) []string { return texts }

func fixtures() map[string]struct {
	file string
	want Dataset
} {
	return map[string]struct {
		file string
		want Dataset
	}{
		webQSP: {webQSPFile, Dataset{Unanswered: 1, Questions: []Question{
			{ID: "WebQTrn-1", Question: "who wrote it?", Answers: list("Ann", "Bob", "1999"),
				TopicEntities: list("The Book"), Kind: Set, Hops: 1, Paths: [][]string{{"book.written_work.author"},
					{"a.b", "c.d"}}},
			{ID: "WebQTrn-2", Question: "and when", Answers: list("1999"), Kind: Set},
		}}},
		cwq: {cwqFile, Dataset{Unanswered: 1, Questions: []Question{
			{ID: "WebQTest-1_ab", Question: "Which state?", Answers: list("Washington, D.C.", "m.09"),
				Aliases: [][]string{{"Washington D.C.", "Washington"}, nil}, Kind: Set},
		}}},
		simpleQuestions: {simpleQuestionsFile, Dataset{Questions: []Question{
			{ID: "1", Question: "what is the book e about", Answers: list("m.01cj3p"), TopicEntities: list("m.04whkz5"),
				Kind: Alternatives, Hops: 1, Paths: [][]string{{"book.written_work.subjects"}}},
			{ID: "3", Question: "what country is the debt from ?", Answers: list("m.07ssc"),
				TopicEntities: list("m.04j0t75"), Kind: Alternatives, Hops: 1,
				Paths: [][]string{{"film.film.country"}}},
		}}},
		qald: {qaldFile, Dataset{Unanswered: 1, Questions: []Question{
			{ID: "0", Question: "After whom?", Answers: list("Q42299", "1854"), TopicEntities: list("Q761383", "Q5"),
				Kind: Set},
			{ID: "8", Question: "Gleich?", Answers: list("yes"), Kind: Set},
			{ID: "9", Question: "Where?", Answers: list("New York City"), Kind: Set},
		}}},
		kilt: {kiltFile, Dataset{Unanswered: 1, Questions: []Question{
			{ID: "a64179cb", Question: "What is the launch date of USA-88?", Answers: list("3 February 1993"),
				TopicEntities: list("USA-88"), Kind: Alternatives},
			{ID: "b", Question: "Lilium: taxon rank", Answers: list("genus"), TopicEntities: list("Lilium"),
				Kind: Alternatives},
			{ID: "c", Question: "who sings it", Answers: list("Ann", "Ann Lee"), Kind: Alternatives},
		}}},
		metaQA: {metaQAFile, Dataset{Questions: []Question{
			{ID: "1", Question: "who directed Alien", Answers: list("Ridley Scott"), TopicEntities: list("Alien"),
				Kind: Set},
			{ID: "2", Question: "which person wrote the films of Z [1969] and so on", Answers: list("A", "B"),
				TopicEntities: list("Z [1969]"), Kind: Set},
		}}},
		pathQuestion: {pathQuestionFile, Dataset{Questions: []Question{
			{ID: "1", Question: "is anne of cleves 's offspring a man or a woman ?", Answers: list("male", "female"),
				TopicEntities: list("anne_of_cleves"), Kind: Set, Hops: 2, Paths: [][]string{{"children", "gender"}}},
			{ID: "2", Question: "the nation of john 's couple ?", Answers: list("united_kingdom"),
				Aliases: [][]string{{"united kingdom"}}, TopicEntities: list("john"), Kind: Set, Hops: 2,
				Paths: [][]string{{"spouse", "nationality"}}},
		}}},
		webQuestions: {webQuestionsFile, Dataset{Questions: []Question{
			{ID: "1", Question: "what is the name of justin bieber brother?", Answers: list("Jazmyn Bieber",
				`Jaxon "J" (Bieber)`, "Stay"), TopicEntities: list("justin bieber"), Kind: Set},
			{ID: "2", Question: "what character?", Answers: list("Padmé"), Kind: Set},
		}}},
		tog: {togFile, Dataset{Unanswered: 1, Questions: []Question{
			{ID: "1", Question: "where was it filmed", Answers: list("France"),
				TopicEntities: list("Looking for Simon")},
			{ID: "2", Question: "who?", Answers: list("A", "B", "7"), TopicEntities: list("Z", "Y")},
			{ID: "12", Question: "when?", Answers: list("1999")},
			{ID: "5", Question: "What does Kanawha River flow into?", Answers: list("Ohio River"),
				Aliases: [][]string{{"Ohio"}}, TopicEntities: list("Kanawha River")},
			{ID: "6", Question: "where was it?", Answers: list("Crete", "Greece"), TopicEntities: list("knossos")},
		}}},
	}
}

func TestPublishedFormats(t *testing.T) {
	t.Parallel()
	for name, c := range fixtures() {
		for _, asked := range []string{name, ""} {
			for end, file := range map[string]string{
				"as published": c.file, "line ends of Windows": strings.ReplaceAll(strings.ReplaceAll(c.file, "\r", ""),
					"\n", "\r\n"), "a byte order mark": "\ufeff" + c.file,
			} {
				t.Run(fmt.Sprintf("%s read as %q with %s", name, asked, end), func(t *testing.T) {
					t.Parallel()
					got, err := Parse([]byte(file), asked)
					if err != nil {
						t.Fatal(err)
					}
					want := c.want
					if want.Format = name; !reflect.DeepEqual(got, want) {
						t.Errorf("got %+v\nwant %+v", got, want)
					}
				})
			}
		}
	}
}

func TestEveryFormatHasAFixtureAndADescription(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, f := range Formats() {
		_, has := fixtures()[f.Name]
		if plain := f.Name == jsonLines || f.Name == open; !has && !plain || f.Holds == "" || seen[f.Name] {
			t.Errorf("format %q: fixture %v, description %q", f.Name, has, f.Holds)
		}
		seen[f.Name] = true
	}
}

func TestListsPublishedWithToG(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, format, in string }{
		{"ComplexWebQuestions", "cwq",
			`[{"ID": "1", "answer": "A", "topic_entity": {"m.1": "T"}, ` +
				`"compositionality_type": "x", "question": "q?"}]`},
		{"WebQuestionsSP", "webqsp",
			`[{"QuestionId": "1", "RawQuestion": "q?", "Parses": [{"TopicEntityName": "T", ` +
				`"Answers": [{"EntityName": "A"}]}], "topic_entity": {"m.1": "T"}}]`},
		{"SimpleQuestions", "tog", `[{"question": "q?", "answer": "A", "topic_entity": {"m.1": "T"}}]`},
		{"zsRE", "tog",
			`[{"input": "T [SEP] r", "template_questions": ["q?"], "topic_entity": {"Q1": "T"}, ` +
				`"answer": "A", "alias": ["A"]}]`},
		{"SimpleQuestions, named so", "simplequestions",
			`[{"question": "q?", "answer": "A", "topic_entity": {"m.1": "T"}}]`},
		{"WebQuestions, a question a line", "webquestions",
			`{"utterance": "q?", "targetValue": "(list (description A))", "url": "http://www.freebase.com/view/en/T"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := Parse([]byte(c.in), c.format)
			if err != nil {
				t.Fatal(err)
			}
			want := Question{ID: "1", Question: "q?", Answers: list("A"), TopicEntities: list("T")}
			got.Questions[0].Kind = ""
			if !reflect.DeepEqual(got.Questions, []Question{want}) {
				t.Errorf("got %+v", got.Questions)
			}
			if c.format != simpleQuestions && tell([]byte(c.in)) != c.format {
				t.Errorf("it looks like %s", tell([]byte(c.in)))
			}
		})
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, format, in string
		want             []string
	}{
		{"an unknown format", "csv", goodLine, list(`there is no format "csv"; choose one of jsonl, open, webqsp, `)},
		{"no format told", "", "who?\tme\n", list("line 1: is no JSON", "does not tell its format; name it: jsonl, ")},
		{"an empty file", "", " \n", list("there is no question in it")},
		{"a compressed file", "", "\x1f\x8b\x08", list("is compressed; unpack it first")},
		{"UTF-16 without a mark", "", "{\x00\"\x00", list("is UTF-16")},
		{"bytes that are not UTF-8", "", "ab\nc\xff", list("line 2, byte 2: is not UTF-8")},
		{"another format than was said", metaQA, goodLine, list("line 1: has 1 columns",
			"was read as metaqa and looks like jsonl; give the format jsonl")},
		{"lines where a list was said", webQSP, metaQAFile, list("is no JSON", "looks like metaqa")},
		{"JSON that is cut", webQSP, webQSPFile[:300],
			list("line 4, byte ", "the JSON text is cut; get the file again")},
		{"a list that is cut", "", togFile[:200], list("the JSON text is cut")},
		{"JSON with a comma too many", "", `[{"ID": "1", "question": "q", "answer": "a"},` + "\n,]",
			list("line 2, byte 1: is no JSON")},
		{"JSON with a comma too few", "", `[{"ID": "1", "question": "q", "answer": "a"}` + "\n{}]",
			list("line 2, byte 1: is no JSON")},
		{"a text of JSON that does not end on its line", "", `[{"ID": "1", "question": "q", "answer": "a"},` +
			"\n {\"ID\": \"q\n\"}]", list("line 2, byte 11: is no JSON")},
		{"something after the end", qald, qaldFile + "]", list("line 8, byte 3: something stands after the end")},
		{"no questions in it", webQSP, `{"Version": "1"}`, list(`field "Questions": missing`)},
		{"questions that are no list", webQSP, `{"Questions": {}}`,
			list(`line 1, byte 15: field "Questions": is no list`)},
		{"a question that is no object", cwq, `[{"ID": "1", "question": "q", "answer": "a"}, 7]`,
			list("question 2 (line 1, byte 47): is a JSON number, not an object")},
		{"a field of another type", webQSP, strings.Replace(webQSPFile, `"who wrote it?"`, "7", 1),
			list(`question 1 (line 2, byte 2): field "RawQuestion": is or holds a JSON number, must be text`)},
		{"a list where one text is expected", qald, strings.Replace(qaldFile, `"1854"`, `["1854"]`, 1),
			list("question 1", `holds ["1854"] where a text is expected`)},
		{"no id", cwq, `[{"question": "q", "answer": "a"}]`, list(`question 1 (line 1, byte 2): field "id": missing`)},
		{"an id used twice", cwq,
			`[{"ID": "1", "question": "q", "answer": "a"}, {"ID": "1", "question": "p", "answer": "a"}]`,
			list(`question 2 (line 1, byte 47): field "id": "1" is the id of question 1 (line 1, byte 2) too`)},
		{"answers that are kept back", cwq, `[{"ID": "1", "question": "q"}, {"ID": "2", "question": "p"}]`,
			list("none of its 2 questions has a right answer")},
		{"answers of another type", cwq, `[{"ID": "1", "question": "q", "answers": 7}]`,
			list(`is a JSON number, not a list of answers in field "answers"`)},
		{"no column of answers", metaQA, "who [A]\n", list("line 1: has 1 columns")},
		{"no entity in brackets", metaQA, "who [A]\tb\nwho\tb\n", list("line 2: the question has no [entity]")},
		{"empty brackets", metaQA, "who [ ]\tb\n", list("line 1: the question has no [entity]")},
		{"no answer of MetaQA", metaQA, "who [A]\t|\n", list("line 1: there is no answer after the tab")},
		{"answers of PathQuestion without brackets", pathQuestion, "q\ta\ta#b#c\n",
			list(`line 1: the answers are "a", must be answer(all/answers/)`)},
		{"no answers of PathQuestion", pathQuestion, "q\t(/)\ta#b#c\n",
			list("line 1: there is no answer in the second column")},
		{"a path without an end", pathQuestion, "q\ta(a/)\ta#b\n", list(`line 1: the path is "a#b"`)},
		{"a path with an empty part", pathQuestion, "q\ta(a/)\ta##c\n",
			list(`line 1: the path "a##c" has an empty part`)},
		{"too few columns of PathQuestion", pathQuestion, "q\ta(a/)\n", list("line 1: has 2 columns")},
		{"too few columns of SimpleQuestions", simpleQuestions, "m.1\tr\tm.2\n", list("line 1: has 3 columns")},
		{"an empty column of SimpleQuestions", simpleQuestions, "m.1\tr\t\tq\n",
			list(`line 1: field "object": missing`)},
		{"a line of KILT that is no object", kilt, "7\n",
			list("line 1: is a JSON number, not an object with id, input and output")},
		{"a target that is no list", webQuestions, `[{"utterance": "q", "targetValue": "Paris"}]`,
			list(`field "targetValue": must begin with "(list"`)},
		{"a target that is not closed", webQuestions, `[{"utterance": "q", "targetValue": "(list (description Paris"}]`,
			list(`the description "Paris" is not closed`)},
		{"a text that is not closed", webQuestions, `[{"utterance": "q", "targetValue": "(list (description \"Par))"}]`,
			list(`has no closing quotation mark`)},
		{"another list", webQuestions, `[{"utterance": "q", "targetValue": "(list (name Paris))"}]`,
			list(`expected "(description …)"`)},
		{"something after a list", webQuestions, `[{"utterance": "q", "targetValue": "(list (description Paris)) x"}]`,
			list(`something stands after the end of the list`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d, err := Parse([]byte(c.in), c.format)
			if err == nil {
				t.Fatalf("got %+v and no error", d)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
		})
	}
}

// FuzzParse reads any text in every format, and in the one that it tells.
func FuzzParse(f *testing.F) {
	for _, c := range fixtures() {
		f.Add([]byte(c.file))
	}
	f.Add([]byte(goodLine + "\r\n" + goodLine))
	f.Add([]byte("\ufeff{\"id\": \"a\", \"question\": \"q\", \"answers\": [\"\"]}"))
	f.Add([]byte("\xff\xfe"))
	f.Add([]byte(`[{"question": "q", "answer": {"a": [1]}}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		asked := list("")
		for _, format := range Formats() {
			asked = append(asked, format.Name)
		}
		for _, name := range asked {
			d, err := Parse(data, name)
			if (err == nil) != (len(d.Questions) > 0) {
				t.Fatalf("%s: %d questions and error %v", name, len(d.Questions), err)
			}
			ids := make(map[string]bool)
			for _, q := range d.Questions {
				if check(q) != nil || ids[q.ID] || len(q.Aliases) != 0 && len(q.Aliases) != len(q.Answers) {
					t.Fatalf("%s: let pass %+v", name, q)
				}
				ids[q.ID] = true
			}
			if err != nil {
				continue
			}
			again, err := Parse(data, d.Format)
			if err != nil || !reflect.DeepEqual(again, d) {
				t.Fatalf("%s read again: %+v, %v, not %+v", name, again, err, d)
			}
			// What was read can be written as plain JSON Lines and read back.
			var lines strings.Builder
			for _, q := range d.Questions {
				line, err := json.Marshal(q)
				if err != nil {
					t.Fatal(err)
				}
				lines.Write(append(line, '\n'))
			}
			plain, err := Parse([]byte(lines.String()), jsonLines)
			if err != nil || len(plain.Questions) != len(d.Questions) || !reflect.DeepEqual(plain.Questions[0].Names(),
				d.Questions[0].Names()) {
				t.Fatalf("%s written as plain lines: %v\n%s", name, err, lines.String())
			}
		}
	})
}

func BenchmarkReadWebQSP(b *testing.B) {
	question := webQSPFile[strings.Index(webQSPFile, `{"QuestionId": "WebQTrn-2"`):strings.Index(webQSPFile,
		",\n {\"QuestionId\": \"WebQTrn-3\"")]
	var file strings.Builder
	file.WriteString(`{"Questions": [`)
	for i := range 30_000 {
		file.WriteString(strings.Replace(question, "WebQTrn-2", fmt.Sprint("WebQTrn-", i), 1) + ",")
	}
	file.WriteString(`{"QuestionId": "last", "Parses": []}]}`)
	for b.Loop() {
		if d, err := Parse([]byte(file.String()), ""); err != nil || len(d.Questions) != 30_000 {
			b.Fatal(len(d.Questions), err)
		}
	}
}

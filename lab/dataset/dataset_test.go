package dataset

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestReadSumsTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "q.jsonl")
	if err := os.WriteFile(path, []byte(goodLine+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := Read(path, "")
	if err != nil {
		t.Fatal(err)
	}
	const sum = "af0acdb70289731f24cfe545bfad0af7734d86e3c2cee20d4a7bd39edd33125d"
	if d.SHA256 != sum || d.Path != path || d.Format != jsonLines || len(d.Questions) != 1 {
		t.Errorf("got %+v, want the checksum %s", d, sum)
	}
	if _, err := Read(path+".gone", ""); err == nil || !strings.Contains(err.Error(), path+".gone") {
		t.Errorf("error %v does not name the file", err)
	}
}

func TestReadRefusesAFileThatIsTooLarge(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "huge")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, maxFile+1); err != nil { // takes no room
		t.Fatal(err)
	}
	if _, err := Read(path, ""); err == nil || !strings.Contains(err.Error(), "at most 1024 are read") {
		t.Errorf("error %v", err)
	}
}

func TestReadTellsTheHopsOfMetaQAByItsPath(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{
		"qa_2-hop.txt": 2, "3-hop/vanilla/qa_test.txt": 3, "qa_test_1hop.txt": 1, "questions.txt": 0,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("who directed [Alien]\tRidley Scott\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			d, err := Read(path, "")
			if err != nil || d.Questions[0].Hops != want {
				t.Errorf("got %+v, %v, want %d hops", d.Questions, err, want)
			}
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	q := Question{Answers: []string{"UK", "USA"}, Aliases: [][]string{{"Britain"}}}
	if got := q.Names(); !reflect.DeepEqual(got, []string{"UK", "Britain", "USA"}) {
		t.Errorf("got %q", got)
	}
	if got := q.NamesOf(1); !reflect.DeepEqual(got, []string{"USA"}) {
		t.Errorf("got %q", got)
	}
	if q.NamesOf(0); q.Answers[1] != "USA" {
		t.Error("the names of one answer were written over another")
	}
}

package embedded

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/testkit"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

const victimDir = "TRIPLEMESH_TEST_VICTIM"

// round is what a snapshot of a round holds; a delta adds one fact.
func round(n int) (facts []store.Fact, added store.Fact) {
	fact := func(subject string) store.Fact {
		named := func(name string) store.NamedEntity {
			return store.NamedEntity{Name: name, Kind: store.ClassifyName(name)}
		}
		return store.Fact{Subject: named(subject), Relation: "is of", Object: named("round " + strconv.Itoa(n))}
	}
	for i := range 50 {
		facts = append(facts, fact("thing "+strconv.Itoa(i)))
	}
	return facts, fact("the last thing")
}

// TestVictim is what the child of TestAcknowledgedWritesSurviveAKill does: it
// builds, changes, compacts, moves and activates until it is killed, and says
// what is done once it is.
func TestVictim(t *testing.T) {
	if os.Getenv(victimDir) == "" {
		t.Skip("is run by another test")
	}
	ctx, s := context.Background(), New(os.Getenv(victimDir))
	activate := func(n int, info store.Info, err error) {
		if err == nil {
			fmt.Println("made", info.Number, n)
			_, err = s.Activate(ctx, "world", info.Number)
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("active", info.Number, n)
	}
	for n := 1; ; n++ {
		facts, added := round(n)
		whole, err := s.Write(ctx, "world", storetest.Content(t, facts))
		activate(n, whole, err)
		changed, err := s.WriteDelta(ctx, "world", storetest.Delta(nil, []store.Fact{added}))
		activate(n, changed.Info, err)
		compacted, err := s.Compact(ctx, "world", 0)
		activate(n, compacted, err)
		var file bytes.Buffer
		if err := s.Export(ctx, "world", 0, &file); err != nil {
			t.Fatal(err)
		}
		imported, err := s.Import(ctx, "world", &file)
		activate(n, imported, err)
	}
}

// TestAcknowledgedWritesSurviveAKill kills a process at a random moment, 3
// times or KILLS times: all that it said to be done is there, and nothing that
// is there is half done.
func TestAcknowledgedWritesSurviveAKill(t *testing.T) {
	kills := 3
	if n, err := strconv.Atoi(os.Getenv("KILLS")); err == nil {
		kills = n
	}
	random := rand.New(rand.NewPCG(9, 10))
	seen := 0
	for range kills {
		inTempDir(t, func(dir string) {
			made, active := killed(t, dir, 1+random.IntN(10), time.Duration(random.IntN(100))*time.Millisecond)
			seen += len(made)
			s := New(dir)
			defer s.Close()
			checkKilled(t, s, made, active)
		})
	}
	if seen == 0 {
		t.Error("nothing was ever acknowledged")
	}
	testkit.Measured(t, "%d kills, %d snapshots acknowledged: 0 lost", kills, seen)
}

// killed starts a victim, kills it some time after it said something for the
// n-th time, and returns what it had acknowledged: the rounds of snapshots, and
// the one that was active last.
func killed(t *testing.T, dir string, n int, after time.Duration) (made map[uint64]int, active uint64) {
	t.Helper()
	victim := exec.Command(os.Args[0], "-test.run=^TestVictim$")
	victim.Env = append(os.Environ(), victimDir+"="+dir)
	output, err := victim.StdoutPipe()
	if err == nil {
		err = victim.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	made = map[uint64]int{}
	for lines := bufio.NewScanner(output); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) != 3 {
			t.Fatalf("the victim said %q", lines.Text())
		}
		number, err := strconv.ParseUint(words[1], 10, 64)
		round, err2 := strconv.Atoi(words[2])
		if err != nil || err2 != nil {
			t.Fatalf("the victim said %q", lines.Text())
		}
		made[number] = round
		if n--; n == 0 {
			time.AfterFunc(after, func() { _ = victim.Process.Kill() })
		}
		if words[0] == "active" {
			active = number
		}
	}
	_ = victim.Wait() // it was killed
	return made, active
}

func checkKilled(t *testing.T, s *Store, made map[uint64]int, active uint64) {
	t.Helper()
	listed, err := s.List(t.Context(), "world")
	if err != nil {
		t.Fatal(err)
	}
	for number := range made {
		if !slices.ContainsFunc(listed, func(l store.ListedSnapshot) bool { return l.Number == number }) {
			t.Errorf("snapshot %d was acknowledged and is not there", number)
		}
	}
	for _, l := range listed {
		if _, _, err := s.Verify(t.Context(), "world", l.Number); err != nil {
			t.Errorf("verify: %v", err)
			continue
		}
		snapshot := storetest.Open(t, s, "world", l.Number)
		n, known := made[l.Number]
		if !known {
			n = len(made)/4 + 1 // begun, and not acknowledged
		}
		facts, added := round(n)
		for _, f := range append(facts, added) {
			_, there, err := snapshot.Entity(t.Context(), f.Subject.Name)
			isLast := f.Subject.Name == added.Subject.Name
			if err != nil || !there && !isLast {
				t.Errorf("snapshot %d lacks %s: %v", l.Number, f.Subject.Name, err)
			}
		}
		if _, ok, err := snapshot.Entity(t.Context(), facts[0].Object.Name); !ok || err != nil {
			t.Errorf("snapshot %d is not of round %d: %v", l.Number, n, err)
		}
		if l.Active && l.Number < active {
			t.Errorf("%d is active, %d was acknowledged", l.Number, active)
		}
	}
	facts, _ := round(0)
	storetest.Build(t, s, "world", facts) // which clears away what was half done
	entries, err := os.ReadDir(s.kgDir("world"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil && e.Name() != currentName && e.Name() != lockName {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}

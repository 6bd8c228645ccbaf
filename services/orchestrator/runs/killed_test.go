package runs_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/testkit"
	"github.com/triplemesh/triplemesh/services/orchestrator/runs"
)

const victimFile = "TRIPLEMESH_TEST_VICTIM"

// TestVictim is the child process of TestKillLosesNoSavedRun: it saves runs until it is killed, and
// prints each id after the save.
func TestVictim(t *testing.T) {
	path := os.Getenv(victimFile)
	if path == "" {
		t.Skip("is run by another test")
	}
	store := openTenant(t, open(t, path, 0), auth.DefaultTenant())
	for i := 0; ; i++ {
		saveRuns(t, store, i, i+1)
		fmt.Println(i)
	}
}

// TestKillLosesNoSavedRun kills a process that saves runs at a random moment, 3 times or KILLS
// times: all saved runs are intact.
func TestKillLosesNoSavedRun(t *testing.T) {
	kills := 3
	if n, err := strconv.Atoi(os.Getenv("KILLS")); err == nil {
		kills = n
	}
	random := rand.New(rand.NewPCG(9, 10))
	all := 0
	for range kills {
		path := filepath.Join(t.TempDir(), "runs.db")
		victim := exec.Command(os.Args[0], "-test.run=^TestVictim$")
		victim.Env = append(os.Environ(), victimFile+"="+path)
		output, err := victim.StdoutPipe()
		if err == nil {
			err = victim.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		kept, most := 0, 1+random.IntN(30)
		for lines := bufio.NewScanner(output); lines.Scan(); {
			if kept++; kept == most {
				time.AfterFunc(time.Duration(random.IntN(20))*time.Millisecond, func() { _ = victim.Process.Kill() })
			}
		}
		_ = victim.Wait() // it was killed
		all += kept
		checkKept(t, path, kept)
	}
	testkit.Measured(t, "%d kills, %d runs acknowledged: 0 lost", kills, all)
}

func checkKept(t *testing.T, path string, kept int) {
	t.Helper()
	db := open(t, path, 0)
	store := openTenant(t, db, auth.DefaultTenant())
	for i := range kept {
		if run, err := store.Get(runID(i)); err != nil || !proto.Equal(run, makeRun(i)) {
			t.Errorf("run %d of %d that were kept: %v, %v", i, kept, run, err)
		}
	}
	ids, _ := listAll(t, store, 100, runs.Filter{})
	if len(ids) != kept && len(ids) != kept+1 { // one may have been kept and not yet told of
		t.Errorf("%d runs are listed, %d were kept", len(ids), kept)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

//go:build versions

package versions

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/internal/testkit"
)

// upgradeOrder is the documented order: callees before callers. A rollback uses the reverse.
var upgradeOrder = []string{"retriever", "generator", "verifier", "evaluator", "reflector", "orchestrator"}

// orders are the tested orders: the documented one and others that compatibility allows too. ORDERS
// selects by name.
func orders() map[string][]string {
	backward := slices.Clone(upgradeOrder)
	slices.Reverse(backward)
	all := map[string][]string{
		"documented": upgradeOrder,
		"backward":   backward,
		"mingled":    {"verifier", "orchestrator", "retriever", "reflector", "generator", "evaluator"},
	}
	if picked := strings.Fields(os.Getenv("ORDERS")); len(picked) > 0 {
		for name := range all {
			if !slices.Contains(picked, name) {
				delete(all, name)
			}
		}
	}
	return all
}

// TestOldAndNewAnswerTogether replaces the replicas one by one by the other version, stage by
// stage, forward and back, while questions are asked. In every state, none may be lost, and each
// gets the answer of one of the versions.
func TestOldAndNewAnswerTogether(t *testing.T) {
	now, questions, states := checkout(t), 0, 0
	for _, old := range previous(t) {
		for name, order := range orders() {
			t.Run(fmt.Sprintf("%s/%s", old, name), func(t *testing.T) {
				n, of := roll(t, old, now, order)
				questions, states = questions+n, states+of
			})
		}
	}
	testkit.Measured(t, "%d questions in %d mixed states: 0 lost, 0 answered differently", questions, states)
}

// roll returns how many questions were asked, in how many states of the mesh.
func roll(t *testing.T, old, now revision, order []string) (questions, states int) {
	m := start(t, old, data(t, old), scripted(t))
	common, before := supportedKinds(t, m)
	t.Logf("%s answers %s", old, names(common))
	asking := ask(t, m, common)
	after := map[string]string{}
	check := func(state string) {
		c := asking.look(t)
		c.check(t, state, before, after)
		t.Logf("%s: %d questions, %d lost", state, c.asked, len(c.lost))
		questions, states = questions+c.asked, states+1
	}
	// The newer version's own answers are known once every replica has it. Until then, mixed
	// versions must answer like the old one.
	forward := func() {
		for _, stage := range order {
			for replica := range replicas {
				m.replace(t, stage, replica, now)
				check(fmt.Sprintf("%s %d of 2 new", stage, replica+1))
			}
		}
	}
	forward()
	all, pure := supportedKinds(t, m)
	after = pure
	t.Logf("%s answers %s", now, names(all))
	if len(all) != len(kinds()) {
		t.Errorf("the checkout answers %s alone", names(all))
	}
	for _, stage := range slices.Backward(order) {
		for replica := range replicas {
			m.replace(t, stage, replica, old)
			check(fmt.Sprintf("%s %d of 2 back", stage, replica+1))
		}
	}
	asking.stop()
	if c := asking.rest(); len(c.lost) > 0 {
		t.Errorf("at the end: %s", c.lost[0])
	}
	m.stop(t)
	return questions, states
}

// Every stage is in the upgrade order, and docs/operations.md has the same order.
func TestTheUpgradeOrderNamesEveryStage(t *testing.T) {
	if got, want := slices.Sorted(slices.Values(upgradeOrder)),
		slices.Sorted(slices.Values(mesh.StageNames())); !slices.Equal(got, want) {
		t.Errorf("the order is of %v, the stages are %v", got, want)
	}
	page, err := os.ReadFile(testkit.CheckoutFile(t, "docs", "operations.md"))
	called := upgradeOrder[:len(upgradeOrder)-1]
	order := fmt.Sprintf("%s and %s, then the %s", strings.Join(called[:len(called)-1], ", "), called[len(called)-1],
		upgradeOrder[len(upgradeOrder)-1])
	if err != nil || !strings.Contains(string(page), order) {
		t.Errorf("docs/operations.md lacks the upgrade order %s (%v)", order, err)
	}
}

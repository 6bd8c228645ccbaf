//go:build cluster

package cluster

import "fmt"

func rateFlag() string { return fmt.Sprint(*rate) }

// countFlag returns a part of the questions of a whole test.
func countFlag(part int) string { return fmt.Sprint(max(1, *questions/part)) }

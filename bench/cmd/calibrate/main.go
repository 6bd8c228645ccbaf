// Command calibrate measures retrieval on questions with known answers, with
// no language model: what SuggestPaths, GroundGraph and LinkEntities find at
// their defaults, and at other settings. It is how those defaults were chosen.
//
//	calibrate -data DIR [-part dev|test] paths | ground | subject-first | hybrid | link | weights | agree
//
// DIR holds freebase/, wikidata/ and multisource/. The test part are the
// questions that docs/results.md measures, the dev part the others. With
// -pseudo ground, subject-first and hybrid measure on pseudo-graphs that a
// model wrote. agree asks another store the same questions, and compares its
// answers and times with those of the embedded store.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "calibrate:", err)
		os.Exit(1)
	}
}

// Confidence fits the weights of the orchestrator's package confidence on results directories of `triplemesh eval` and
// prints them as JSON:
//
//	go run ./lab/confidence --model M --encoder E --questions "zsre, 30" DIR... > weights.json
//
// Do not fit on the questions that confidences are evaluated on.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/triplemesh/triplemesh/services/orchestrator/confidence"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "confidence:", err)
		os.Exit(1)
	}
}

func run() error {
	var from confidence.Provenance
	flag.StringVar(&from.Model, "model", "", "model that the runs were made with")
	flag.StringVar(&from.Encoder, "encoder", "all-MiniLM-L6-v2", "encoder of the knowledge graphs")
	flag.StringVar(&from.Date, "date", time.Now().Format(time.DateOnly), "date of the fit")
	flag.Func("questions", "what the questions are from; may be given again", func(s string) error {
		from.Questions = append(from.Questions, s)
		return nil
	})
	var without, check []string
	flag.Func("without", "feature to leave out, such as one in which the errors of a simulated reader show; may be "+
		"given again", func(s string) error {
		without = append(without, s)
		return nil
	})
	flag.Func("check", "results directory to measure the weights on; may be given again", func(s string) error {
		check = append(check, s)
		return nil
	})
	part := flag.String("part", "tune", "part of the questions to fit on: tune, validate, or all of them")
	checkPart := flag.String("check-part", "validate", "part of the questions to measure the weights on")
	flag.Parse()
	if *part == "report" {
		return errors.New("-part report: figures are published on it, so nothing may be fitted on it; use tune")
	}
	examples, err := examplesOf(flag.Args(), *part)
	if err != nil {
		return err
	}
	m, err := fit(examples, from, without...)
	if err != nil {
		return err
	}
	for _, dir := range check {
		others, err := examplesOf([]string{dir}, *checkPart)
		if err != nil {
			return err
		}
		for family, q := range measure(m, others) {
			fmt.Fprintf(os.Stderr, "%s, %s: %d runs, AUROC %.3f, ECE %.3f, Brier %.3f (base %.3f)\n", dir, family,
				q.Runs, q.AUROC, q.ECE, q.Brier, q.BrierBase)
		}
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	return out.Encode(m)
}

// examplesOf reads results directories.
func examplesOf(dirs []string, part string) (examples []example, err error) {
	for _, dir := range dirs {
		own, err := readResults(dir, part)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(os.Stderr, "%d runs with answers in %s, part %s\n", len(own), dir, part)
		examples = append(examples, own...)
	}
	return examples, nil
}

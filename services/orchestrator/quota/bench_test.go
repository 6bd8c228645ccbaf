package quota

import (
	"testing"
	"time"
)

// BenchmarkQuestion measures the overhead of quotas on a question of four stages.
func BenchmarkQuestion(b *testing.B) {
	for name, cfg := range map[string]Config{
		"no quotas": nil,
		"all quotas": {Everyone: {QuestionsPerMinute: 1 << 31, QuestionsPerDay: 1 << 62, TokensPerDay: 1 << 62,
			CostUSDPerDay: 1e18, ConcurrentRuns: 100}},
	} {
		b.Run(name, func(b *testing.B) {
			q := newQuotas(cfg, time.Now)
			q.own[acme] = &count{}
			for i := range int64(60) { // a minute that is full
				q.own[acme].Recent = append(q.own[acme].Recent, second{time.Now().Unix() - 60 + i, 1})
			}
			usage := tokens(100)
			b.ReportAllocs()
			for b.Loop() {
				run, err := q.Begin(acme)
				if err != nil {
					b.Fatal(err)
				}
				for range 4 {
					if _, err := run.Remaining(); err != nil {
						b.Fatal(err)
					}
					run.Charge(usage)
				}
				run.End()
			}
		})
	}
}

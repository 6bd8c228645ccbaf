package link

import "math"

// Weights are what each evidence counts. `calibrate weights` fitted them to the
// dev parts of WebQSP, SimpleQuestions, zsRE, QALD-10 and MetaQA together, so
// that the topic entity comes first and scores are probabilities. Fame itself
// counts next to nothing; what counts is to be behind a namesake.
var Weights = Evidence{
	always: -13.84, nameMatch: 3.44, formMatch: 0.42, partMatch: 2.87, initialsMatch: 5.86,
	likeness: 1.21, knownLetters: 2.25, fame: -0.77, behind: -7.19, letters: 3.04,
	words: 5.29, schema: -4.94, within: -3.77, touching: 0.30, plain: -2.21,
	namesakes: -2.01, covered: 2.21, lower: -1.58, bestMeaning: 7.35, meanMeaning: 7.14,
}

// Weigh is how likely a link with this evidence is the topic, 0 to 1.
func Weigh(e Evidence) float32 {
	sum := float32(0)
	for i, weight := range Weights {
		sum += weight * e[i]
	}
	return float32(1 / (1 + math.Exp(-float64(sum))))
}

package rank

// ValueCount is the number of values of a path, InputCount that of the inputs of the hidden layer: three
// more.
const (
	ValueCount = 31
	InputCount = ValueCount + 3
)

// Values are the features of a path that are numbers.
type Values [ValueCount]float32

// ValueNames names Values in their order. Weights name the values they were trained on, so that
// they are never read in another order.
var ValueNames = [ValueCount]string{
	// How well the question's words and the hops explain each other, and the cosine of the mean of
	// its relations to the question without and with names; behind the best of all paths.
	"words", "words_behind", "cosine", "cosine_behind", "cosine_named",
	// Cosines of single relations to the question without names.
	"first_cosine", "last_cosine", "least_cosine", "mean_cosine",
	// Natural logarithms of one more than the number of ends, of all it reaches, of its ends' mean
	// number of triples, and the sum of those of the ways there were to go on.
	"ends", "reach", "degree", "ways", "single_end",
	// Its shape: facts, steps, steps that undo or repeat the one before, inverse ones.
	"facts", "steps", "undone", "repeated", "inverse", "inverse_first", "inverse_last",
	// Other topic entities: how many there are, the share of ends that they lead to as well, the
	// best rough score of their paths there, -1 if there are none.
	"topics", "shared", "shared_score",
	// Shares of ends that are texts, dates, numbers; dates if the question asks for a time.
	"texts", "dates", "numbers", "dates_asked",
	// The topic entity: its place among the topic entities, whether the question has its name, and
	// how many words that has.
	"topic_place", "topic_named", "topic_words",
}

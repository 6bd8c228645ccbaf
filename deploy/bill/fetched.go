package bill

import "github.com/triplemesh/triplemesh/cmd/triplemesh/setup"

// Fetched is what `triplemesh setup` fetches for an operating system and a
// processor: the encoder, ONNX Runtime, the model, and llama.cpp, which it
// builds.
func Fetched(goos, goarch string) ([]Part, error) {
	pins, err := setup.Pins(goos, goarch)
	if err != nil {
		return nil, err
	}
	var parts []Part
	for _, p := range pins {
		parts = append(parts, Part{Name: p.Name, Version: p.Version, Licence: p.Licence, Source: p.Home, SHA256: p.SHA256})
	}
	return parts, nil
}

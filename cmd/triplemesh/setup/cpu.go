package setup

import (
	"os"
	"slices"
	"strings"
)

// cpuFlags are the cmake options that fit the build to this processor.
//
// On x86 each extension is named, on or off, by what /proc/cpuinfo lists.
// GGML_NATIVE would let the compiler decide, and its AMX kernels crash on
// virtual machines that list AMX without letting programs use it.
func cpuFlags(goarch string) []string {
	if goarch != "amd64" {
		return []string{"-DGGML_NATIVE=ON"}
	}
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		info = nil
	}
	return x86Flags(string(info))
}

// x86Flags reads the extensions off the text of /proc/cpuinfo. Where it lists
// none, the build runs on any x86-64 processor, slowly.
func x86Flags(cpuinfo string) []string {
	var has []string
	for line := range strings.Lines(cpuinfo) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "flags" {
			has = strings.Fields(value)
			break
		}
	}
	options := []struct {
		name  string
		needs []string
	}{
		{"GGML_SSE42", []string{"sse4_2"}},
		{"GGML_AVX", []string{"avx"}},
		{"GGML_AVX2", []string{"avx2"}},
		{"GGML_BMI2", []string{"bmi2"}},
		{"GGML_FMA", []string{"fma"}},
		{"GGML_F16C", []string{"f16c"}},
		{"GGML_AVX512", []string{"avx512f", "avx512cd", "avx512vl", "avx512dq", "avx512bw"}},
		{"GGML_AVX512_VBMI", []string{"avx512f", "avx512vbmi"}},
		{"GGML_AVX512_VNNI", []string{"avx512f", "avx512_vnni"}},
	}
	flags := []string{"-DGGML_NATIVE=OFF"}
	for _, o := range options {
		value := "ON"
		for _, need := range o.needs {
			if !slices.Contains(has, need) {
				value = "OFF"
			}
		}
		flags = append(flags, "-D"+o.name+"="+value)
	}
	return flags
}

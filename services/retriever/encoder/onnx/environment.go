//go:build cgo

package onnx

import (
	"fmt"
	"os"
	"sync"

	ort "github.com/yalue/onnxruntime_go"
)

// environment is ONNX Runtime's environment, of which a process has one. Its users are counted
// here, so that encoders open and close independently.
var environment struct {
	sync.Mutex
	users   int
	library string
}

// acquire loads the library for its first user.
func acquire(library string) error {
	environment.Lock()
	defer environment.Unlock()
	if environment.users > 0 {
		if library != environment.library {
			return fmt.Errorf("load ONNX Runtime: this process uses %s already and cannot load %s beside it",
				environment.library, library)
		}
		environment.users++
		return nil
	}
	// The loader's own message names neither the setting nor the fix.
	if err := checkReadable("ONNX Runtime", library); err != nil {
		return err
	}
	// No telemetry. Since 1.29 the library would, when loaded, write an id to the user's cache
	// directory and report it to its makers; DisableTelemetry comes too late for that.
	if err := os.Setenv("ORT_DISABLE_TELEMETRY", "1"); err != nil {
		return fmt.Errorf("load ONNX Runtime: %w", err)
	}
	ort.SetSharedLibraryPath(library)
	if err := ort.InitializeEnvironment(ort.WithLogLevelError()); err != nil {
		return fmt.Errorf("load ONNX Runtime from %s: %w; `triplemesh setup` fetches one that fits", library, err)
	}
	if err := ort.DisableTelemetry(); err != nil {
		return fmt.Errorf("load ONNX Runtime: %w", err)
	}
	environment.users, environment.library = 1, library
	return nil
}

// release unloads the library after its last user.
func release() error {
	environment.Lock()
	defer environment.Unlock()
	if environment.users--; environment.users > 0 {
		return nil
	}
	if err := ort.DestroyEnvironment(); err != nil {
		return fmt.Errorf("unload ONNX Runtime: %w", err)
	}
	return nil
}

// checkReadable returns an error that names the missing file and its fix.
func checkReadable(what, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open %s: %w; `triplemesh setup` fetches it", what, err)
	}
	return f.Close()
}

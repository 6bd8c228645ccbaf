package config

// The log messages of this package.
const (
	// logReloaded: a file that could not be used was read again. Do: nothing.
	logReloaded = "config reload succeeded"
	// logReloadFailed: a file that changed cannot be read or parsed; its previous version stays in
	// force. Do: correct the file named by the attribute file.
	logReloadFailed = "config reload failed, keeping the previous version"
)

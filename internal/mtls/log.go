package mtls

// The log messages of this package.
const (
	// logRefused: a TLS handshake with a client failed. Do: see error; for clients without TLS see
	// advice.
	logRefused = "connection refused"
	// logReloadFailed: changed certificate files cannot be used. Do: correct the file that error
	// names.
	logReloadFailed = "certificate reload failed, keeping the previous version"
	// logReloaded: new certificate files are in use. Do: nothing.
	logReloaded = "certificate reloaded"
	// logNotYetValid: peers refuse the certificate until it becomes valid. Do: compare the clocks
	// of the machines.
	logNotYetValid = "certificate not valid yet"
	// logExpired: peers refuse the certificate. Do: renew it.
	logExpired = "certificate expired"
	// logExpiresSoon: less than a fifth of the certificate's lifetime is left. Do: renew it.
	logExpiresSoon = "certificate expires soon"
)

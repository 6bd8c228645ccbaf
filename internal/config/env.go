package config

import (
	"fmt"
	"strings"
)

// openAI are the variables that clients of OpenAI's API share, by our keys.
var openAI = map[string]string{"llm.base_url": "OPENAI_BASE_URL", "llm.api_key": "OPENAI_API_KEY"}

// readEnv takes the variables that name a setting. Unknown ones are no error:
// Kubernetes makes variables such as TRIPLEMESH_VERIFIER_PORT of its own.
func (l *loading) readEnv(env []string) error {
	vars := map[string]string{}
	for _, pair := range env {
		if name, value, ok := strings.Cut(pair, "="); ok && value != "" {
			vars[name] = value
		}
	}
	for _, s := range l.settings {
		names := []string{openAI[s.key]}
		if isShared(s.key) {
			names = append(names, envName(s.key))
		}
		for _, name := range append(names, envName(l.stage+"."+s.key)) {
			value, ok := vars[name]
			if !ok {
				continue
			}
			if err := decodeText(value, s.value, s.key); err != nil {
				return fmt.Errorf("environment: %s: %w", name, err)
			}
			l.origin[s.key] = "environment " + name
		}
	}
	return nil
}

// envName is the variable of a dotted key.
func envName(key string) string {
	return "TRIPLEMESH_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(key))
}

package profile

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/llm"
)

const (
	// strongFrom is the least F1 of a strong reader, off few facts and off many. A perfect reader has 1.
	strongFrom = 0.85
	// maxThinking bounds ReasoningTokens.
	maxThinking = 16384
	// maxShare bounds ReadingShare: two dozen items do not show more.
	maxShare = 0.95
)

// Profile is what suits a model.
type Profile struct {
	Model string `json:"model"`
	// Reader is the value of llm.reader: weak or strong.
	Reader string `json:"reader"`
	// ReadingShare is the value of llm.reading_share; 0 leaves the default.
	ReadingShare float32 `json:"reading_share,omitempty"`
	// ReasoningTokens is the value of llm.reasoning_tokens; 0 leaves the default.
	ReasoningTokens int         `json:"reasoning_tokens,omitempty"`
	MeasureTime     time.Time   `json:"measure_time"`
	Measurement     Measurement `json:"measurement"`
}

// Choose derives the profile of a model from how it read.
func Choose(model string, m Measurement, now time.Time) Profile {
	p := Profile{Model: model, Reader: llm.WeakReader, MeasureTime: now.UTC().Truncate(time.Second), Measurement: m}
	if least := min(m.Few, m.Many); least >= strongFrom {
		p.Reader, p.ReadingShare = llm.StrongReader, float32(min(least, maxShare))
	}
	if wanted := 2 * m.MaxTokens; wanted > llm.DefaultConfig().ReasoningTokens {
		p.ReasoningTokens = min(wanted, maxThinking)
	}
	return p
}

// Settings returns the settings of the profile, KEY=VALUE.
func (p Profile) Settings() []string {
	settings := []string{"llm.reader=" + p.Reader}
	if p.ReadingShare > 0 {
		settings = append(settings, fmt.Sprintf("llm.reading_share=%.2f", p.ReadingShare))
	}
	if p.ReasoningTokens > 0 {
		settings = append(settings, fmt.Sprintf("llm.reasoning_tokens=%d", p.ReasoningTokens))
	}
	return settings
}

// Apply sets what the user has left to be chosen.
func (p Profile) Apply(c *llm.Config) {
	if c.Reader == llm.AutoReader || c.Reader == "" {
		c.Reader = p.Reader
		c.ReadingShare = cmp.Or(c.ReadingShare, p.ReadingShare)
	}
	if p.ReasoningTokens > 0 && c.ReasoningTokens == llm.DefaultConfig().ReasoningTokens {
		c.ReasoningTokens = p.ReasoningTokens
	}
}

// Store holds the profiles of models as files of a directory.
type Store struct{ Dir string }

// Save replaces the profile of its model.
func (s Store) Save(p Profile) error {
	data, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return fmt.Errorf("save the profile of %s: %w", p.Model, err)
	}
	if err := config.ReplaceFile(s.file(p.Model), 0o644, append(data, '\n')); err != nil {
		return fmt.Errorf("save the profile of %s: %w", p.Model, err)
	}
	return nil
}

// Load returns the profile of a model; ok is false if there is none. A file that cannot be read, or
// says what no profile says, is an error.
func (s Store) Load(model string) (p Profile, ok bool, err error) {
	file := s.file(model)
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return Profile{}, false, nil
	}
	if err != nil {
		return Profile{}, false, fmt.Errorf("load the profile of %s: %w", model, err)
	}
	if err = json.Unmarshal(data, &p); err == nil {
		err = p.validate(model)
	}
	if err != nil {
		return Profile{}, false, fmt.Errorf("load the profile of %s: %s: %w; remove the file, or measure the "+
			"model again with `triplemesh doctor --test-model`", model, file, err)
	}
	return p, true, nil
}

func (p Profile) validate(model string) error {
	switch {
	case p.Model != model:
		return fmt.Errorf("it is of the model %q", p.Model)
	case p.Reader != llm.WeakReader && p.Reader != llm.StrongReader:
		return fmt.Errorf("reader: got %q, want %s or %s", p.Reader, llm.WeakReader, llm.StrongReader)
	case p.ReadingShare < 0 || p.ReadingShare > maxShare:
		return fmt.Errorf("reading_share: got %g, want 0 to %g", p.ReadingShare, maxShare)
	case p.ReasoningTokens < 0 || p.ReasoningTokens > maxThinking:
		return fmt.Errorf("reasoning_tokens: got %d, want 0 to %d", p.ReasoningTokens, maxThinking)
	}
	return nil
}

// file names a model's file by what of its name every file system takes, and a sum of the whole.
func (s Store) file(model string) string {
	plain := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '.') {
			return unicode.ToLower(r)
		}
		return '_'
	}, model)
	sum := sha256.Sum256([]byte(model))
	return filepath.Join(s.Dir, fmt.Sprintf("%.60s-%x.json", plain, sum[:4]))
}

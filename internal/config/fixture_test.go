package config

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

type llmConfig struct {
	BaseURL   string        `koanf:"base_url"`
	APIKey    string        `koanf:"api_key"`
	Model     string        `koanf:"model"`
	Timeout   time.Duration `koanf:"timeout"`
	Fallbacks []endpoint    `koanf:"fallbacks"`
	// Prices by model; names of models have dots.
	Prices map[string]price `koanf:"prices"`
}

type endpoint struct {
	BaseURL string `koanf:"base_url"`
	APIKey  string `koanf:"api_key"`
}

type price struct {
	Input float64 `koanf:"input"`
}

type serverConfig struct {
	Addr     string       `koanf:"addr" help:"where to listen"`
	Limit    int          `koanf:"limit"`
	Listener net.Listener `koanf:"-"`
}

func (c serverConfig) Validate() error {
	if c.Addr == "" {
		return errors.New("addr is empty")
	}
	return nil
}

type stageConfig struct {
	Server    serverConfig `koanf:"server"`
	LLM       llmConfig    `koanf:"llm"`
	Mode      mode         `koanf:"mode"`
	Threshold float64      `koanf:"threshold"`
	Strict    bool         `koanf:"strict"`
	Names     []string     `koanf:"names"`
	Ratio     *float64     `koanf:"ratio"`
	Small     int8         `koanf:"small"`
	Count     uint         `koanf:"count"`
	From      date         `koanf:"from"`
}

type mode string

// date reads itself from text.
type date struct{ time.Time }

func (d *date) UnmarshalText(text []byte) (err error) {
	d.Time, err = time.Parse(time.DateOnly, string(text))
	return err
}

func (d date) MarshalText() ([]byte, error) { return []byte(d.Format(time.DateOnly)), nil }

func (c stageConfig) Validate() error {
	if c.Mode == "wrong" {
		return errors.New("mode is wrong")
	}
	return nil
}

func defaults() stageConfig {
	return stageConfig{
		Server:    serverConfig{Addr: "localhost:9093", Limit: 10},
		LLM:       llmConfig{Model: "small", Timeout: time.Minute},
		Mode:      "align",
		Threshold: 0.7,
	}
}

// file writes a configuration file.
func file(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "triplemesh.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

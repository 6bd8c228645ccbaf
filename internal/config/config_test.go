package config

import (
	"net"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestLayers(t *testing.T) {
	const all = "llm: {model: shared, base_url: 'http://shared'}\nverifier: {llm: {model: own}, server: {limit: " +
		"5}}\nreflector: {llm: {model: other}}\n"
	for _, test := range []struct {
		name string
		file string
		env  []string
		set  map[string]string
		want func(*stageConfig)
	}{
		{name: "with nothing said the defaults hold", want: func(*stageConfig) {}},
		{name: "an empty file says nothing", file: "# soon\n", want: func(*stageConfig) {}},
		{name: "empty sections say nothing", file: "llm:\nverifier:\n  server:\n", want: func(*stageConfig) {}},
		{name: "a stage's section wins over a shared one", file: all, want: func(c *stageConfig) {
			c.LLM.Model, c.LLM.BaseURL, c.Server.Limit = "own", "http://shared", 5
		}},
		{name: "sections that a stage does not have are passed over", file: "telemetry: {log_level: debug}",
			want: func(*stageConfig) {}},
		{name: "anchors may be used", file: "llm: &m {model: big}\nverifier: {llm: *m}\n",
			want: func(c *stageConfig) { c.LLM.Model = "big" }},
		{name: "the environment wins over the file", file: all, env: []string{"TRIPLEMESH_LLM_MODEL=env"},
			want: func(c *stageConfig) {
				c.LLM.Model, c.LLM.BaseURL, c.Server.Limit = "env", "http://shared", 5
			}},
		{name: "a stage's variable wins over a shared one", env: []string{"TRIPLEMESH_VERIFIER_LLM_MODEL=own",
			"TRIPLEMESH_LLM_MODEL=env", "TRIPLEMESH_REFLECTOR_LLM_MODEL=other"},
			want: func(c *stageConfig) { c.LLM.Model = "own" }},
		{name: "OpenAI's variables are taken", env: []string{"OPENAI_BASE_URL=http://o", "OPENAI_API_KEY=k"},
			want: func(c *stageConfig) { c.LLM.BaseURL, c.LLM.APIKey = "http://o", "k" }},
		{name: "our variables win over OpenAI's", env: []string{"TRIPLEMESH_LLM_BASE_URL=http://t",
			"OPENAI_BASE_URL=http://o"}, want: func(c *stageConfig) { c.LLM.BaseURL = "http://t" }},
		{name: "an empty variable is not set", env: []string{"TRIPLEMESH_LLM_MODEL="}, want: func(*stageConfig) {}},
		{name: "variables of Kubernetes are no settings", env: []string{"TRIPLEMESH_VERIFIER_PORT=tcp://10.0.0.1:9093",
			"TRIPLEMESH_VERIFIER_SERVICE_HOST=10.0.0.1"}, want: func(*stageConfig) {}},
		{name: "a variable without a stage sets shared sections only", env: []string{"TRIPLEMESH_MODE=edits",
			"TRIPLEMESH_SERVER_LIMIT=3"}, want: func(c *stageConfig) { c.Server.Limit = 3 }},
		{name: "flags win over all", file: all, env: []string{"TRIPLEMESH_VERIFIER_LLM_MODEL=env"},
			set: map[string]string{"llm.model": "flag", "server.limit": "1"}, want: func(c *stageConfig) {
				c.LLM.Model, c.LLM.BaseURL, c.Server.Limit = "flag", "http://shared", 1
			}},
		{name: "a flag that names the stage wins over one that does not",
			set: map[string]string{"verifier.llm.model": "own", "llm.model": "flag", "reflector.llm.model": "other",
				"telemetry.log_level": "debug"}, want: func(c *stageConfig) { c.LLM.Model = "own" }},
		{name: "every kind of value is read from a file",
			file: "verifier: {mode: edits, threshold: 1, strict: true, names: [a, b], ratio: 0.5, small: -3, count: " +
				"7, from: 2026-11-21, llm: {timeout: 1m30s, fallbacks: [{base_url: x, api_key: y}], " +
				"prices: {gpt-4.1: {input: 2.5}}}}", want: setEveryKind},
		{name: "every kind of value is read from text", set: map[string]string{
			"mode": "edits", "threshold": "1", "strict": "1", "names": "a, b", "ratio": "0.5", "small": "-3",
			"count": "7", "from": "2026-11-21",
			"llm.timeout": "1m30s", "llm.fallbacks": "[{base_url: x, api_key: y}]",
			"llm.prices": "{gpt-4.1: {input: 2.5}}",
		}, want: setEveryKind},
		{name: "a list replaces the one below it",
			file: "llm: {fallbacks: [{base_url: a}, {base_url: b}]}\nverifier: {llm: {fallbacks: [{base_url: c}]}}",
			want: func(c *stageConfig) { c.LLM.Fallbacks = []endpoint{{BaseURL: "c"}} }},
		{name: "text that looks like something else stays text", file: "llm: {model: '4'}",
			env: []string{"TRIPLEMESH_LLM_BASE_URL=[true]"}, want: func(c *stageConfig) {
				c.LLM.Model,
					c.LLM.BaseURL = "4", "[true]"
			}},
		{name: "no time at all needs no unit", file: "llm: {timeout: 0}",
			want: func(c *stageConfig) { c.LLM.Timeout = 0 }},
	} {
		t.Run(test.name, func(t *testing.T) {
			src := Sources{Env: test.env, Set: test.set}
			if test.file != "" {
				src.File = file(t, test.file)
			}
			got, err := Load("verifier", defaults(), src)
			if err != nil {
				t.Fatal(err)
			}
			want := defaults()
			test.want(&want)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func setEveryKind(c *stageConfig) {
	ratio := 0.5
	c.Mode, c.Threshold, c.Strict, c.Names, c.Ratio, c.Small, c.Count = "edits", 1, true, []string{"a", "b"}, &ratio,
		-3, 7
	c.From = date{time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)}
	c.LLM.Timeout, c.LLM.Fallbacks, c.LLM.Prices = 90*time.Second, []endpoint{{"x", "y"}},
		map[string]price{"gpt-4.1": {2.5}}
}

func TestMistakesAreNamed(t *testing.T) {
	for _, test := range []struct {
		name string
		file string
		env  []string
		set  map[string]string
		want []string // parts of the error
	}{
		{name: "an unknown key", file: "verifier:\n  server: {adr: x}\n", want: []string{"triplemesh.yaml", "line 2",
			"verifier.server.adr", "verifier.server.addr"}},
		{name: "an unknown key of a shared section", file: "llm: {modelx: x}",
			want: []string{"llm.modelx", "llm.model"}},
		{name: "an unknown key in a list", file: "llm: {fallbacks: [{}, {base: x}]}",
			want: []string{"llm.fallbacks[1].base", "llm.fallbacks[1].base_url"}},
		{name: "an unknown section", file: "verifer: {mode: x}", want: []string{"line 1", "verifer", "verifier"}},
		{name: "a stage's key outside its section", file: "mode: edits", want: []string{"verifier.mode"}},
		{name: "an unknown flag", set: map[string]string{"treshold": "1"},
			want: []string{"flag --treshold", "threshold"}},
		{name: "an unknown flag of the stage", set: map[string]string{"verifier.treshold": "1"},
			want: []string{"flag --verifier.treshold", "verifier.threshold"}},
		{name: "text for a number in a file", file: "verifier: {threshold: high}", want: []string{"triplemesh.yaml",
			"verifier.threshold", `"high"`, "a number"}},
		{name: "text for a number in the environment", env: []string{"TRIPLEMESH_VERIFIER_THRESHOLD=high"},
			want: []string{"environment", "TRIPLEMESH_VERIFIER_THRESHOLD", "threshold", `"high"`}},
		{name: "text for a number in a flag", set: map[string]string{"threshold": "high"},
			want: []string{"flag --threshold", `"high"`}},
		{name: "a fraction for a whole number", file: "verifier: {server: {limit: 1.5}}",
			want: []string{"verifier.server.limit", "1.5", "whole number"}},
		{name: "a number too large", file: "verifier: {small: 300}", want: []string{"verifier.small", "300"}},
		{name: "a negative count", file: "verifier: {count: -1}", want: []string{"verifier.count", "-1", "0 or more"}},
		{name: "a duration without a unit", file: "llm: {timeout: 30}", want: []string{"llm.timeout", "30", "30s"}},
		{name: "a wrong switch", set: map[string]string{"strict": "maybe"}, want: []string{"strict", "maybe",
			"true or false"}},
		{name: "a wrong date", set: map[string]string{"from": "soon"}, want: []string{"from", "soon"}},
		{name: "a list for one value", file: "verifier: {mode: [a]}", want: []string{"verifier.mode", "a list"}},
		{name: "one value for a list", file: "verifier: {names: a}", want: []string{"verifier.names", "a list"}},
		{name: "one value for a map", file: "llm: {prices: 3}", want: []string{"llm.prices", "keys and values"}},
		{name: "one value for a section", file: "verifier: {llm: big}", want: []string{"verifier.llm",
			"keys and values"}},
		{name: "a key without a value", file: "verifier:\n  mode:\n", want: []string{"verifier.mode", "no value"}},
		{name: "a key twice", file: "verifier:\n  mode: a\n  mode: b\n", want: []string{"mode", "line 3"}},
		{name: "a list for a file", file: "- a\n", want: []string{"line 1", "generator"}},
		{name: "no YAML", file: "verifier: {", want: []string{"triplemesh.yaml"}},
		{name: "two documents", file: "llm: {}\n---\nllm: {}\n", want: []string{"second document"}},
		{name: "a map as a key", file: "{a: b}: c\n", want: []string{"line 1"}},
		{name: "what the stage itself refuses", set: map[string]string{"mode": "wrong"},
			want: []string{"mode is wrong"}},
		{name: "what a part refuses", set: map[string]string{"server.addr": ""},
			want: []string{"server: addr is empty"}},
		{name: "YAML of a flag that is none", set: map[string]string{"llm.prices": "{"}, want: []string{"llm.prices"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			src := Sources{Env: test.env, Set: test.set}
			if test.file != "" {
				src.File = file(t, test.file)
			}
			_, err := Load("verifier", defaults(), src)
			if err == nil {
				t.Fatal("got no error")
			}
			for _, want := range append(test.want, "configuration of verifier") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q lacks %q", err, want)
				}
			}
		})
	}
	t.Run("a file that is not there", func(t *testing.T) {
		if _, err := Load("verifier", defaults(), Sources{File: "nowhere.yaml"}); err == nil ||
			!strings.Contains(err.Error(), "nowhere.yaml") {
			t.Errorf("got error %v, want the file named", err)
		}
	})
}

func TestWhatIsNoSettingIsLeftAlone(t *testing.T) {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer lis.Close()
	base := defaults()
	base.Server.Listener = lis
	got, err := Load("verifier", base, Sources{Set: map[string]string{"server.limit": "2"}})
	if err != nil || got.Server.Listener != lis {
		t.Errorf("got listener %v, %v", got.Server.Listener, err)
	}
	if _, err := Load("verifier", base, Sources{Set: map[string]string{"server.listener": "x"}}); err == nil {
		t.Error("a listener can be set by a flag")
	}
}

func TestNoSecretIsShown(t *testing.T) {
	const secret = "sk-12345"
	for name, src := range map[string]Sources{
		"wrong kind in a file": {File: file(t, "llm: {api_key: ["+secret+"]}")},
		"wrong kind in a list": {File: file(t, "llm: {fallbacks: [{api_key: {"+secret+": 1}}]}")},
	} {
		if _, err := Load("verifier", defaults(), src); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: got error %v", name, err)
		}
	}
	var out strings.Builder
	err := Print(&out, "verifier", defaults(), Sources{
		File: file(t, "llm: {fallbacks: [{base_url: 'http://b', api_key: "+secret+"}]}"),
		Env:  []string{"OPENAI_API_KEY=" + secret},
	})
	if err != nil || strings.Contains(out.String(), secret) || strings.Count(out.String(), redacted) != 2 ||
		!strings.Contains(out.String(), "http://b") {
		t.Errorf("got %v and\n%s", err, out.String())
	}
}

func TestWhatIsPrintedCanBeRead(t *testing.T) {
	src := Sources{
		File: file(t, "llm: {model: '4', prices: {gpt-4.1: {input: 2.5}}, fallbacks: [{base_url: x}]}\nverifier: "+
			"{names: ['true', 'a: b'], ratio: 0.5, from: 2026-11-21, llm: {timeout: 90s}}"),
		Env: []string{"TRIPLEMESH_LLM_BASE_URL=http://e"},
		Set: map[string]string{"verifier.mode": "edits"},
	}
	var out strings.Builder
	if err := Print(&out, "verifier", defaults(), src); err != nil {
		t.Fatal(err)
	}
	want, err := Load("verifier", defaults(), src)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Load("verifier", stageConfig{}, Sources{File: file(t, out.String())})
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v\n%s", got, want, out.String())
	}
	for _, line := range []string{"addr: localhost:9093 # default", "timeout: 1m30s # file ",
		"base_url: http://e # environment TRIPLEMESH_LLM_BASE_URL", "mode: edits # flag --verifier.mode"} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("what is printed lacks %q:\n%s", line, out.String())
		}
	}
}

func FuzzFile(f *testing.F) {
	f.Add("llm: {model: big}\nverifier: {mode: edits, names: [a]}\n")
	f.Add("verifier: {llm: {prices: {gpt-4.1: {input: 2.5}}, timeout: 1m}}")
	f.Add("a: &a [*a]\n")
	f.Add("llm: &m {model: x, <<: *m}\n")
	f.Add("--- !!binary x\n...\n---\n")
	f.Fuzz(func(t *testing.T, text string) {
		l := &loading{stage: "verifier", origin: map[string]string{}}
		cfg := defaults()
		l.root = reflect.ValueOf(&cfg).Elem()
		l.settings = listSettings(l.root, "")
		if l.readYAML("file", []byte(text)) != nil {
			return
		}
		var out strings.Builder
		if err := l.print(&out); err != nil {
			t.Fatalf("what was read cannot be printed: %v", err)
		}
		again, err := load("verifier", reflect.ValueOf(new(stageConfig)).Elem(), Sources{})
		if err != nil {
			t.Fatal(err)
		}
		if err := again.readYAML("printed", []byte(out.String())); err != nil {
			t.Errorf("what was printed cannot be read: %v\n%s", err, out.String())
		}
	})
}

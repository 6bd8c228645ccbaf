package value_test

import (
	"testing"

	"github.com/triplemesh/triplemesh/internal/value"
)

func TestDatesAreReadAsTheyAreWritten(t *testing.T) {
	for text, want := range map[string]value.Date{
		"1956":                  {Year: 1956},
		"1956-07":               {1956, 7, 0},
		"1956-07-04":            {1956, 7, 4},
		"+1956-07-04T00:00:00Z": {1956, 7, 4},
		"-0044-03-15":           {-44, 3, 15},
		"4 July 1956":           {1956, 7, 4},
		"4th of July 1956":      {1956, 7, 4},
		"July 4, 1956":          {1956, 7, 4},
		"Jul 1956":              {1956, 7, 0},
	} {
		if got, ok := value.ParseDate(text); !ok || got != want {
			t.Errorf("%q is read as %+v, %v; want %+v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "42", "1956-13-01", "1956-07-32", "Marching 1956", "Robert Stam", "4 July", "1956 film"} {
		if got, ok := value.ParseDate(text); ok {
			t.Errorf("%q is read as the date %+v", text, got)
		}
	}
}

func TestDatesAgreeAsFarAsBothAreSaid(t *testing.T) {
	for _, c := range []struct {
		a, b   value.Date
		agrees bool
	}{
		{value.Date{Year: 1956}, value.Date{Year: 1956, Month: 7, Day: 4}, true},
		{value.Date{Year: 1956, Month: 7}, value.Date{Year: 1956, Month: 7, Day: 4}, true},
		{value.Date{Year: 1956, Month: 7, Day: 4}, value.Date{Year: 1956, Month: 7, Day: 5}, false},
		{value.Date{Year: 1956, Month: 6}, value.Date{Year: 1956, Month: 7, Day: 4}, false},
		{value.Date{Year: 1957}, value.Date{Year: 1956}, false},
	} {
		if got := c.a.Agrees(c.b); got != c.agrees || c.b.Agrees(c.a) != got {
			t.Errorf("%+v and %+v: got %v", c.a, c.b, got)
		}
	}
	if a, b := (value.Date{Year: 1956, Month: 7}), (value.Date{Year: 1956}); !a.Says(b) || b.Says(a) || a.Says(a) {
		t.Error("which of two dates says more is not known")
	}
}

func TestQuantitiesAreReadAsTheyAreWritten(t *testing.T) {
	for text, want := range map[string]value.Quantity{
		"42":                     {42, ""},
		"82,350 km²":             {82350, "square kilometre"},
		"82350 square kilometre": {82350, "square kilometre"},
		"about 3.5 million":      {3.5e6, ""},
		"-7.5 degrees":           {-7.5, "degree"},
		"6e3 metres":             {6000, "metre"},
		"90%":                    {90, "percent"},
	} {
		if got, ok := value.ParseQuantity(text); !ok || got != want {
			t.Errorf("%q is read as %+v, %v; want %+v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "20th Century Fox", "7 wonders of the ancient world", "Apollo 11", "1,2,3 or 4 of them"} {
		if got, ok := value.ParseQuantity(text); ok {
			t.Errorf("%q is read as the quantity %+v", text, got)
		}
	}
}

func TestQuantitiesAreCompared(t *testing.T) {
	metres, bare, feet := value.Quantity{Number: 100, Unit: "metre"}, value.Quantity{Number: 101}, value.Quantity{Number: 100, Unit: "foot"}
	if !metres.Comparable(bare) || metres.Comparable(feet) {
		t.Error("units are compared wrongly")
	}
	if bare.Off(metres) != 0.01 || metres.Off(feet) != 0 || (value.Quantity{}).Off(value.Quantity{}) != 0 {
		t.Error("numbers are compared wrongly")
	}
}

func FuzzValues(f *testing.F) {
	for _, s := range []string{"1956-07-04", "4th of July 1956", "82,350 km²", "٣", "1e999", "-", "+0000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, ok := value.ParseDate(s); ok && !d.Agrees(d) {
			t.Errorf("%q is another date than itself", s)
		}
		if q, ok := value.ParseQuantity(s); ok && (q.Off(q) != 0 || !q.Comparable(q)) {
			t.Errorf("%q is another quantity than itself", s)
		}
	})
}

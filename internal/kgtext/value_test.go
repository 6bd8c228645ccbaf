package kgtext_test

import (
	"math"
	"testing"

	"github.com/triplemesh/triplemesh/internal/kgtext"
)

func TestDatesAreReadAsTheyAreWritten(t *testing.T) {
	for text, want := range map[string]kgtext.Date{
		"1956":                  {Year: 1956},
		"1956-07":               {1956, 7, 0},
		"1956-07-04":            {1956, 7, 4},
		"+1956-07-04T00:00:00Z": {1956, 7, 4},
		"-0044-03-15":           {-44, 3, 15},
		"4 July 1956":           {1956, 7, 4},
		"4th of July 1956":      {1956, 7, 4},
		"July 4, 1956":          {1956, 7, 4},
		"Jul 1956":              {1956, 7, 0},
		"13/7/1956":             {1956, 7, 13},
		"7/13/1956":             {1956, 7, 13},
		"13.07.1956":            {1956, 7, 13},
		"4/7/1956":              {1956, 0, 0}, // of April or July
		"7/7/1956":              {1956, 7, 7},
	} {
		if got, ok := kgtext.ParseDate(text); !ok || got != want {
			t.Errorf("%q is read as %+v, %v; want %+v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "42", "1956-13-01", "1956-07-32", "Marching 1956", "Robert Stam",
		"4 July", "1956 film", "13/13/1956", "4/7.1956"} {
		if got, ok := kgtext.ParseDate(text); ok {
			t.Errorf("%q is read as the date %+v", text, got)
		}
	}
}

func TestDatesAgreeAsFarAsBothAreSaid(t *testing.T) {
	for _, c := range []struct {
		a, b   kgtext.Date
		agrees bool
	}{
		{kgtext.Date{Year: 1956}, kgtext.Date{Year: 1956, Month: 7, Day: 4}, true},
		{kgtext.Date{Year: 1956, Month: 7}, kgtext.Date{Year: 1956, Month: 7, Day: 4}, true},
		{kgtext.Date{Year: 1956, Month: 7, Day: 4}, kgtext.Date{Year: 1956, Month: 7, Day: 5}, false},
		{kgtext.Date{Year: 1956, Month: 6}, kgtext.Date{Year: 1956, Month: 7, Day: 4}, false},
		{kgtext.Date{Year: 1957}, kgtext.Date{Year: 1956}, false},
	} {
		if got := c.a.Agrees(c.b); got != c.agrees || c.b.Agrees(c.a) != got {
			t.Errorf("%+v and %+v: got %v", c.a, c.b, got)
		}
	}
	if a, b := (kgtext.Date{Year: 1956, Month: 7}), (kgtext.Date{Year: 1956}); !a.MorePreciseThan(b) ||
		b.MorePreciseThan(a) || a.MorePreciseThan(a) {
		t.Error("which of two dates says more is not known")
	}
}

func TestQuantitiesAreReadAsTheyAreWritten(t *testing.T) {
	for text, want := range map[string]kgtext.Quantity{
		"42":                                   {42, ""},
		"82,350 km²":                           {82350, "square kilometre"},
		"82350 square kilometre":               {82350, "square kilometre"},
		"about 3.5 million":                    {3.5e6, ""},
		"30 min":                               {30, "minute"},
		"PT1H10M":                              {70, "minute"},
		"P1DT30S":                              {1440.5, "minute"},
		"PT0M":                                 {0, "minute"},
		"07:15":                                {435, "clock"},
		"23:59:30":                             {1439.5, "clock"},
		"20 mg":                                {20, "milligram"},
		"-7.5 degrees":                         {-7.5, "degree"},
		"6e3 metres":                           {6000, "metre"},
		"90%":                                  {90, "percent"},
		"$362,285":                             {362285, ""},
		"1516.67 (days)":                       {1516.67, "day"},
		"~500":                                 {500, ""},
		"973 m above sea level":                {973, "metre"},
		"253.26 metres long":                   {253.26, "metre"},
		"512.4 people per km²":                 {512.4, "inhabitant per square kilometre"},
		"4.56 (kilometrePerSeconds)":           {4.56, "kilometre per second"},
		"120 m2":                               {120, "square metre"},
		"8.65 g/cm3":                           {8.65, "gram per cm3"},
		"7800 million EUR":                     {7.8e9, "euro"},
		"9 persons/sq km":                      {9, "inhabitant per square kilometre"},
		"2 (inhabitants per square kilometre)": {2, "inhabitant per square kilometre"},
	} {
		if got, ok := kgtext.ParseQuantity(text); !ok || got != want {
			t.Errorf("%q is read as %+v, %v; want %+v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "20th Century Fox", "7 wonders of the ancient world", "Apollo 11",
		"1,2,3 or 4 of them", "P", "PT", "P12", "PTM", "P1Y", "24:00",
		"16:9", "7:5", "3:16-18"} {
		if got, ok := kgtext.ParseQuantity(text); ok {
			t.Errorf("%q is read as the quantity %+v", text, got)
		}
	}
}

func TestQuantitiesAreCompared(t *testing.T) {
	metres, bare, feet := kgtext.Quantity{Number: 100, Unit: "metre"}, kgtext.Quantity{Number: 101},
		kgtext.Quantity{Number: 100, Unit: "foot"}
	days, furlongs := kgtext.Quantity{Number: 100, Unit: "day"}, kgtext.Quantity{Number: 100, Unit: "furlong"}
	if !metres.Comparable(bare) || !metres.Comparable(feet) || metres.Comparable(days) || metres.Comparable(furlongs) {
		t.Error("units are compared wrongly")
	}
	yards := kgtext.Quantity{Number: 328.0839895, Unit: "foot"}
	if bare.RelativeDifference(metres) != 0.01 || metres.RelativeDifference(yards) > 1e-6 ||
		math.Abs(metres.RelativeDifference(feet)-2.2808) > 1e-3 ||
		(kgtext.Quantity{}).RelativeDifference(kgtext.Quantity{}) != 0 {
		t.Error("numbers are compared wrongly")
	}
}

func TestQuantitiesAreConvertedWithinAMeasure(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, unit string
		want       float64
		ok         bool
	}{
		{"185 cm", "metre", 1.85, true}, {"2 miles", "kilometre", 3.218688, true},
		{"3 (squareKilometres)", "hectare", 300, true}, {"7 days", "hour", 168, true}, {"5 wugs", "wug", 5, true},
		{"5 wugs", "metre", 0, false}, {"5 kg", "metre", 0, false}, {"5", "metre", 0, false},
	} {
		q, _ := kgtext.ParseQuantity(c.text)
		got, ok := q.Convert(c.unit)
		if ok != c.ok || ok && (math.Abs(got.Number-c.want) > 1e-9 || got.Unit != c.unit) {
			t.Errorf("%q in %s: %+v, %v", c.text, c.unit, got, ok)
		}
	}
}

func TestANameStandsForAnObjectThatSaysMore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, name, object string
		want              bool
	}{
		{"the same words", "low tide", "Low Tide", true},
		{"without the unit", "1516.67", "1516.6700000000003 (days)", true},
		{"with the unit", "1516.67 days", "1516.67 (days)", true},
		{"another unit", "1516.67 years", "1516.67 (days)", false},
		{"a unit in letters", "185", "185 cm", true},
		{"a year in a name", "2003", "2003 NBA draft", false},
		{"another number", "1516", "1516.67 (days)", false},
		{"the number without its sign", "3.35", "-3.35", false},
		{"a day in words", "November 18, 1923", "1923-11-18", true},
		{"a year is not a day of it", "1923", "1923-11-18", false},
		{"a degree behind the name", "Orla State", "Orla State, B.S. 1955", true},
		{"what tells namesakes apart", "Low Tide", "Low Tide (company)", true},
		{"a part of a name", "Low", "Low Tide", false},
		{"nothing", "?", "(?)", false},
	} {
		if got := kgtext.StandsFor(c.name, c.object); got != c.want {
			t.Errorf("%s: %q stands for %q: %v", c.why, c.name, c.object, got)
		}
	}
}

func FuzzValues(f *testing.F) {
	for _, s := range []string{"1956-07-04", "4th of July 1956", "82,350 km²", "٣", "1e999", "-", "+0000", "PT1H10M",
		"07:15"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, ok := kgtext.ParseDate(s); ok && !d.Agrees(d) {
			t.Errorf("%q is another date than itself", s)
		}
		if q, ok := kgtext.ParseQuantity(s); ok && (q.RelativeDifference(q) != 0 || !q.Comparable(q)) {
			t.Errorf("%q is another quantity than itself", s)
		}
	})
}

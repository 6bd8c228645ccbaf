package query_test

import (
	"slices"
	"strings"
	"testing"

	"buf.build/go/protovalidate"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/generator/query"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, draft, want string }{
		{"a count", `Film(directed_by="Mara Vell").count()`,
			"?film type → film; ?film directed by → Mara Vell; count ?film"},
		{"names without quotes", `Club(A.F.C. Orla-Süd, St. Mara).get("members")`,
			"?club is A.F.C. Orla-Süd or St. Mara; ?club members → ?members; ?members"},
		{"a difference is no name", `sum(budget - cost)`,
			"?thing is budget or cost; ?thing number → ?number; sum of ?number"},
		{"an attribute", `Thing("velmora").get("population")`,
			"?thing is velmora; ?thing population → ?population; ?population"},
		{"a superlative and what hangs on it", `Town().least("inhabitants").get("mayor")`,
			"?town type → town; ?town inhabitants → ?inhabitants; least ?inhabitants; ?town mayor → ?mayor; ?mayor"},
		{"the most, counted", `Valley().most("number of lakes")`,
			"?valley type → valley; ?valley lakes → ?lakes; most ?lakes for each ?valley; ?valley"},
		{"an exclusion", `Play(cast="Per Holm").not_(staged_in="Orla")`,
			"?play type → play; ?play cast → Per Holm; not ?play staged in → Orla; ?play"},
		{"what came first", `Person(hired_first=True).get("name")`,
			"?person type → person; ?person hired → ?hired; least ?hired; ?person"},
		{"what came last", `Person(joined_last=True)`,
			"?person type → person; ?person joined → ?joined; most ?joined; ?person"},
		{"a mean of all things", `average(RunTime())`, "?thing run time → ?run_time; average of ?run_time"},
		{"a mean of all things by a name", `average(running time)`,
			"?thing running time → ?running_time; average of ?running_time"},
		{"an operator of two words in a keyword", `Team(won_more_than=5)`,
			"?team type → team; ?team won → ?won; ?won > 5; ?team"},
		{"a sum of some", `sum(Film(by="Mara Vell").get("budget"))`,
			"?film type → film; ?film by → Mara Vell; ?film budget → ?budget; sum of ?budget"},
		{"titles are names", `Film(by="Mara Vell").get("titles")`, "?film type → film; ?film by → Mara Vell; ?film"},
		{"names that are excluded", `State().least("size").not_("name", "Alaska")`,
			"?state type → state; ?state size → ?size; least ?size; ?state ≠ Alaska; ?state"},
		{"a chain in the place of a value", `River(in_state=State(borders="Texas"))`,
			"?river type → river; ?state type → state; ?state borders → Texas; ?river in state → ?state; ?river"},
		{"between", `Film().where("year", "between", 1990, 1999)`,
			"?film type → film; ?film year → ?year; ?year ≥ 1990; ?year ≤ 1999; ?film"},
		{"an operator before its value", `Film(rating="below", value=4)`,
			"?film type → film; ?film rating → ?rating; ?rating < 4; ?film"},
		{"between in a keyword", `Film(director="A B", year="between", 1990, 1999)`,
			"?film type → film; ?film director → A B; ?film year → ?year; ?year ≥ 1990; ?year ≤ 1999; ?film"},
		{"an operator in a keyword", `Park(established_after="2000").count()`,
			"?park type → park; ?park established → ?established; ?established > 2000; count ?park"},
		{"an operator in a value", `Circuit(screens=">=2,000")`,
			"?circuit type → circuit; ?circuit screens → ?screens; ?screens ≥ 2,000; ?circuit"},
		{"a comparison with a name", `Thing("A").where("joined", "before", Thing("B")).exists()`,
			"?thing is A; ?thing joined → ?joined; ?thing2 is B; ?thing2 joined → ?joined2; ?joined < ?joined2; " +
				"is there any"},
		{"an operator with what is compared", `Act("A").where("passed before", Act("B").get("passed"))`,
			"?act is A; ?act passed → ?passed; ?act2 is B; ?act2 passed → ?passed2; ?passed < ?passed2; ?act"},
		{"a name that is to be the same", `Film("A").where("director", "=", Person("B")).exists()`,
			"?film is A; ?film director → ?director; ?person is B; ?director = ?person; is there any"},
		{"things of a kind by their last word", `Drug(interacts_with="Orlin").get("interacting drugs")`,
			"?drug type → drug; ?drug interacts with → Orlin; ?drug"},
		{"a place in a keyword", `Home(in_orla=True)`, "?home type → home; ?home in → orla; ?home"},
		{"whether there is one", `Thing("Orla").exists("garden")`,
			"?thing is Orla; ?thing garden → ?garden; is there any"},
		{"a comparison of attributes", `Thing("A").where("height", ">", Thing("B").get("height")).exists()`,
			"?thing is A; ?thing height → ?height; ?thing2 is B; ?thing2 height → ?height2; ?height > ?height2; is " +
				"there any"},
		{"a count compared with a number", `Film(directed_by="Mara Vell").count() > 5`,
			"?owner is Mara Vell; ?film type → film; ?film directed by → ?owner; " +
				"?owner has > 5 ?film; is there any"},
		{"a count of what a name has, compared with a number", `Person("Mara Vell").count("pupils") >= 2`,
			"?person is Mara Vell; ?person pupils → ?pupils; ?person has ≥ 2 ?pupils; is there any"},
		{"two values that are to be the same", `Thing("A").get("owner").equals(Thing("B").get("owner"))`,
			"?thing is A; ?thing owner → ?owner; ?thing2 is B; ?thing2 owner → ?owner2; ?owner = ?owner2; is there " +
				"any"},
		{"what is left empty of a name is asked for", `Thing("A", written_by="").count()`,
			"?thing is A; ?thing written by → ?written_by; count ?written_by"},
		{"and not of what has no name", `Film(written_by="", directed_by="Mara Vell").count()`,
			"?film type → film; ?film directed by → Mara Vell; count ?film"},
		{"cities in the words of a draft", `City(twinned_with="A").get("cities it is twinned with")`,
			"?city type → city; ?city twinned with → A; ?city"},
		{"a value compared with a number", `Thing("A").get("population") > 1000`,
			"?thing is A; ?thing population → ?population; ?population > 1000; ?population"},
		{"a difference", `difference(Thing("A").get("born"), Thing("B").get("born"), "days")`,
			"?thing is A; ?thing born → ?born; ?thing2 is B; ?thing2 born → ?born2; difference of ?born and ?born2 " +
				"in days"},
		{"what has the most of something, as the most of itself",
			`Province(town=Town().most("number of towns")).get("name")`,
			"?province type → province; ?province towns → ?towns; most ?towns for each ?province; ?province"},
		{"what has the most of what was done to it", `Writer(film=Film().most("number of films written"))`,
			"?writer type → writer; ?writer films written → ?films_written; " +
				"most ?films_written for each ?writer; ?writer"},
		{"a mean as a value", `Tower(height="average").get("height")`,
			"?tower type → tower; ?tower height → ?height; ?tower height → ?height2; ?height2"},
		{"the most frequent", `Statue(made_by="Per Holm").most_common("material")`,
			"?statue type → statue; ?statue made by → Per Holm; ?statue material → ?material; " +
				"most ?statue for each ?material; ?material"},
		{"a name without quotes", `Film(director=Mara Vell).count()`,
			"?film type → film; ?film director → Mara Vell; count ?film"},
		{"fences and prose around", "Here it is:\n```python\nFilm(cast=\"A\")\n```",
			"?film type → film; ?film cast → A; ?film"},
		{"a quote that is not closed", `Film(cast="A B`, "?film type → film; ?film cast → A B; ?film"},
		{"an apostrophe in quotes", `Thing('Angela's Ashes').get("year")`,
			"?thing is Angela's Ashes; ?thing year → ?year; ?year"},
		{"a second name is that of a relation", `Director("Low Tide").where("name", "Mara Vell").exists()`,
			"?director is Low Tide; ?director director → Mara Vell; is there any"},
		{"a superlative as a name", `River(name="Largest", state="Orla")`,
			"?river type → river; ?river state → Orla; ?river size → ?size; most ?size; ?river"},
		{"a superlative as a value", `Lake(in_="largest state")`,
			"?lake type → lake; ?state type → state; ?state size → ?size; most ?size; ?lake in → ?state; ?lake"},
		{"the most as a value", `River(traverses="most states")`,
			"?river type → river; ?river traverses → ?traverses; most ?traverses for each ?river; ?river"},
		{"a superlative in a keyword", `River(longest_in_state="Orla")`,
			"?river type → river; ?river in state → Orla; ?river length → ?length; most ?length; ?river"},
		{"a flag that is a superlative", `State(lowest_point=True)`,
			"?state type → state; ?state lowest point → ?lowest_point; least ?lowest_point; ?state"},
		{"the best of its own kind", `City(population=City().most("population")).get("name")`,
			"?city type → city; ?city population → ?population; most ?population; ?city"},
		{"the greatest of several values", `Elevation(location="Orla").most("elevation")`,
			"?elevation type → elevation; ?elevation location → Orla; most ?elevation; ?elevation"},
		{"the states of a state", `State(river="Orla").get("states it runs through")`,
			"?state type → state; ?state river → Orla; ?state"},
		{"a value that is denied", `Film(director="Mara Vell", genre="not comedy")`,
			"?film type → film; ?film director → Mara Vell; not ?film genre → comedy; ?film"},
		{"a title that begins with not", `Director(film="Not Low Tide")`,
			"?director type → director; ?director film → Not Low Tide; ?director"},
		{"the genre of what is called one", `Genre("Low Tide").get("genre")`,
			"?genre is Low Tide; ?genre genre → ?genre2; ?genre2"},
		{"a total of a named thing", `Area("Orla").sum()`, "?area is Orla; ?area area → ?area2; sum of ?area2"},
		{"the difference of an attribute that comes last", `difference(Thing("Orla"), Thing("Velmora"), "population")`,
			"?thing is Orla; ?thing population → ?population; ?thing2 is Velmora; ?thing2 population → ?population2; " +
				"difference of ?population and ?population2"},
		{"the difference of two names", `difference("Orla", "Velmora", "area")`,
			"?thing is Orla; ?thing area → ?area; " +
				"?thing2 is Velmora; ?thing2 area → ?area2; difference of ?area and ?area2"},
		{"names that are written as kinds", `difference(Orla().get("points"), CD_Velmora().get("points"))`,
			"?thing is Orla; ?thing points → ?points; ?thing2 is CD Velmora; ?thing2 points → ?points2; " +
				"difference of ?points and ?points2"},
		{"a sum of two things", `sum(Thing("Orla").get("age"), Thing("Velmora").get("age"))`,
			"?thing is Orla or Velmora; ?thing age → ?age; sum of ?age"},
		{"a sum by what a keyword names", `sum(Hall(capacity="Orla"), Hall(capacity="Velmora"))`,
			"?thing is Orla or Velmora; ?thing capacity → ?capacity; sum of ?capacity"},
		{"a kind of two words", `National Park().least("visitors")`,
			"?national_park type → national park; ?national_park visitors → ?visitors; least ?visitors; " +
				"?national_park"},
		{"a second condition", `Club().where("points", "=", 27).and_("goals", "=", 1)`, "?club type → club; " +
			"?club points → ?points; ?points = 27; ?club goals → ?goals; ?goals = 1; ?club"},
		{"a condition on a number of things", `Club().where("number of games", "=", 9)`,
			"?club type → club; ?club games → ?games; ?games = 9; ?club"},
		{"the time between two things", `difference(Thing("Low Tide"), Thing("Orla"), "years")`,
			"?thing is Low Tide; " +
				"?thing date → ?date; ?thing2 is Orla; ?thing2 date → ?date2; difference of ?date and ?date2 in years"},
		{"nothing", "I do not know.", ""},
		{"brackets only", "((((((", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(kgtext.DescribePlan(query.Decode(c.draft)), "; "); got != c.want {
				t.Errorf("Decode(%s)\n got %s\nwant %s", c.draft, got, c.want)
			}
		})
	}
}

func TestRepair(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, question, draft, want string }{
		{"a plan that says what was asked stays", "How many films did Mara Vell direct?",
			`Film(directed_by="Mara Vell").count()`, "?film type → film; ?film directed by → Mara Vell; count ?film"},
		{"a name that the draft has in lower case", "How long is Low Tide–Orla Airport?",
			`Airport(low tide–orla).get("length")`, "?airport is low tide–orla; ?airport length → ?length; ?length"},
		{"a name of which only the first word has a capital", "How many ingredients does Orla sauce have?",
			`Ingredient(orla sauce).count()`,
			"?thing is Orla sauce; ?thing ingredients → ?ingredients; count ?ingredients"},
		{"what a name plays", "How many genres does Mara Vell play?", `Genre(performer=Per_osborne).count()`,
			"?thing is Mara Vell; ?thing genres → ?genres; count ?genres"},
		{"a kind that the question writes as a name", "How long is the TSSOrla?", `TSSOrla().get("length")`,
			"?tssorla is TSSOrla; ?tssorla length → ?length; ?length"},
		{"an amount in Cypher is no superlative", "Which people directed more than 3 films?",
			"MATCH (p)-[:DIRECTED]->(f) WITH p, count(f) AS n WHERE n > 3 RETURN p",
			"?p directed → ?f; ?p has > 3 ?f; ?p"},
		{"things are not counted unless asked", "Which films star Mara Vell?", `Film(starring="Mara Vell").count()`,
			"?film type → film; ?film starring → Mara Vell; ?film"},
		{"things are counted if asked", "how many lakes are in velmora", `Lake(in_="velmora")`,
			"?lake type → lake; ?lake in → velmora; count ?lake"},
		{"all of a place that the draft left out", "How many lakes are in Velmora?", `Lake().count()`,
			"?lake type → lake; ?lake in → velmora; count ?lake"},
		{"all of a place that is no name", "How many lakes are in this list?", `Lake().count()`,
			"?lake type → lake; count ?lake"},
		{"a place that was drafted as what is asked for", "What is the average length of the rivers in Velmora?",
			`River(length="average").get("Velmora")`,
			"?river type → river; ?river length → ?length; ?river in → Velmora; average of ?length"},
		{"a place of things", "Which rivers are in Velmora?", `River().get("Velmora")`,
			"?river type → river; ?river in → Velmora; ?river"},
		{"what is asked for of a place", "What is the length of the longest river in Velmora?",
			`River(in_="Velmora").most("length").get("length")`,
			"?river type → river; ?river in → Velmora; ?river length → ?length; most ?length; " +
				"?river length → ?length2; ?length2"},
		{"a place that was drafted as a flag", "Which rivers flow into the Tessen Sea?",
			`River(in_province=Province(tessen_sea="yes")).get("name")`,
			"?river type → river; ?river in → tessen sea; ?river"},
		{"a name behind an article is no flag", "which provinces does the tessen run through",
			`Province(tessen="yes").get("name")`, "?province type → province; ?province"},
		{"a flag in words", "Which orchards get frost?", `Orchard(frost="yes").get("name")`,
			"?orchard type → orchard; ?orchard type → frost; ?orchard"},
		{"a flag at the end is no name", "Which maple is tall?", `Maple(tall=True).get("name")`,
			"?maple type → maple; ?maple type → tall; ?maple"},
		{"a flag of what things are", "Which trees are not tall?", `Tree(is_tall=False)`,
			"?tree type → tree; not ?tree type → tall; ?tree"},
		{"something is what is asked for", "What does Orla depend on?", `Orla(depends_on="something")`,
			"?orla is orla; ?orla depends on → ?depends_on; ?depends_on"},
		{"the greatest by a word for it", "What is the tallest tree?", `Tree(height="max").get("name")`,
			"?tree type → tree; ?tree height → ?height; most ?height; ?tree"},
		{"the heaviest as a value", "Which stone is the heaviest?", `Stone(weight="heaviest").get("name")`,
			"?stone type → stone; ?stone weight → ?weight; most ?weight; ?stone"},
		{"the lightest as a flag", "What is the lightest stone?", `Stone(lightest=True).get("name")`,
			"?stone type → stone; ?stone weight → ?weight; least ?weight; ?stone"},
		{"the cheapest as a value", "What is the cheapest stone?", `Stone(price="cheapest").get("name")`,
			"?stone type → stone; ?stone price → ?price; least ?price; ?stone"},
		{"the heavier of two", "Which is heavier, the Orla Stone or the Tessen Stone?",
			`Thing("Orla Stone").where("weight", ">", Thing("Tessen Stone").get("weight")).exists()`,
			"?thing is Orla Stone or Tessen Stone; ?thing weight → ?weight; most ?weight; ?thing"},
		{"a count of counts", "How many towns are there?", `Count().get("count")`, "?count type → town; count ?count"},
		{"the least by a word for it", "What is the shortest tree?", `Tree(height="min").get("name")`,
			"?tree type → tree; ?tree height → ?height; least ?height; ?tree"},
		{"a kind of one word in capitals is what a relation leads to", "Which towns supply Orla?",
			`Town(orla=Orla()).get("name")`, "?town type → town; ?orla is Orla; ?town orla → ?orla; ?town"},
		{"but not behind an article", "Which film won an Oscar?", `Film(oscar=Oscar()).get("name")`,
			"?film type → film; ?oscar type → oscar; ?film oscar → ?oscar; ?film"},
		{"a flag that is no place", "What are the major towns in Velmora?", `Town(majority="yes", in_="Velmora")`,
			"?town type → town; ?town in → Velmora; ?town"},
		{"the other end", "what is the earliest film by Mara Vell", `Film(by="Mara Vell").most("year")`,
			"?film type → film; ?film by → Mara Vell; ?film year → ?year; least ?year; ?film"},
		{"a decade", "Which films of the 1990s star Mara Vell?", `Film(starring="Mara Vell")`,
			"?film type → film; ?film starring → Mara Vell; ?film date → ?date; ?date ≥ 1990; ?date ≤ 1999; ?film"},
		{"a decade that the draft has as a year", "Which 1990s films star Mara Vell?",
			`Film(starring="Mara Vell").where("year", "1990s")`,
			"?film type → film; ?film starring → Mara Vell; ?film year → ?year; ?year ≥ 1990; ?year ≤ 1999; ?film"},
		{"a year that was drafted as a name", "Which films of 1994 star Mara Vell?",
			`Film(starring="Mara Vell", year="1994")`,
			"?film type → film; ?film starring → Mara Vell; ?film year → ?year; ?year = 1994; ?film"},
		{"one of two", "Which came out first, Low Tide or Orla?", `Song(name="Low Tide").get("release date")`,
			"?thing is Low Tide or Orla; ?thing came out first → ?came_out_first; least ?came_out_first; ?thing"},
		{"what is not to be", "Which films star Mara Vell but not Per Holm?", `Film(cast="Mara Vell", cast="Per Holm")`,
			"?film type → film; ?film cast → Mara Vell; not ?film cast → Per Holm; ?film"},
		{"a sum of both", "What is the area of both Orla and Tessen in total?",
			`sum(Town(area="Orla"), Town(area="Tessen"))`,
			"?thing is Orla or Tessen; ?thing area → ?area; sum of ?area"},
		{"two names in a thing of both", "What films do Mara Vell and Per Holm both appear in?",
			`Film(actor=Actor(name="Mara Vell", name="Per Holm")).get("films")`,
			"?film type → film; ?film actor → Mara Vell; ?film actor → Per Holm; ?film"},
		{"two names in one", "Which films star both Mara Vell and Per Holm?", `Film(cast="Mara Vell, Per Holm")`,
			"?film type → film; ?film cast → Mara Vell; ?film cast → Per Holm; ?film"},
		{"a word of comparison is no name", "Which film did Mara Vell direct first?",
			`Film(directed_by="Mara Vell", order="first").least("year")`,
			"?film type → film; ?film directed by → Mara Vell; ?film year → ?year; least ?year; ?film"},
		{"what most have", "In which year were the most films by Mara Vell released?",
			`Film(by="Mara Vell").most("release year")`, "?film type → film; ?film by → Mara Vell; " +
				"?film release year → ?release_year; most ?film for each ?release_year; ?release_year"},
		{"an attribute of the best of several", "what is the highest point in states bordering velmora",
			`Highest_point(in_state=State(borders="velmora")).most("elevation")`, "?state type → state; " +
				"?state borders → velmora; ?state elevation → ?elevation; most ?elevation; " +
				"?state highest point → ?highest_point; ?highest_point"},
		{"an attribute that nobody asked for", "what is the highest point of the state with the smallest area",
			`Highest_point(state=State(area="smallest")).get("height")`, "?state type → state; ?state area → ?area; " +
				"least ?area; ?state highest point → ?highest_point; ?highest_point"},
		{"another thing than the one that is named", "what other film is in Velmoran besides Low Tide?",
			`Film(title="Low Tide", language="Velmoran").not_(title="Low Tide")`,
			"?film language → Velmoran; ?film ≠ Low Tide; ?film"},
		{"the same as a thing, which is not meant", "which towns have the same number of halls as Orla?",
			`Town().where("halls", "=", Town("Orla").get("halls")).count()`,
			"?town type → town; ?town halls → ?halls; " +
				"?town2 is Orla; ?town2 halls → ?halls2; ?halls = ?halls2; ?town ≠ Orla; ?town"},
		{"the older of two by age", "who is older--Mara Vell or Per Holm?",
			`Person("Mara Vell").where("age", ">", Person("Per Holm").get("age")).get("name")`,
			"?thing is Mara Vell or Per Holm; ?thing age → ?age; most ?age; ?thing"},
		{"a kind that is a name", "By which team was Mara Vell drafted?", `Mara_Vell(drafted_by="team").get("name")`,
			"?mara_vell is Mara Vell; ?mara_vell drafted by → ?drafted_by; ?drafted_by"},
		{"a name that begins with a relation", "Before 1959, in which films did Per Holm appear?",
			`Film(actor Per Holm).where("year", "<", 1959)`,
			"?film actor → Per Holm; ?film year → ?year; ?year < 1959; ?film"},
		{"a partner whose role the name was given", "Which director did Mara Vell act for most often?",
			`Actor(director="Mara Vell").most_common("director")`,
			"?thing act → Mara Vell; ?thing director → ?director3; ?director3 ≠ Mara Vell; " +
				"most ?thing for each ?director3; ?director3"},
		{"a partner, with what the name is", "With which actor did Per Holm, as a director, work most often?",
			`Actor(directed_by="Per Holm").most_common("name")`,
			"?thing director → Per Holm; ?thing actor → ?actor3; ?actor3 ≠ Per Holm; " +
				"most ?thing for each ?actor3; ?actor3"},
		{"a partner in something that is not said", "With which director did Mara Vell make the most films?",
			`Film(director="Mara Vell").most("films")`,
			"?thing with → Mara Vell; ?thing director → ?director; ?director ≠ Mara Vell; " +
				"most ?thing for each ?director; ?director"},
		{"who did the most of what has the name", "Who directed the most films starring Mara Vell?",
			`Film(directed_by="Mara Vell").most("number of films starring Mara Vell")`,
			"?thing type → film; ?thing starring → Mara Vell; ?thing directed → ?directed; " +
				"most ?thing for each ?directed; ?directed"},
		{"a partner that the draft counts already", "Which composer wrote the most songs for Mara Vell?",
			`Song(written_for="Mara Vell").most_common("composer")`,
			"?song type → song; ?song written for → Mara Vell; ?song composer → ?composer; " +
				"most ?song for each ?composer; ?composer"},
		{"what is asked of two names has no partner", "Which actor did Mara Vell and Per Holm direct most often?",
			`Actor(directed_by="Mara Vell", seen_by="Per Holm")`,
			"?actor type → actor; ?actor directed by → Mara Vell; ?actor seen by → Per Holm; ?actor"},
		{"flags of a verb and its object", "Who plays the lute but does not play the horn?",
			`Artist(plays_lute=True, plays_horn=False)`, "?artist type → artist; ?artist plays → lute; " +
				"not ?artist plays → horn; ?artist"},
		{"a word that describes is no name", "What comedy films did Mara Vell direct?",
			`Film(directed_by="Mara Vell").where("title", "comedy")`,
			"?film type → film; ?film directed by → Mara Vell; ?film type → comedy; ?film"},
		{"two things taken together", "How many bridges cross the Neva and the Orla in all?",
			`Bridge(crosses="Neva").crosses("Orla").count()`, "?either is Neva or Orla; ?bridge type → bridge; " +
				"?bridge crosses → ?either; count ?bridge"},
		{"an attribute of several that is drafted as their kind", "what is the total age of Low Tide and Orla?",
			`Age("Low Tide", "Orla")`, "?age is Low Tide or Orla; ?age age → ?age2; sum of ?age2"},
		{"an event that the draft makes of a verb", "How many people drowned in Orla?",
			`Death(location="Orla").count()`, "?death drowned in → Orla; count ?death"},
		{"not where the relation is the question's", "How many people drowned in locations of Orla?",
			`Death(location="Orla").count()`, "?death type → death; ?death location → Orla; count ?death"},
		{"a number in words is no name", "Which bridges are longer than two miles?", `Bridge().where("length", ">", 2)`,
			"?bridge type → bridge; ?bridge length → ?length; ?length > 2; ?bridge"},
		{"a measure of all things that was drafted as a kind", "What is the average salary?", `Salary().average()`,
			"?thing salary → ?salary; average of ?salary"},
		{"how many are in something", "How many rangers are in Orla?", `Ranger(orla).count()`,
			"?ranger type → ranger; ?ranger in → Orla; count ?ranger"},
		{"the mentor of somebody", "Who is the mentor of Orla Venn?",
			`Person(mentor=Person(name="Orla Venn")).get("name")`,
			"?person type → person; ?person2 is Orla Venn; ?person2 mentor → ?person; ?person"},
		{"… by its name", "Who is the mentor of Orla Venn?", `Person(mentor="Orla Venn")`,
			"?person type → person; ?thing is Orla Venn; ?thing mentor → ?person; ?person"},
		{"the supervisor of a supervisor", "Who is the supervisor of Orla Venn's supervisor?",
			`Person(supervisor_of="Orla Venn").supervisor_of`, "?person is Orla Venn; " +
				"?person supervisor of → ?between; ?between supervisor of → ?supervisor_of; ?supervisor_of"},
		{"the supervisor alone", "Who is the supervisor of Orla Venn?",
			`Person(supervisor_of="Orla Venn").supervisor_of`, "?person is Orla Venn; " +
				"?person supervisor of → ?supervisor_of; ?supervisor_of"},
		{"relations that are swapped", "Who maintains the machine that Orla Venn operates?",
			`Machine(maintained_by="Orla Venn").get("operator")`, "?machine type → machine; " +
				"?machine operator → Orla Venn; ?machine maintained by → ?operator; ?operator"},
		{"relations that are not", "Who maintains the machine that Orla Venn operates?",
			`Machine(operator="Orla Venn").get("maintained_by")`, "?machine type → machine; " +
				"?machine operator → Orla Venn; ?machine maintained by → ?maintained_by; ?maintained_by"},
		{"something of what a name has", "In which city is the maker of Orla Mug based?",
			`Maker("Orla Mug").get("city")`, "?owner is Orla Mug; ?owner maker → ?maker; ?maker city → ?city; ?city"},
		{"… of a person", "When was Orla Venn's wife born?", `Wife("Orla Venn").get("born")`,
			"?owner is Orla Venn; ?owner wife → ?wife; ?wife born → ?born; ?born"},
		{"a name behind its kind", "What is the area of the city of Orla?", `City("Orla").get("area")`,
			"?city is Orla; ?city area → ?area; ?area"},
		{"whom one reports to", "Who reports to Orla Venn?", `Person(reports_to="Orla Venn")`,
			"?person type → person; ?person manager → Orla Venn; ?person"},
		{"who did something is no group", "What is the average height of the towers built by the Guild of Orla?",
			`Tower(built_by="Guild of Orla").average("height")`,
			"?tower type → tower; ?tower built by → Guild of Orla; ?tower height → ?height; average of ?height"},
		{"what two have in common, off the question", "Do Low Tide and Orla have the same writer?",
			`Thing("Low Tide", "Orla").get("writer") == "Per Holm"`, "?thing is Low Tide; ?thing writer → ?writer; " +
				"?thing2 is Orla; ?thing2 writer → ?writer; is there any"},
		{"with the verb of the question", "Did Mara Vell and Per Holm study at the same school?",
			`School().where("name", "Mara Vell").exists()`, "?thing is Mara Vell; " +
				"?thing study at school → ?study_at_school; ?thing2 is Per Holm; " +
				"?thing2 study at school → ?study_at_school; is there any"},
		{"not where the draft compares it", "Did Mara Vell and Per Holm die of the same cause?",
			`Person("Mara Vell").get("cause") == Person("Per Holm").get("cause")`, "?person is Mara Vell; " +
				"?person cause → ?cause; ?person2 is Per Holm; ?person2 cause → ?cause2; ?cause = ?cause2; " +
				"is there any"},
		{"what both have, and not what either has", "Who wrote both Low Tide and Orla?",
			`Thing("Low Tide", "Orla", written_by="").exists()`, "?thing is Low Tide; " +
				"?thing written by → ?written_by; ?other is Orla; ?other written by → ?written_by; ?written_by"},
		{"a kind that is drafted as a name", "How many ballads are there?", `Thing("ballad").count()`,
			"?thing type → ballad; count ?thing"},
		{"who work somewhere, drafted as a kind", "How many people work at Orla?", `Employee("orla").count()`,
			"?thing is Orla; ?thing people work → ?people_work; count ?people_work"},
		{"a name that is drafted as a kind", "Who was the architect of Orla?", `Orla().get("architect")`,
			"?orla is Orla; ?orla architect → ?architect; ?architect"},
		{"a rate is no group", "How many visitors does Orla have per year?", `Thing("Orla").get("visitors per year")`,
			"?thing is Orla; ?thing visitors per year → ?visitors_per_year; ?visitors_per_year"},
		{"how many times is no count of values", "how many times did Mara Vell have the first place",
			`Race(winner="Mara Vell").count("first place")`,
			"?race type → race; ?race winner → Mara Vell; count ?race"},
		{"who was the first asks for no more", "who was the first mayor", `Mayor().least("date of office")`,
			"?mayor type → mayor; ?mayor date of office → ?date_of_office; least ?date_of_office; ?mayor"},
		{"two names in lower case", "did orla or tana velmora have a larger population",
			`Population(city="orla").where("population", ">", Population(city="tana velmora"))`,
			"?thing is orla or tana velmora; ?thing population → ?population; most ?population; ?thing"},
		{"what is named by its kind only", "What spacecraft went up in March 1993?",
			`Spacecraft(name="Spacecraft", launched_on="March 1993")`, "?spacecraft type → spacecraft; " +
				"?spacecraft launched on → ?launched_on; ?launched_on = March 1993; ?spacecraft"},
		{"another than the one named", "In which films does Per Holm act under another director?",
			`Film(actors=Per Holm).where("director", "not", Per Holm)`,
			"?film type → film; ?film actors → Per Holm; not ?film director → Per Holm; ?film"},
		{"what has the most, and not what most have", "Which artist of Orla plays the most instruments?",
			`Artist(of="Orla").most_common("instruments")`, "?artist type → artist; ?artist of → Orla; " +
				"?artist instruments → ?instruments; most ?instruments for each ?artist; ?artist"},
		{"a place is not the name of the best in it", "what is the longest river in orla",
			`River(name="Orla").most("length")`,
			"?river type → river; ?river in → Orla; ?river length → ?length; most ?length; ?river"},
		{"a place that was drafted as a kind", "what are the major towns in north velmora",
			`Town(north_velmora=True)`, "?town type → town; ?town in → north velmora; ?town"},
		{"a name and its place", "what is the population of orla velmora", `Thing("Orla", "Velmora").get("population")`,
			"?thing is Orla Velmora; ?thing population → ?population; ?population"},
		{"a place that the draft lacks, for what it made up", "how many rivers are in orla",
			`River(color="red").count()`,
			"?river type → river; ?river in → orla; count ?river"},
		{"a place that the draft of a ranking lacks", "Which is the highest tower in Orla?",
			`Tower().most("height")`,
			"?tower type → tower; ?tower height → ?height; ?tower in → orla; most ?height; ?tower"},
		{"a place that the draft of a mean lacks", "What is the average height of the towers in Orla?",
			`Tower(height="average").get("average height")`, "?tower type → tower; ?tower height → ?height; " +
				"?tower average height → ?average_height; ?tower in → orla; average of ?average_height"},
		{"a thing between that the question does not have", "what is the longest river that flows through orla",
			`River(in_province=Province(borders="orla")).most("length")`,
			"?river type → river; ?river in → orla; ?river length → ?length; most ?length; ?river"},
		{"the things of a place", "name all the lakes of orla", `Lake(name="orla")`,
			"?lake type → lake; ?lake in → orla; ?lake"},
		{"a place that begins like a word of the draft", "how many rivers are in colorado",
			`River(color="red").count()`,
			"?river type → river; ?river in → colorado; count ?river"},
		{"the most, where nothing asks for it", "which rivers run through states bordering orla",
			`River(in_state=State(borders="Orla")).most("number of states bordering")`, "?river type → river; " +
				"?state type → state; ?state borders → Orla; ?river in state → ?state; ?river"},
		{"what the plan has already is counted", "which town has the most bridges over the Orla",
			`Town(bridge=Bridge(over="Orla")).most("number of bridges")`, "?town type → town; ?bridge type → bridge; " +
				"?bridge over → Orla; ?town bridge → ?bridge; most ?bridge for each ?town; ?town"},
		{"the kind of what somebody did most of", "who directed the most thrillers",
			`Film(directed_by="Per Holm").most("number of thrillers directed")`, "?film type → film; " +
				"?film directed → ?thrillers_directed; ?thrillers_directed type → thriller; " +
				"most ?thrillers_directed for each ?film; ?film"},
		{"the kind of what has the kind that is asked for too", "Who wrote the most horror films?",
			`Film().most("number of horror films written")`, "?thing type → horror film; ?thing wrote → ?wrote; " +
				"most ?thing for each ?wrote; ?wrote"},
		{"the kind of what a role says", "Which director made the fewest comedies?",
			`Director(made_comedy=True).least("number of comedies made")`, "?director type → director; " +
				"?comedies_made director → ?director; ?comedies_made type → comedy; " +
				"least ?comedies_made for each ?director; ?director"},
		{"the kind of what was drafted as a name", "which actor starred in the most westerns",
			`Actor(starred_in="western").most("number of westerns")`, "?actor type → actor; " +
				"?actor starred in → ?westerns; ?westerns type → western; most ?westerns for each ?actor; ?actor"},
		{"the kind of what the draft has twice", "Which writer wrote the most dramas?",
			`Writer(drama=Drama(written_by="")).most("number of dramas written")`, "?writer type → writer; " +
				"?writer written → ?dramas_written; ?dramas_written type → drama; " +
				"most ?dramas_written for each ?writer; ?writer"},
		{"what is said of the things that are counted", "Who acted in the most films directed by Mara Vell?",
			`Actor(directed_by="Mara Vell").most("number of films")`, "?thing type → film; " +
				"?thing directed by → Mara Vell; ?thing acted in → ?acted_in; " +
				"most ?thing for each ?acted_in; ?acted_in"},
		{"what somebody did most, of which the draft ranks nothing", "Who has written the most comedies?",
			`Comedy(written_by="writer").count()`, "?thing type → comedy; ?thing written → ?written; " +
				"most ?thing for each ?written; ?written"},
		{"when there was most of something", "which year had the most musicals", `Thing("musical").get("year")`,
			"?thing type → musical; ?thing year → ?year; most ?thing for each ?year; ?year"},
		{"who was in most of something, as what has most of it", "who starred in the most musicals",
			`Musical(starred_in="most musicals").count()`, "?thing type → musical; " +
				"?thing starred in → ?starred_in; most ?thing for each ?starred_in; ?starred_in"},
		{"who was in most of what a name made", "Who starred in the most films written by Mara Vell?",
			`Film(written_by="Mara Vell").most("number of stars")`, "?thing type → film; " +
				"?thing written by → Mara Vell; ?thing starred in → ?starred_in; " +
				"most ?thing for each ?starred_in; ?starred_in"},
		{"a role that was in most of something", "which actor has been in the most comedies",
			`Actor().most("number of comedies")`, "?actor type → actor; ?actor comedies → ?comedies; " +
				"?comedies type → comedy; most ?comedies for each ?actor; ?actor"},
		{"what is said of the things that are counted, and more",
			"Who acted in the most films directed by Mara Vell so far?",
			`Actor(directed_by="Mara Vell").most("number of films")`, "?actor type → actor; " +
				"?films directed by → Mara Vell; ?actor films → ?films; ?films type → film; " +
				"most ?films for each ?actor; ?actor"},
		{"a role that appeared in most of what a name made",
			"Which actor appears in the most films directed by Mara Vell?",
			`Actor(directed_by="Mara Vell").most("number of films")`, "?thing type → film; " +
				"?thing directed by → Mara Vell; ?thing actor → ?actor; most ?thing for each ?actor; ?actor"},
		{"what a role won most of", "Which actor won the most awards?", `Actor().most("number of awards")`,
			"?actor type → actor; ?actor awards → ?awards; ?awards type → award; " +
				"most ?awards for each ?actor; ?actor"},
		{"what a role won most of, of which the draft ranks nothing", "Which actor won the most awards?", `Award()`,
			"?thing type → award; ?thing won → ?won; most ?thing for each ?won; ?won"},
		{"what is asked of the oldest", "who directed the oldest film",
			`Film(directed_by="Oldest director").get("director")`, "?film type → film; " +
				"?film director → ?director; ?film date → ?date; least ?date; ?director"},
		{"a list of what does something to a name that the draft lacks", "Which rivers flow into the Orla?",
			`River(in_province=Province().most("number of rivers flowing into"))`,
			"?thing type → river; ?thing flow into → Orla; ?thing"},
		{"the only one, drafted as the most", "which tower is the only one with a bell", `Tower().most("bell")`,
			"?tower type → tower; ?tower bell → ?bell; most ?bell; ?tower"},
		{"the best, where the draft ends with its measure", "what is the largest river in orla",
			`River(name="Largest", state="Orla").get("length")`,
			"?river type → river; ?river state → Orla; ?river size → ?size; most ?size; ?river"},
		{"a count for each, where the draft ranks", "How many towers does each country have?",
			`Country().most("number of towers")`, "?country type → country; ?country towers → ?towers; " +
				"count ?towers for each ?country"},
		{"a count for each, where the draft counts all", "How many towers are there in each country?",
			`Tower(country=Country()).count()`, "?tower type → tower; " +
				"?tower country → ?country; count ?tower for each ?country"},
		{"a count for each, with a condition, of what the draft lacks",
			"How many towers higher than 50 m does each country have?",
			`Tower().where("height", ">", "50 m").count()`, "?tower type → tower; ?tower height → ?height; " +
				"?height > 50 m; ?tower country → ?country; count ?tower for each ?country"},
		{"a mean for each", "What is the average height per country?", `Country().average("height")`,
			"?country type → country; ?country height → ?height; average of ?height for each ?country"},
		{"a mean for each, where the draft takes that of another",
			"What is the average height of the towers in each country?",
			`Tower().average("country")`, "?tower type → tower; ?tower country → ?country; ?tower height → ?height; " +
				"average of ?height for each ?country"},
		{"a sum for every one", "What is the total height of the towers of every country?", `Tower().sum("height")`,
			"?tower type → tower; ?tower height → ?height; ?tower country → ?country; " +
				"sum of ?height for each ?country"},
		{"the greatest of each", "What is the highest height for each country?", `Country().most("height")`,
			"?country type → country; ?country height → ?height; greatest ?height for each ?country"},
		{"what is the best of each has no value", "Which is the highest tower of each country?",
			`Tower(country=Country()).most("height")`, "?tower type → tower; ?country type → country; " +
				"?tower country → ?country; ?tower height → ?height; most ?height; ?tower"},
		{"a mean for each, of what the draft takes for a name",
			"What is the average height of the towers in each country?",
			`Tower(height).average("country")`, "?tower type → tower; ?tower country → ?country; " +
				"?tower height → ?height; average of ?height for each ?country"},
		{"a number for each that the draft takes for a name",
			"Number of towers per country", `Country(towers="number")`,
			"?country type → country; ?country towers → ?towers; count ?towers for each ?country"},
		{"a count for each that the draft takes for a name", "How many towers are in each country?",
			`Tower(country="each country").count()`, "?tower type → tower; ?tower country → ?country; " +
				"count ?tower for each ?country"},
		{"a number by something", "List the number of towers by country.", `Tower(country=Country()).count()`,
			"?tower type → tower; ?tower country → ?country; count ?tower for each ?country"},
		{"a number by somebody makes no groups", "number of films by mara vell", `Film(director="mara vell").count()`,
			"?film type → film; ?film director → mara vell; count ?film"},
		{"a rate makes no groups", "what is the average number of people per square mile", `Thing().average("people")`,
			"?thing people → ?people; average of ?people"},
		{"the most of a quality is no count", "what is the most populous state", `State().most("population")`,
			"?state type → state; ?state population → ?population; most ?population; ?state"},
		{"a claim that the draft does not make", "Did Mara Vell ever direct Per Holm?",
			`Thing("Mara Vell", "Per Holm").exists()`,
			"?thing is Mara Vell; ?thing direct → Per Holm; is there any"},
		{"a claim of one name that the draft does not make", "Is Low Tide available?", `LowTide().exists()`,
			"?low_tide is Low Tide; ?low_tide type → available; is there any"},
		{"a claim of one name in two words", "Is Low Tide in print?", `Film("Low Tide").exists()`,
			"?film is Low Tide; ?film type → in print; is there any"},
		{"a claim of one name that the draft makes", "Is Low Tide available?",
			`Film("Low Tide", available="yes").exists()`,
			"?film is Low Tide; ?film type → available; is there any"},
		{"a claim of one name by a verb", "Did Mara Vell die?", `Person("Mara Vell").exists()`,
			"?person is Mara Vell; is there any"},
		{"a kind that the draft takes for a title", "How many crime books are there?", `Book(title="Crime").count()`,
			"?book type → crime; count ?book"},
		{"a name that is counted stays one", "How many Crime readers are there?", `Reader(title="Crime").count()`,
			"?reader is Crime; count ?reader"},
		{"a claim with one name in the draft", "Is Orla the capital of the Kingdom of Sel?", `City("Orla").exists()`,
			"?thing is Orla; ?thing capital of → Kingdom of Sel; is there any"},
		{"a claim of two that are joined by and", "Did Mara Vell and Per Holm act together in a film?",
			`Person("Mara Vell", "Per Holm").exists()`, "?thing is Mara Vell; ?thing act → Per Holm; is there any"},
		{"a claim that the draft makes", "Did Mara Vell direct Low Tide?",
			`Film("Low Tide", director="Mara Vell").exists()`,
			"?film is Low Tide; ?film director → Mara Vell; is there any"},
		{"a claim over a third thing that the draft makes", "Did Mara Vell direct a film with Per Holm?",
			`Film(director="Mara Vell", cast="Per Holm").exists()`,
			"?film type → film; ?film director → Mara Vell; ?film cast → Per Holm; is there any"},
		{"the kind that most things have", "Which instrument is played by the most people?",
			`Instrument(made_by="most people").get("name")`,
			"?thing type → person; ?thing instrument played → ?instrument_played; " +
				"most ?thing for each ?instrument_played; ?instrument_played"},
		{"… where most things are", "In which continent are the fewest countries?",
			`Country().least("number of countries")`,
			"?thing type → country; ?thing continent → ?continent; least ?thing for each ?continent; ?continent"},
		{"… of what they do", "In which city were the most film composers born?",
			`City().most("population")`, "?thing type → film composer; ?thing city born → ?city_born; " +
				"most ?thing for each ?city_born; ?city_born"},
		{"… of a year", "In which year were the most films released?",
			`Film(released_year).most("number of films released")`,
			"?thing type → film; ?thing year released → ?year_released; most ?thing for each ?year_released; " +
				"?year_released"},
		{"what most things are done by", "Which company builds the most aircraft?",
			`Company(made_aircraft=True)`,
			"?thing type → aircraft; ?thing builds → ?builds; most ?thing for each ?builds; ?builds"},
		{"the same of two, which the draft compares by something else",
			"Did Mara Vell and Per Holm die in the same city?",
			`Person("Mara Vell").where("date of death", "=", Person("Per Holm").get("date of death")).exists()`,
			"?thing is Mara Vell; ?thing die in city → ?die_in_city; ?thing2 is Per Holm; " +
				"?thing2 die in city → ?die_in_city; is there any"},
		{"… which the draft counts", "In which city were the most composers born?",
			`Composer().most_common("city born")`, "?composer type → composer; ?composer city born → ?city_born; " +
				"most ?composer for each ?city_born; ?city_born"},
		{"counts of two things", "Did Mara Vell direct more films than Per Holm?",
			`Film(by="Mara Vell").count() > Film(by="Per Holm").count()`,
			"?film type → film; ?film by → Mara Vell; ?film2 type → film; ?film2 by → Per Holm; " +
				"are there more ?film than ?film2"},
		{"… of which the first is to be less", "Has Mara Vell directed fewer films than Per Holm?",
			`Film(by="Mara Vell").count() < Film(by="Per Holm").count()`,
			"?film type → film; ?film by → Mara Vell; ?film2 type → film; ?film2 by → Per Holm; " +
				"are there more ?film2 than ?film"},
		{"… which are subtracted", "How many more films did Mara Vell direct than Per Holm?",
			`Film(by="Mara Vell").count() - Film(by="Per Holm").count()`,
			"?film type → film; ?film by → Mara Vell; ?film2 type → film; ?film2 by → Per Holm; " +
				"how many more ?film than ?film2"},
		{"… by a function", "What is the difference in films between Mara Vell and Per Holm?",
			`difference(Film(by="Mara Vell").count(), Film(by="Per Holm").count())`,
			"?film type → film; ?film by → Mara Vell; ?film2 type → film; ?film2 by → Per Holm; " +
				"how many more ?film than ?film2"},
		{"… that are to be the same, which nothing compares", "Do Sel and Orla have as many lakes?",
			`Lake(in="Sel").count() == Lake(in="Orla").count()`, ""},
		{"… of which the draft compares others", "Does Sel border more countries than Orla?",
			`Country("Sel").most("borders")`,
			"?country type → country; ?country border → Sel; ?country2 type → country; ?country2 border → Orla; " +
				"are there more ?country than ?country2"},
		{"… of the names themselves", "Has Mara Vell starred in more films than Per Holm?",
			`Actor("Mara Vell").count() > Actor("Per Holm").count()`,
			"?film type → film; ?film starred in → Mara Vell; ?film2 type → film; ?film2 starred in → Per Holm; " +
				"are there more ?film than ?film2"},
		{"… of what two have", "How many more lakes does Sel have than Orla has?",
			`difference("Sel", "Orla", "lakes")`,
			"?thing is Sel; ?thing lakes → ?lakes; ?thing2 is Orla; ?thing2 lakes → ?lakes2; " +
				"how many more ?lakes than ?lakes2"},
		{"… of which the question asks for the greater", "Who directed more films, Mara Vell or Per Holm?",
			`Film(by="Mara Vell").count() > Film(by="Per Holm").count()`, "?thing is Mara Vell or Per Holm; " +
				"?thing directed more films → ?directed_more_films; most ?directed_more_films for each ?thing; ?thing"},
		{"a comparison that the draft does not make", "Is the Sel River longer than the Orla?",
			`Thing("Sel River", "Orla").exists()`,
			"?thing is Sel River; ?thing length → ?length; ?thing2 is Orla; ?thing2 length → ?length2; " +
				"?length > ?length2; is there any"},
		{"a count of what another name has", "How many bridges does the Sel River have?",
			`Bridge(of="official").get("number")`,
			"?thing is Sel River; ?thing bridges → ?bridges; count ?bridges"},
		{"who did something to most things", "Who directed the most films?",
			`Film(directed_by="Person").most("number of films directed")`,
			"?thing type → film; ?thing directed → ?directed; most ?thing for each ?directed; ?directed"},
		{"which of a role did something to most things", "Which writer wrote the most films?",
			`Film().most("number of films written")`,
			"?thing type → film; ?thing wrote → ?wrote; most ?thing for each ?wrote; ?wrote"},
		{"who has a passive relation to a name", "Who was influenced by Mara Vell?",
			`Thing("Mara Vell").get("influenced by")`,
			"?influenced_by influenced by → Mara Vell; ?influenced_by"},
		{"what does something to a name", "What depends on Low Tide?", `Thing("Low Tide").get("depends on")`,
			"?depends_on depends on → Low Tide; ?depends_on"},
		{"what a name does", "What does Low Tide depend on?", `Thing("Low Tide").get("depends on")`,
			"?thing is Low Tide; ?thing depends on → ?depends_on; ?depends_on"},
		{"what several of a kind have", "Which bridges the Sel River has", `Thing("Sel River").get("bridges")`,
			"?thing is Sel River; ?thing bridges → ?bridges; ?bridges"},
		{"a thing that the draft takes for a kind", "How many roots does parsley have?", `Parsley().get("roots")`,
			"?parsley is parsley; ?parsley roots → ?roots; ?roots"},
		{"a kind before a name", "How many prizes did film Low Tide win?", `Film("Low Tide").get("prizes")`,
			"?film is Low Tide; ?film prizes → ?prizes; ?prizes"},
		{"a kind of things for a name", "What is the total budget of the projects for Anna Lind?",
			`Project(anna_lind=True).sum("budget")`, "?project type → project; ?project for → Anna Lind; " +
				"?project budget → ?budget; sum of ?budget"},
		{"a kind of things that a name does something to", "How many lines does City Transit operate?",
			`Line(city_transit=True).count()`,
			"?line type → line; ?line operate → city transit; count ?line"},
		{"whom a name has by a passive relation", "By whom was Mara Vell influenced?",
			`Thing("Mara Vell").get("influenced by")`,
			"?thing is Mara Vell; ?thing influenced by → ?influenced_by; ?influenced_by"},
		{"a claim that compares is none of two names", "Was Low Tide released before Orla?",
			`Film("Low Tide").where("year", "<", Film("Orla").get("year")).exists()`, "?film is Low Tide; " +
				"?film year → ?year; ?film2 is Orla; ?film2 year → ?year2; ?year < ?year2; is there any"},
		{"a verb that the question has otherwise", "Who influenced both Mara Vell and Per Holm?",
			`Person(influenced_by="Mara Vell", influenced_by="Per Holm")`,
			"?person type → person; ?person influenced → Mara Vell; ?person influenced → Per Holm; ?person"},
		{"a verb that the question does not have", "What is the average year of films directed by Mara Vell?",
			`Film(released_by="Mara Vell").average("year")`, "?film type → film; ?film directed by → Mara Vell; " +
				"?film year → ?year; average of ?year"},
		{"a passive verb of the question", "Who was influenced by Mara Vell?", `Person(influenced_by="Mara Vell")`,
			"?person type → person; ?person influenced by → Mara Vell; ?person"},
		{"a noun before by is no verb", "Which genre do most films by Mara Vell have?",
			`Film(made_by="Mara Vell").most_common("genre")`, "?film type → film; ?film made by → Mara Vell; " +
				"?film genre → ?genre; most ?film for each ?genre; ?genre"},
		{"a count of what a name has", "How many bridges does the Sel River have?", `Bridge().count()`,
			"?thing is Sel River; ?thing bridges → ?bridges; count ?bridges"},
		{"when the first was", "When was the first spacecraft launched?", `Spacecraft().least("launch date")`,
			"?spacecraft type → spacecraft; ?spacecraft launch date → ?launch_date; least ?launch_date; ?launch_date"},
		{"the year of the most", "In which year did Mara Vell direct the most films?",
			`Film(director="Mara Vell").most("year directed")`, "?film type → film; ?film director → Mara Vell; " +
				"?film year → ?year_directed; most ?film for each ?year_directed; ?year_directed"},
		{"the youngest was born last", "Who is the youngest player?", `Player().least("date of birth")`,
			"?player type → player; ?player date of birth → ?date_of_birth; most ?date_of_birth; ?player"},
		{"the oldest was born first", "Who is the oldest player?", `Player().most("birth year")`,
			"?player type → player; ?player birth year → ?birth_year; least ?birth_year; ?player"},
		{"the youngest as an age", "Who is the youngest player?", `Player(age="youngest").get("name")`,
			"?player type → player; ?player age → ?age; least ?age; ?player"},
		{"the kind of the best as what is asked of it", "Who is the youngest pilot?",
			`Person(age="youngest").get("pilot")`,
			"?person type → person; ?person age → ?age; least ?age; ?person type → pilot; ?person"},
		{"the things of the kind that is asked for", "Which actors play in musicals?",
			`Actor().get("plays in musicals")`,
			"?actor type → actor; ?actor plays in musicals → ?plays_in_musicals; ?actor"},
		{"and not what the draft calls them", "Which goalkeeper plays for Orla?",
			`Goalkeeper(team="Orla").get("player")`,
			"?goalkeeper type → goalkeeper; ?goalkeeper team → Orla; ?goalkeeper"},
		{"an attribute of the kind stays", "Which club colours does Orla have?", `Club("Orla").get("colours")`,
			"?club is Orla; ?club colours → ?colours; ?colours"},
		{"who is no time", "Who joined after 2010?", `Person(joined=">2010").get("join date")`,
			"?person type → person; ?person joined → ?joined; ?joined > 2010; ?person"},
		{"a mean of all, of what the draft takes for a name", "What is the average ticket price?",
			`Ticket(price).average()`, "?thing ticket price → ?ticket_price; average of ?ticket_price"},
		{"a mean of a kind", "What is the average price of the plays?", `Play(price).average()`,
			"?play type → play; ?play price → ?price; average of ?price"},
		{"a mean of some of a kind", "What is the average price of the electric cars?", `Car(price="average")`,
			"?car type → car; ?car type → electric; ?car price → ?price; average of ?price"},
		{"a mean of some that the draft has is left", "What is the average price of the electric cars?",
			`Car(fuel="electric").average("price")`,
			"?car type → car; ?car fuel → electric; ?car price → ?price; average of ?price"},
		{"a mean in a place, of what the draft takes for a kind", "What is the average salary in Research?",
			`Salary(occupation="Research").average()`,
			"?thing in → Research; ?thing salary → ?salary; average of ?salary"},
		{"a mean of a kind in a place is left", "What is the average salary of the clerks in Research?",
			`Clerk(department="Research").average("salary")`,
			"?clerk type → clerk; ?clerk department → Research; ?clerk salary → ?salary; average of ?salary"},
		{"a total of a kind", "What is the total weight of all crates?", `Crate(weight).sum()`,
			"?crate type → crate; ?crate weight → ?weight; sum of ?weight"},
		{"an adjective before the kind in the place of a name", "Which red wine is the cheapest?",
			`Wine(name="red wine").least("price")`,
			"?wine type → red; ?wine type → wine; ?wine price → ?price; least ?price; ?wine"},
		{"an adjective before the kind that is asked for, and the best of an attribute",
			"Which white wine has the best rating?", `Wine(rating="best").get("white wine")`,
			"?wine type → white; ?wine type → wine; ?wine rating → ?rating; most ?rating; ?wine"},
		{"a number that the question does not have, of what it ranks by", "Which wine has the lowest alcohol?",
			`Wine(alcohol=0).least("alcohol")`,
			"?wine type → wine; ?wine alcohol → ?alcohol; ?wine alcohol → ?alcohol2; least ?alcohol2; ?wine"},
		{"a people before the kind that is asked for", "Which Spanish wines are white?",
			`Wine(type="white").get("Spanish wines")`,
			"?wine in → Spanish; ?wine type → wine; ?wine type → white; ?wine"},
		{"no best of what came after something", "Which languages appeared after Cadence?",
			`Language(appeared_after="Cadence").most_recent()`,
			"?language type → language; ?language appeared → ?appeared; ?other is Cadence; " +
				"?other appeared → ?appeared2; ?appeared > ?appeared2; ?language"},
		{"an adjective for the name that it is of", "How many Spanish dishes are there?",
			`Dish(country="Spain").count()`, "?dish type → dish; ?dish country → Spanish; count ?dish"},
		{"the kind that is counted beside that of the draft", "How many novels are there?", `Book().count()`,
			"?book type → book; ?book type → novel; count ?book"},
		{"a kind in other words", "How many movies are there?", `Film().count()`, "?film type → film; count ?film"},
		{"first by what the question says", "Which order was placed first?", `Order(placed_on="first").get("name")`,
			"?order type → order; ?order placed on → ?date; least ?date; ?order"},
		{"not by the kind", "Which order was the first order?", `Order(order="first").get("name")`,
			"?order type → order; ?order date → ?date; least ?date; ?order"},
		{"a noun before what is counted is none", "How many office workers are there?", `Worker().count()`,
			"?worker type → worker; count ?worker"},
		{"a state before what is counted", "How many open orders are there?", `Order().count()`,
			"?order type → order; ?order type → open; count ?order"},
		{"the state of what is counted", "How many books are available?", `Book().count()`,
			"?book type → book; ?book type → available; count ?book"},
		{"the state of what is asked for", "Which homes are for sale?", `Home().get("homes")`,
			"?home type → home; ?home type → for sale; ?home"},
		{"a state that the draft has", "Which homes are sold?", `Home(status="sold")`,
			"?home type → home; ?home status → sold; ?home"},
		{"who came before another", "Did Mara Vell join before Per Holm?",
			`Person("Mara Vell").where("joined", "before", Person("Per Holm")).exists()`, "?person is Mara Vell; " +
				"?person joined → ?joined; ?person2 is Per Holm; ?person2 joined → ?joined2; ?joined < ?joined2; " +
				"is there any"},
		{"how many did something to what the draft counts", "How many people attended The Low Tide?",
			`Attendance("Low Tide").count()`,
			"?thing is Low Tide; ?thing people attended → ?people_attended; count ?people_attended"},
		{"a comparison of what two have", "Is the daily toll of Low Tide lower than that of Orla?",
			`Thing("Low Tide", "Orla").most_common("daily toll")`,
			"?thing is Low Tide; ?thing daily toll → ?daily_toll; ?thing2 is Orla; " +
				"?thing2 daily toll → ?daily_toll2; ?daily_toll < ?daily_toll2; is there any"},
		{"a comparison of who has more of it", "Does Low Tide have a higher toll than Orla?",
			`Toll("Low Tide").get("toll")`, "?thing is Low Tide; ?thing toll → ?toll; ?thing2 is Orla; " +
				"?thing2 toll → ?toll2; ?toll > ?toll2; is there any"},
		{"a comparison of numbered things", "Does web-01 have more CPU cores than web-02?",
			`CPU_cores(web-01) > CPU_cores(web-02)`,
			"?thing is web-01; ?thing CPU cores → ?cpu_cores; ?thing2 is web-02; ?thing2 CPU cores → ?cpu_cores2; " +
				"are there more ?cpu_cores than ?cpu_cores2"},
		{"a kind of place that the draft takes what is there for", "In which ski area is Low Tide?",
			`Skiarea("Low Tide").get("location")`, "?skiarea is Low Tide; ?skiarea location → ?location; " +
				"?location type → ski area; ?location"},
		{"a kind of place that is the relation", "In which town is Low Tide?", `Town("Low Tide").get("town")`,
			"?town is Low Tide; ?town town → ?town2; ?town2"},
		{"an older thing has the earlier date", "Is Low Tide older than Orla?",
			`Thing("Low Tide").where("year", ">", Thing("Orla").get("year")).exists()`, "?thing is Low Tide; " +
				"?thing year → ?year; ?thing2 is Orla; ?thing2 year → ?year2; ?year < ?year2; is there any"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			plan := query.Decode(c.draft)
			before := kgtext.DescribePlan(plan)
			edits := query.Repair(c.question, plan)
			after := kgtext.DescribePlan(plan)
			if got := strings.Join(after, "; "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if slices.Equal(before, after) != (len(edits) == 0) {
				t.Errorf("%d edits", len(edits))
			}
		})
	}
}

// Whatever a model writes, a plan fits the contract and its printing ends.
func FuzzDecode(f *testing.F) {
	f.Add("How many films did A direct?", `Film(directed_by="A").count()`)
	f.Add("Which came out first, A or B?", `difference(Thing("A").get("x"), Thing("B").get("y"), "days")`)
	f.Add("which is not in 1990", `A(not_(b="c"), d=E(f=[1, 2])).where("x", ">=", B().get("y")).most("number of z")`)
	f.Add("What is the average height of the towers of each country?", `Tower(height).most("number of towers")`)
	f.Add("number of towers by country", `Country(towers="number")`)
	f.Add("how hot is jalapeño", `Jalapeno().get("heat")`)
	f.Add("", "\x00((\"'`")
	f.Fuzz(func(t *testing.T, question, draft string) {
		plan := query.Decode(draft)
		query.Repair(question, plan)
		if len(plan.GetClauses()) == 0 {
			return
		}
		if err := protovalidate.Validate(plan); err != nil {
			t.Errorf("%q: %v\n%s", draft, err, strings.Join(kgtext.DescribePlan(plan), "; "))
		}
	})
}

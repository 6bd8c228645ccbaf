package llm

import "testing"

func TestRefusals(t *testing.T) {
	for _, text := range []string{
		"I'm sorry, but I can't assist with that request.", "I’m sorry, I cannot answer this question.",
		"Sorry, but I can't help you with that.",
		"I am sorry, but as an AI, I cannot provide that.", "I cannot help with that",
		"Unfortunately, I am unable to answer that question.",
		"I can't answer that.", "I won't discuss that topic.", "I'm not able to provide information about individuals.",
		"I must decline to answer.",
		"As an AI language model, I do not have personal opinions.", "I don't know.",
		"I do not have access to real-time data.", "I don't have enough information to answer.",
		"**I cannot assist with that.**", "Lo siento, pero no puedo ayudar con eso.",
		"Je suis désolé, mais je ne peux pas répondre.", "抱歉，我无法回答这个问题。", "Извините, но я не могу ответить.",
	} {
		if !isRefusal(text) {
			t.Errorf("%q should be a refusal", text)
		}
	}
	for _, text := range []string{
		"I Can't Help Myself (Sugar Pie, Honey Bunch)", "I Can't Get No Satisfaction",
		"I Can't Help Falling in Love with You", "I'm Sorry", "Sorry", "I Will Not Bow",
		"I don't know, but my best guess is {Yale}.", "I'm sorry for your loss is a song by X.",
		"I Don't Know How to Love Him is sung by {Yvonne Elliman}", "I, Robot", "Yes", "No.",
		"Unfortunately, the fort was destroyed in 1812.", "I Am a Camera", `{"answers": ["I cannot help with that"]}`,
		"I Won't Back Down", "We Can't Stop", "As an artist, she was known for her murals.",
		"Sorry Seems to Be the Hardest Word", "Robert Stam | employer | New York University",
		"I cannot tell a lie is attributed to George Washington",
	} {
		if isRefusal(text) {
			t.Errorf("%q should not be a refusal", text)
		}
	}
}

func TestUnfenceReturnsTheContentOfTheOnlyFence(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"with chatter around it", "Sure:\n```cypher\nCREATE (a)\nCREATE (b)\n```\nBye", "CREATE (a)\nCREATE (b)"},
		{"not closed", "```\nCREATE (a)", "CREATE (a)"},
		{"two fences are left alone", "```\na\n```\n```\nb\n```", "```\na\n```\n```\nb\n```"},
		{"an empty fence too", "a\n```\n\n```\n", "a\n```\n\n```\n"},
		{"no fence", "{Yale}", "{Yale}"},
		{"marks within a line", "use ```x``` here", "use ```x``` here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := unfence(c.text); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

I'm sorry, but I can't create that. Let's match the question with a merge of ideas.
Return later; set your mind at ease, don't delete it.

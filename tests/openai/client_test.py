"""What the official Python client makes of the door's answers."""

import unittest
import warnings

import openai
from openai.types.chat import ChatCompletion, ChatCompletionChunk

QUESTION = "What institution employed Robert Stam?"
ANSWER = "Robert Stam worked at New York University."
FACT = {"subject": "Robert Stam", "relation": "employer", "object": "New York University"}


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


class Client(unittest.TestCase):
    def setUp(self):
        # By OPENAI_BASE_URL and OPENAI_API_KEY, as programs have it.
        self.client = openai.OpenAI(max_retries=0)
        self.addCleanup(self.client.close)

    def ask(self, *messages, model="triplemesh/pg-akv", **more):
        return self.client.chat.completions.create(model=model, messages=messages or [user(QUESTION)], **more)

    def test_every_method_is_a_model(self):
        ids = [m.id for m in self.client.models.list()]
        for name in ("auto", "ger", "io", "pg-akv"):
            self.assertIn(f"triplemesh/{name}", ids)
        one = self.client.models.retrieve("triplemesh/pg-akv:wikidata")
        self.assertEqual((one.id, one.owned_by), ("triplemesh/pg-akv:wikidata", "triplemesh"))

    def test_an_answer_comes_with_what_it_rests_on(self):
        got = self.ask(temperature=0.3, max_completion_tokens=64, seed=1, user="u")
        message = got.choices[0].message
        self.assertEqual((message.role, message.content, got.choices[0].finish_reason), ("assistant", ANSWER, "stop"))
        citation, triple = message.annotations[0].url_citation, message.annotations[0].triple
        self.assertEqual(message.content[citation.start_index : citation.end_index], "New York University")
        self.assertEqual({k: triple[k] for k in FACT}, FACT)
        run = got.triplemesh["run"]
        self.assertTrue(citation.url.endswith("/#/runs/" + run["id"]), citation.url)
        self.assertEqual((run["grounding"], run["kg"]["name"], run["method"]), ("GROUNDING_GROUNDED", "wikidata", "pg-akv"))
        self.assertGreater(run["confidence"], 0)
        self.assertEqual(len(run["stages"]), 4)
        self.assertEqual(got.usage.total_tokens, got.usage.prompt_tokens + got.usage.completion_tokens)
        self.assertGreater(got.usage.completion_tokens, 0)

    def test_what_comes_is_of_the_shape_that_strict_programs_want(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            got = self.ask()
            ChatCompletion.model_validate_json(got.model_dump_json())
            for chunk in self.ask(stream=True, stream_options={"include_usage": True}):
                ChatCompletionChunk.model_validate_json(chunk.model_dump_json())

    def test_an_answer_is_streamed(self):
        text, stages, last, usage, ids = "", [], None, None, set()
        for chunk in self.ask(stream=True, stream_options={"include_usage": True}):
            ids.add(chunk.id)
            usage = chunk.usage or usage
            event = getattr(chunk, "triplemesh", None) or {}
            if "stageStarted" in event:
                stages.append(event["stageStarted"]["stage"])
            for choice in chunk.choices:
                text += choice.delta.content or ""
                if choice.finish_reason:
                    last = chunk
        self.assertEqual(text, ANSWER)
        self.assertEqual(len(ids), 1)
        self.assertEqual(stages, ["STAGE_PSEUDO_GRAPH", "STAGE_GROUND_GRAPH", "STAGE_VERIFY", "STAGE_ANSWER"])
        self.assertEqual(last.triplemesh["run"]["text"], "Robert Stam worked at New York University.")
        self.assertEqual(last.choices[0].delta.annotations[0]["triple"]["object"], "New York University")
        self.assertGreater(usage.total_tokens, 0)

    def test_the_streaming_helper_follows_it(self):
        with self.client.chat.completions.stream(model="triplemesh/pg-akv", messages=[user(QUESTION)]) as stream:
            deltas = [e.delta for e in stream if e.type == "content.delta"]
            self.assertEqual("".join(deltas), ANSWER)
            self.assertEqual(stream.get_final_completion().choices[0].message.content, ANSWER)

    def test_a_follow_up_is_understood(self):
        got = self.ask(user("Who is Robert Stam?"), assistant("A scholar of film."), user("And where did he work?"))
        run = got.triplemesh["run"]
        self.assertEqual((run["question"], run["standaloneQuestion"]), ("And where did he work?", "Where did Robert Stam work?"))
        self.assertEqual(got.choices[0].message.content, ANSWER)

    def test_options_go_beside_the_request(self):
        options = {"kg": "wikidata@1", "options": {"verification": "VERIFICATION_MODE_ALIGN", "noRecord": True}}
        got = self.ask(extra_body={"triplemesh": options})
        self.assertEqual(got.triplemesh["run"]["kg"], {"name": "wikidata", "snapshot": "1"})

    def test_errors_are_the_clients_own(self):
        with self.assertRaises(openai.NotFoundError) as unknown:
            self.ask(model="gpt-5")
        self.assertEqual((unknown.exception.code, unknown.exception.param), ("model_not_found", "model"))
        with self.assertRaises(openai.BadRequestError) as several:
            self.ask(n=2)
        self.assertEqual((several.exception.param, several.exception.type), ("n", "invalid_request_error"))
        with self.assertRaises(openai.InternalServerError) as down:
            self.ask(user("Which model is broken?"))
        self.assertEqual(down.exception.status_code, 503)

    def test_a_stream_that_fails_raises(self):
        with self.assertRaises(openai.APIError):
            for _ in self.ask(user("Which model is broken?"), stream=True):
                pass


if __name__ == "__main__":
    unittest.main()

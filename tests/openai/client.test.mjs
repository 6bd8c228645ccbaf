// What the official Node client makes of the door's answers.
import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";

const question = "What institution employed Robert Stam?";
const answer = "Robert Stam worked at New York University.";
const model = "triplemesh/pg-akv";

// By OPENAI_BASE_URL and OPENAI_API_KEY, as programs have it.
const client = new OpenAI({ maxRetries: 0 });

const user = (content) => ({ role: "user", content });
const ask = (more = {}) => client.chat.completions.create({ model, messages: [user(question)], ...more });

test("every method is a model", async () => {
  const ids = [];
  for await (const m of client.models.list()) ids.push(m.id);
  for (const name of ["auto", "ger", "io", "pg-akv"]) assert.ok(ids.includes(`triplemesh/${name}`), ids.join());
  const one = await client.models.retrieve("triplemesh/pg-akv:wikidata");
  assert.equal(one.id, "triplemesh/pg-akv:wikidata");
});

test("an answer comes with what it rests on", async () => {
  const got = await ask({ temperature: 0.3, max_tokens: 64 });
  const { message, finish_reason } = got.choices[0];
  assert.deepEqual([message.role, message.content, finish_reason], ["assistant", answer, "stop"]);
  const { type, url_citation: page, triple } = message.annotations[0];
  assert.equal(type, "url_citation");
  assert.equal(message.content.slice(page.start_index, page.end_index), "New York University");
  assert.deepEqual([triple.subject, triple.relation, triple.object], ["Robert Stam", "employer", "New York University"]);
  const { run } = got.triplemesh;
  assert.ok(page.url.endsWith(`/#/runs/${run.id}`), page.url);
  assert.deepEqual([run.grounding, run.kg.name], ["GROUNDING_GROUNDED", "wikidata"]);
  assert.ok(got.usage.total_tokens > 0);
});

test("an answer is streamed", async () => {
  let text = "";
  let last, usage;
  const stages = [];
  for await (const chunk of await ask({ stream: true, stream_options: { include_usage: true } })) {
    usage = chunk.usage ?? usage;
    const stage = chunk.triplemesh?.stageStarted?.stage;
    if (stage) stages.push(stage);
    text += chunk.choices[0]?.delta.content ?? "";
    if (chunk.choices[0]?.finish_reason) last = chunk;
  }
  assert.equal(text, answer);
  assert.deepEqual(stages, ["STAGE_PSEUDO_GRAPH", "STAGE_GROUND_GRAPH", "STAGE_VERIFY", "STAGE_ANSWER"]);
  assert.equal(last.triplemesh.run.grounding, "GROUNDING_GROUNDED");
  assert.equal(last.choices[0].delta.annotations[0].triple.object, "New York University");
  assert.ok(usage.total_tokens > 0);
});

test("the streaming helper follows it", async () => {
  const stream = client.chat.completions.stream({ model, messages: [user(question)] });
  assert.equal(await stream.finalContent(), answer);
});

test("a follow-up is understood", async () => {
  const messages = [user("Who is Robert Stam?"), { role: "assistant", content: "A scholar of film." }, user("And where did he work?")];
  const got = await ask({ messages });
  assert.equal(got.triplemesh.run.standaloneQuestion, "Where did Robert Stam work?");
  assert.equal(got.choices[0].message.content, answer);
});

test("options go beside the request", async () => {
  const got = await ask({ triplemesh: { kg: "wikidata@1", options: { noRecord: true } } });
  assert.deepEqual(got.triplemesh.run.kg, { name: "wikidata", snapshot: "1" });
});

test("errors are the client's own", async () => {
  await assert.rejects(ask({ model: "gpt-5" }), (e) => e instanceof OpenAI.NotFoundError && e.code === "model_not_found" && e.param === "model");
  await assert.rejects(ask({ n: 2 }), (e) => e instanceof OpenAI.BadRequestError && e.param === "n");
  await assert.rejects(ask({ messages: [user("Which model is broken?")] }), (e) => e instanceof OpenAI.InternalServerError && e.status === 503);
});

test("a stream that fails throws", async () => {
  await assert.rejects(async () => {
    for await (const _ of await ask({ messages: [user("Which model is broken?")], stream: true }));
  }, OpenAI.APIError);
});

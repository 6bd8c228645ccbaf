import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, MeshError } from "triplemesh";
import { runMesh } from "./mesh.mjs";

const question = "What institution employed Robert Stam?";
let server;
let mesh;

before(async () => {
  server = await runMesh();
  mesh = new Client({ baseUrl: server.url, kg: "wikidata" });
});
after(() => server.stop());

test("a question is answered with its evidence", async () => {
  const run = await mesh.ask(question);
  assert.equal(run.grounding, "GROUNDING_GROUNDED");
  assert.equal(run.answers[0].answer, "New York University");
  assert.equal(run.answers[0].evidence[0].relation, "employer");
  assert.deepEqual(run.kg, { name: "wikidata", snapshot: "1" });
  const drafted = await mesh.ask(question, { method: "pg-akv" });
  assert.equal((await mesh.run(drafted.id)).pgAkv.edits[0].before.object, "Google");
});

test("options reach the mesh", async () => {
  const run = await mesh.ask(question, { kg: "wikidata@1", method: "ger", topicEntities: ["Robert Stam"] });
  assert.equal(run.method, "ger");
  const abstained = await mesh.ask(question, { options: { abstainBelow: 1 } });
  assert.equal(abstained.grounding, "GROUNDING_ABSTAINED");
});

test("a stream reports each stage and ends with the run", async () => {
  const events = [];
  for await (const event of mesh.askStream(question, { method: "pg-akv" })) {
    events.push(event);
  }
  const chosen = [];
  for await (const event of mesh.askStream(question)) {
    chosen.push(...(event.stageStarted ? [event.stageStarted.stage] : []));
  }
  assert.deepEqual(chosen, ["CHOOSE", "GROUND_GRAPH", "VERIFY", "ANSWER"].map((s) => `STAGE_${s}`));
  const started = events.filter((e) => e.stageStarted).map((e) => e.stageStarted.stage);
  const stages = ["PSEUDO_GRAPH", "GROUND_GRAPH", "VERIFY", "ANSWER"].map((s) => `STAGE_${s}`);
  assert.deepEqual(started, stages);
  const text = events.map((e) => e.answerDelta ?? "").join("");
  assert.equal(text, events.at(-1).run.text);
});

test("a loop that ends early cancels its question, and so does a signal", async () => {
  for await (const event of mesh.askStream(question)) {
    assert.ok(event.stageStarted);
    break;
  }
  await assert.rejects(mesh.ask(question, { signal: AbortSignal.abort() }), { name: "AbortError" });
  assert.ok((await mesh.ask(question)).answers);
});

test("a text is checked claim by claim", async () => {
  const text = "Robert Stam works at Google. Oliver Stone was born in New York City. Robert Stam collects stamps.";
  const check = await mesh.check(text);
  const verdicts = ["VERDICT_CONTRADICTED", "VERDICT_SUPPORTED", "VERDICT_NOT_IN_KG"];
  assert.deepEqual(check.claims.map((c) => c.verdict), verdicts);
  assert.match(check.correctedText, /New York University/);
  let last;
  for await (const event of mesh.checkStream(text)) {
    last = event;
  }
  assert.equal(last.check.claims.length, 3);
});

test("a knowledge graph is searched", async () => {
  const hits = await mesh.search("Robert Stam employer", { limit: 3 });
  assert.equal(hits.length, 3);
  assert.equal(hits[0].triple.object, "New York University");
  assert.ok(hits[0].score >= hits[2].score);
  const ground = await mesh.ground(question, { kg: "wikidata@1" });
  assert.equal(ground.groundGraph.subjects[0].subject, "Robert Stam");
  assert.equal((await mesh.link("robert stam"))[0].entity, "Robert Stam");
  const around = await mesh.neighbours("Oliver Stone", { direction: "DIRECTION_OUT", limit: 2 });
  assert.equal(around.triples.length, 2);
  assert.deepEqual(Object.keys(await mesh.entities(["Robert Stam", "Nobody"])), ["Robert Stam"]);
  assert.ok((await mesh.methods()).some((m) => m.name === "pg-akv"));
});

test("a knowledge graph is loaded, switched and dropped", async () => {
  const phases = [];
  const csv = "title,directed by\nAlien,Ridley Scott\nBrazil,Terry Gilliam\n";
  const columns = { "columns.subject": "title" };
  const onProgress = (p) => phases.push(p.phase);
  const loaded = await mesh.loadKg("films", { name: "films.csv", content: csv }, { ...columns, onProgress });
  assert.equal(loaded.snapshot.triples, "4"); // with each row's kind: film
  assert.ok(phases.length > 0);
  const content = new Blob(["Alien\tyear\t1979\n"]).stream();
  const added = await mesh.loadKg("films", { name: "more.tsv", content }, { mode: "LOAD_MODE_ADD" });
  assert.equal(added.snapshot.triples, "5");
  const names = (await mesh.kgs()).map((s) => `${s.kg.name}@${s.kg.snapshot}`);
  assert.deepEqual(names, ["films@2", "films@1", "wikidata@1"]);
  await assert.rejects(new Client({ baseUrl: server.url }).ask(question), /films, wikidata exist; pass kg/);
  assert.equal((await mesh.rollbackKg("films")).kg.snapshot, "1");
  assert.equal((await mesh.activateKg("films@2")).active, true);
  await mesh.dropKg("films@1").catch((error) => assert.equal(error.code, "FAILED_PRECONDITION"));
  await mesh.dropKg("films");
  const bad = { name: "bad.tsv", content: "no triple\n" };
  await assert.rejects(mesh.loadKg("films", bad, { strict: true }), (error) => {
    return error instanceof MeshError && /bad.tsv/.test(error.message);
  });
});

test("runs are listed page by page, and answers are marked", async () => {
  const asked = [];
  for (let i = 0; i < 3; i++) {
    asked.unshift((await mesh.ask(question)).id);
  }
  const listed = [];
  for await (const run of mesh.runs({ pageSize: 1 })) {
    listed.push(run.id);
    if (listed.length === 3) {
      break;
    }
  }
  assert.deepEqual(listed, asked);
  const mark = { answer: { answer: "New York University" }, judgement: "JUDGEMENT_RIGHT" };
  const [given] = await mesh.createFeedback(asked[0], [mark]);
  const marks = [];
  for await (const feedback of mesh.feedback({ runId: asked[0] })) {
    marks.push(feedback.id);
  }
  assert.deepEqual(marks, [given.id]);
  await mesh.deleteFeedback(given.id);
  assert.equal((await mesh.feedback({ runId: asked[0] }).next()).done, true);
});

test("errors are typed", async () => {
  await assert.rejects(mesh.ask(""), (error) => {
    assert.ok(error instanceof MeshError);
    assert.deepEqual([error.status, error.code, error.reason], [400, "INVALID_ARGUMENT", "INVALID_REQUEST"]);
    assert.equal(error.violations[0].field, "question");
    assert.match(error.requestId, /^[A-Z0-9]+$/);
    return true;
  });
  await assert.rejects(mesh.askStream(question, { kg: "nowhere" }).next(), { code: "NOT_FOUND", status: 404 });
  await assert.rejects(mesh.ask(question, { kg: "wikidata@x" }), /NAME@NUMBER/);
});

test("tokens are sent", async () => {
  const seen = [];
  const record = (input, init) => {
    seen.push(init.headers.authorization);
    return fetch(input, init);
  };
  await new Client({ baseUrl: server.url, token: "secret", fetch: record }).methods();
  assert.deepEqual(seen, ["Bearer secret"]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { readFileSync } from "node:fs";
import { Client } from "triplemesh";
import { serve } from "./mesh.mjs";

function problem(response, status, fields) {
  response.writeHead(status, { "content-type": "application/problem+json" });
  response.end(JSON.stringify({ type: "about:blank", status, detail: "too busy; ask later", ...fields }));
}

function answer(response) {
  response.writeHead(200, { "content-type": "application/json" });
  response.end('{"run": {"text": "answered"}}');
}

async function withServer(handle, check, options = {}) {
  const server = await serve(handle);
  try {
    await check(new Client({ baseUrl: server.url, kg: "kg", backoff: 1, ...options }), server);
  } finally {
    await server.stop();
  }
}

test("an unavailable mesh is called again", () =>
  withServer(
    (_, response, n) => (n < 3 ? problem(response, 503, { code: "UNAVAILABLE" }) : answer(response)),
    async (client, server) => {
      assert.equal((await client.ask("?")).text, "answered");
      assert.equal(server.count(), 3);
    },
  ));

test("a lost connection is retried", () =>
  withServer(
    (request, response, n) => (n < 2 ? request.socket.destroy() : answer(response)),
    async (client) => assert.equal((await client.ask("?")).text, "answered"),
  ));

test("shed load is retried only when the mesh says when, and soon", async () => {
  for (const [retryAfter, calls] of [[undefined, 1], [0.001, 4], [3600, 1]]) {
    await withServer(
      (_, response) => problem(response, 429, { code: "RESOURCE_EXHAUSTED", reason: "TOO_MANY_REQUESTS", retryAfter }),
      async (client, server) => {
        const failure = { code: "RESOURCE_EXHAUSTED", reason: "TOO_MANY_REQUESTS", advice: "ask later", retryAfter };
        await assert.rejects(client.ask("?"), failure);
        assert.equal(server.count(), calls);
      },
    );
  }
});

test("rollbacks and loads are not retried", () =>
  withServer(
    (_, response) => problem(response, 503, { code: "UNAVAILABLE" }),
    async (client, server) => {
      await assert.rejects(client.rollbackKg("kg"), { code: "UNAVAILABLE" });
      await assert.rejects(client.loadKg("kg", { name: "a.tsv", content: "a\tb\tc" }), { code: "UNAVAILABLE" });
      assert.equal(server.count(), 2);
    },
  ));

test("an error after a stream started is thrown and not retried", () =>
  withServer(
    (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(': heartbeat\n\nevent: answerDelta\ndata: {"answerDelta": "an"}\n\n');
      response.write("event: error\n");
      response.end('data: {"code": "UNAVAILABLE", "detail": "model lost", "reason": "MODEL_UNAVAILABLE"}\n\n');
    },
    async (client, server) => {
      const stream = client.askStream("?");
      assert.deepEqual((await stream.next()).value, { answerDelta: "an" });
      await assert.rejects(stream.next(), { code: "UNAVAILABLE", reason: "MODEL_UNAVAILABLE" });
      assert.equal(server.count(), 1);
    },
  ));

test("responses of a proxy become errors too", () =>
  withServer(
    (_, response) => {
      response.writeHead(404, { "content-type": "text/html" });
      response.end("<h1>nothing here</h1>");
    },
    (client) => assert.rejects(client.ask("?"), { name: "MeshError", code: "NOT_FOUND", reason: "" }),
  ));

test("no server says what to do", async () => {
  const client = new Client({ baseUrl: "http://127.0.0.1:1", kg: "kg", attempts: 1 });
  await assert.rejects(client.ask("?"), { code: "UNAVAILABLE", status: 0, advice: /triplemesh up/ });
});

test("an abort ends the wait for a retry", () =>
  withServer(
    (_, response) => problem(response, 503, { code: "UNAVAILABLE", retryAfter: 20 }),
    async (client) => {
      const stop = new AbortController();
      const failed = assert.rejects(client.ask("?", { signal: stop.signal }), { name: "AbortError" });
      stop.abort();
      await failed;
    },
  ));

test("a token is not sent in plaintext to another machine", () => {
  assert.throws(() => new Client({ baseUrl: "http://mesh.example.org", token: "t" }), /insecureToken/);
  new Client({ baseUrl: "http://mesh.example.org", token: "t", insecureToken: true });
  new Client({ baseUrl: "https://mesh.example.org", token: "t" });
  new Client({ baseUrl: "http://localhost:9080", token: "t" });
});

test("the version is that of the release", () => {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  const versions = readFileSync(new URL("../../../versions.yaml", import.meta.url), "utf8");
  assert.ok(versions.includes(`version: v${version}\n`));
});

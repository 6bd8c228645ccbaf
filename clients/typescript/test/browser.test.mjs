// The client in Chromium: CHROMIUM names it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { runMesh } from "./mesh.mjs";

const root = new URL("..", import.meta.url);
const imports = {
  triplemesh: "/dist/index.js",
  "eventsource-parser": "/node_modules/eventsource-parser/dist/index.js",
  "eventsource-parser/stream": "/node_modules/eventsource-parser/dist/stream.js",
};

/** The page asks a mesh, and posts what it got. */
const page = (url) => `<!doctype html><script type="importmap">${JSON.stringify({ imports })}</script>
<script type="module">
import { Client, MeshError } from "triplemesh";
const got = {};
try {
  const mesh = new Client({ baseUrl: ${JSON.stringify(url)} });
  for await (const event of mesh.askStream("What institution employed Robert Stam?")) {
    got.stages = (got.stages ?? 0) + (event.stageStarted ? 1 : 0);
    got.answer = event.run?.answers[0].answer;
  }
  got.triples = (await mesh.loadKg("films", { name: "films.tsv", content: "Alien\\tyear\\t1979\\n" })).snapshot.triples;
  await mesh.ask("", { kg: "films" });
} catch (error) {
  got.error = error instanceof MeshError ? error.reason : String(error);
}
await fetch("/result", { method: "POST", body: JSON.stringify(got) });
</script>`;

test("a page of an allowed origin asks, streams and loads", async () => {
  let url = "";
  const pages = createServer((request, response) => {
    if (request.url === "/") {
      response.setHeader("content-type", "text/html");
      response.end(page(url));
    } else if (request.url === "/result") {
      let text = "";
      request.on("data", (chunk) => (text += chunk));
      request.on("end", () => {
        response.end();
        pages.emit("result", JSON.parse(text));
      });
    } else {
      try {
        const text = readFileSync(new URL(`.${request.url}`, root));
        response.setHeader("content-type", "text/javascript");
        response.end(text);
      } catch {
        response.writeHead(404).end();
      }
    }
  });
  pages.listen(0, "127.0.0.1");
  await once(pages, "listening");
  const origin = `http://127.0.0.1:${pages.address().port}`;
  const mesh = await runMesh("--set", `orchestrator.http.allowed_origins=${origin}`);
  url = mesh.url;
  const profile = mkdtempSync(join(tmpdir(), "triplemesh-chromium-"));
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", `--user-data-dir=${profile}`, origin];
  const chromium = spawn(process.env.CHROMIUM || "/usr/bin/chromium", flags, { stdio: "ignore" });
  const ended = once(chromium, "exit");
  try {
    const failed = ended.then(() => assert.fail("Chromium ended before the page did"));
    failed.catch(() => {});
    const [got] = await Promise.race([once(pages, "result"), failed]);
    assert.deepEqual(got, { stages: 4, answer: "New York University", triples: "1", error: "INVALID_REQUEST" });
  } finally {
    chromium.kill();
    await ended;
    await mesh.stop();
    pages.closeAllConnections();
    pages.close();
    rmSync(profile, { recursive: true, force: true });
  }
});

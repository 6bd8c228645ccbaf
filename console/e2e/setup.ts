import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startMesh, triplemesh } from "./mesh";
import { published } from "./published";

/** Starts the mesh that all tests share, with an evaluation of it published. */
export default async function setup() {
  const data = await mkdtemp(join(tmpdir(), "triplemesh-console-"));
  const mesh = await startMesh({
    data,
    nth: 200,
    latency: "60ms",
    set: ["orchestrator.http.trace_url=https://traces.example.org/trace/{trace_id}"],
  });
  process.env.MESH_HTTP = mesh.http;
  process.env.MESH_GRPC = mesh.grpc;
  await publish(data, mesh.grpc);
  return async () => {
    await mesh.stop();
    await rm(data, { recursive: true, force: true });
  };
}

async function publish(data: string, server: string) {
  const questions = join(data, "questions.jsonl");
  const results = join(data, "results");
  const lines = published.questions.map((question, n) =>
    JSON.stringify({ id: `q${n}`, ...question }),
  );
  await writeFile(questions, `${lines.join("\n")}\n`);
  await triplemesh(
    "--data",
    data,
    "eval",
    "--server",
    server,
    "--questions",
    questions,
    "--kg",
    "wikidata",
    "--method",
    "io,pg-akv",
    "--out",
    results,
  );
  await triplemesh(
    "--data",
    data,
    "eval",
    "report",
    results,
    "--publish",
    published.name,
    "--title",
    published.title,
  );
}

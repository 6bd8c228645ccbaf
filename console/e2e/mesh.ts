import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The programs under test, which `make console-test` builds. */
const bin = process.env.TRIPLEMESH_BIN || `${root}bin`;

/** What the model says in the console's tests, beside what it always does. */
const script = fileURLToPath(new URL("script.yaml", import.meta.url));

/** A mesh that runs: the real one, with a model that answers by script. */
export type Mesh = {
  /** Where the console is: "http://127.0.0.1:40124". */
  http: string;
  /** Where gRPC is: "127.0.0.1:40123". */
  grpc: string;
  stop: () => Promise<void>;
};

/** How to run one. */
export type MeshOptions = {
  /** Its folder of knowledge graphs, runs and reports. */
  data: string;
  /** One in so many of the bundled facts is loaded. */
  nth: number;
  /** How long the model takes for an answer: "150ms". */
  latency?: string;
  /** Settings, KEY=VALUE. */
  set?: string[];
};

/** Starts a mesh and waits until it serves. */
export async function startMesh({ data, nth, latency, set = [] }: MeshOptions): Promise<Mesh> {
  const args = ["--http", "127.0.0.1:0", "--data", data, "--nth", `${nth}`, "--script", script];
  if (latency) {
    args.push("--latency", latency);
  }
  args.push("--set", "retriever.ranker=off"); // or it would answer for the scripted model
  for (const setting of set) {
    args.push("--set", setting);
  }
  // It ends when its standard input does: with these tests, however they end.
  const mesh = spawn(`${bin}/scripted`, args, { cwd: root, stdio: ["pipe", "pipe", "inherit"] });
  const line = await Promise.race([firstLine(mesh), ended(mesh)]);
  if (line === undefined) {
    throw new Error(`the mesh ended with code ${mesh.exitCode} before it served`);
  }
  const { http, grpc } = JSON.parse(line) as { http: string; grpc: string };
  return {
    http: http.startsWith("http") ? http : `http://${http}`,
    grpc,
    stop: async () => {
      const end = ended(mesh);
      mesh.stdin?.end();
      await end;
    },
  };
}

/** Runs the command line, and returns what it prints. */
export async function triplemesh(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(`${bin}/triplemesh`, args, { cwd: root });
  return stdout;
}

async function firstLine(mesh: ChildProcess): Promise<string | undefined> {
  if (!mesh.stdout) {
    return undefined;
  }
  for await (const line of createInterface(mesh.stdout)) {
    return line;
  }
  return undefined;
}

function ended(mesh: ChildProcess): Promise<undefined> {
  return new Promise((resolve, reject) => {
    mesh.once("error", reject);
    mesh.once("exit", () => resolve(undefined));
  });
}

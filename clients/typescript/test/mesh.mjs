// A mesh with a scripted model (tests/scripted of this repository), and servers that fail as told.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

/** Runs a scripted mesh: SCRIPTED names the program. */
export async function runMesh(...args) {
  const program = process.env.SCRIPTED;
  if (!program) {
    throw new Error("SCRIPTED is not set; run make clients-test");
  }
  const mesh = spawn(program, ["--nth", "1000", ...args], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: mesh.stdout });
  const ended = once(mesh, "exit").then(() => {
    throw new Error("the mesh did not start; its log is above");
  });
  const [line] = await Promise.race([once(lines, "line"), ended]);
  ended.catch(() => {});
  return {
    url: `http://${JSON.parse(line).http}`,
    async stop() {
      mesh.stdin.end();
      await once(mesh, "exit");
    },
  };
}

/** Serves requests by a function (request, response, number of the request). */
export async function serve(handle) {
  let count = 0;
  const server = createServer((request, response) => {
    request.resume();
    handle(request, response, ++count);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    count: () => count,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

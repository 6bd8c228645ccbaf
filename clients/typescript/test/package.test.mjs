import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { runMesh } from "./mesh.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
let directory;
let packed;

before(() => {
  directory = mkdtempSync(join(tmpdir(), "triplemesh-npm-"));
  const out = execFileSync("npm", ["pack", "--json", "--pack-destination", directory], { cwd: root, encoding: "utf8" });
  [packed] = JSON.parse(out);
});
after(() => rmSync(directory, { recursive: true }));

test("the package holds the build, the licence and the README", () => {
  const modules = ["client", "errors", "index", "schema"].flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.js`]);
  const names = packed.files.map((file) => file.path).sort();
  assert.deepEqual(names, ["LICENSE", "README.md", ...modules, "package.json"]);
});

test("the package installs outside the checkout, is typed, and asks", async () => {
  writeFileSync(join(directory, "package.json"), '{"type": "module", "private": true}');
  const run = (file, ...args) => execFileSync(file, args, { cwd: directory, encoding: "utf8" });
  run("npm", "install", "--no-audit", "--no-fund", join(directory, packed.filename));
  writeFileSync(
    join(directory, "ask.ts"),
    `import { Client } from "triplemesh";
const run = await new Client({ baseUrl: process.argv[2] ?? "" }).ask("What institution employed Robert Stam?");
const first: string | undefined = run.answers?.[0]?.answer;
console.log(first);
`,
  );
  const types = ["--types", "node", "--typeRoots", join(root, "node_modules/@types")];
  const target = ["--strict", "--target", "es2022", "--module", "nodenext"];
  run(join(root, "node_modules/.bin/tsc"), ...target, ...types, "ask.ts");
  const mesh = await runMesh();
  try {
    assert.equal(run(process.execPath, "ask.js", mesh.url), "New York University\n");
  } finally {
    await mesh.stop();
  }
  assert.match(readFileSync(join(directory, "node_modules/triplemesh/LICENSE"), "utf8"), /Apache License/);
});

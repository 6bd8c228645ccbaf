import { describe, expect, test } from "vitest";
import { canAsk, type MeshFacts, readKgs } from "./useMesh";

const mesh: MeshFacts = {
  methods: [{ name: "pg-akv", needsKg: true }, { name: "io" }],
  kgs: [],
  traceUrl: undefined,
  error: undefined,
  known: true,
  kgsKnown: false,
};

const several = (...kgs: string[]): MeshFacts => ({ ...mesh, kgs, kgsKnown: true });

describe("canAsk", () => {
  test.each([
    ["a method that reads a graph waits for their names", mesh, [], ["pg-akv"], false],
    ["it does not where one is chosen", mesh, ["films"], ["pg-akv"], true],
    ["a method that reads none does not wait", mesh, [], ["io"], true],
    ["of two methods both count", mesh, [], ["io", "pg-akv"], false],
    ["graphs that are known let it ask", { ...mesh, kgsKnown: true }, [], ["pg-akv"], true],
    ["the only graph needs no choice", several("films"), [], ["pg-akv"], true],
    ["of several one must be chosen", several("films", "wikidata"), [], ["pg-akv"], false],
    ["not for a method that reads none", several("films", "wikidata"), [], ["io"], true],
    ["methods are waited for", { ...mesh, known: false }, ["films"], ["io"], false],
    ["a method that nobody knows waits for graphs", mesh, [], ["new"], false],
  ] satisfies [string, MeshFacts, string[], string[], boolean][])(
    "%s",
    (_, facts, kgs, methods, can) => {
      expect(canAsk(facts, kgs, methods)).toBe(can);
    },
  );
});

test.each([
  ["the only graph", ["films"], [], ["films"]],
  ["what is chosen", ["films"], ["own@2"], ["own@2"]],
  ["none of several", ["films", "wikidata"], [], []],
])("a question reads %s", (_, kgs, chosen, read) => {
  expect(readKgs({ kgs }, chosen)).toEqual(read);
});

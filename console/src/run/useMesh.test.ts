import { describe, expect, test } from "vitest";
import { canAsk, type MeshFacts } from "./useMesh";

const mesh: MeshFacts = {
  methods: [{ name: "pg-akv", needsKg: true }, { name: "io" }],
  kgs: [],
  traceUrl: undefined,
  error: undefined,
  known: true,
  kgsKnown: false,
};

describe("canAsk", () => {
  test.each([
    ["a method that reads a graph waits for their names", mesh, [], ["pg-akv"], false],
    ["it does not where one is chosen", mesh, ["films"], ["pg-akv"], true],
    ["a method that reads none does not wait", mesh, [], ["io"], true],
    ["of two methods both count", mesh, [], ["io", "pg-akv"], false],
    ["graphs that are known let it ask", { ...mesh, kgsKnown: true }, [], ["pg-akv"], true],
    ["methods are waited for", { ...mesh, known: false }, ["films"], ["io"], false],
    ["a method that nobody knows waits for graphs", mesh, [], ["new"], false],
  ] satisfies [string, MeshFacts, string[], string[], boolean][])(
    "%s",
    (_, facts, kgs, methods, can) => {
      expect(canAsk(facts, kgs, methods)).toBe(can);
    },
  );
});

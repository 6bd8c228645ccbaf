import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { turnsOf } from "./conversation";
import { type AskForm, blank, formOf, queryOf, requestOf } from "./form";

const form = (part: Partial<AskForm>): AskForm => ({ ...blank, ...part });

describe("requestOf", () => {
  it("leaves to the mesh what is not filled in", () => {
    expect(requestOf(form({ question: " who? " }))).toEqual({ question: "who?", method: "auto" });
  });

  it("puts every field where the contract has it", () => {
    const request = requestOf(
      form({
        question: "who?",
        kgs: ["wikidata@3", "own"],
        until: "STAGE_VERIFY",
        verification: "VERIFICATION_MODE_EDITS",
        preset: "PRESET_PAPER",
        minConfidence: "0.7",
        abstainBelow: "0",
        at: "2005",
        maxCalls: "4",
        maxTokens: "9000",
        maxCost: "0.5",
        topics: "Paris\n\n Lyon ",
      }),
    );
    expect(request).toEqual({
      question: "who?",
      method: "auto",
      kg: { name: "wikidata", snapshot: "3" },
      otherKgs: [{ name: "own" }],
      topicEntities: ["Paris", "Lyon"],
      limits: { budget: { maxCalls: 4, maxTokens: "9000", maxCostUsd: 0.5 } },
      options: {
        grounding: { preset: "PRESET_PAPER", minConfidence: 0.7, filter: { at: "2005" } },
        verification: "VERIFICATION_MODE_EDITS",
        until: "STAGE_VERIFY",
        abstainBelow: 0,
      },
    });
  });

  it("gives no knowledge graph to a method that reads none", () => {
    const request = requestOf(form({ question: "who?", kgs: ["wikidata"] }), {
      method: { name: "io" },
    });
    expect(request.kg).toBeUndefined();
  });

  it("carries what was said before", () => {
    const history = turnsOf([
      { question: "Who?", text: "Marie Curie." },
      { question: "no answer yet" },
    ]);
    expect(requestOf(form({ question: "When?" }), { history }).history).toEqual([
      { role: "ROLE_USER", text: "Who?" },
      { role: "ROLE_ASSISTANT", text: "Marie Curie." },
    ]);
  });
});

it("keeps the newest turns of a long conversation", () => {
  const turns = turnsOf(
    Array.from({ length: 40 }, (_, i) => ({ question: `q${i}`, text: `a${i}` })),
  );
  expect(turns).toHaveLength(64);
  expect(turns.at(-1)?.text).toBe("a39");
});

it("reads a form back off its address", () => {
  const text = fc.string({ unit: "grapheme" });
  const kg = fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}(@[1-9])?$/);
  const forms = fc.record({
    ...Object.fromEntries(Object.keys(blank).map((field) => [field, text])),
    // An empty method is the default one.
    method: text.filter((name) => name !== ""),
    kgs: fc.uniqueArray(kg),
  });
  fc.assert(
    fc.property(forms, (any) => {
      const known = any as unknown as AskForm;
      expect(formOf(new URLSearchParams(queryOf(known)))).toEqual(known);
    }),
  );
});

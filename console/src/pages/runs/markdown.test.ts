import { expect, test } from "vitest";
import type { Run } from "../../api/messages";
import { markdownOf, plain } from "./markdown";

const run: Run = {
  id: "01J",
  question: "What institution employed Robert Stam?",
  method: "pg-akv",
  kg: { name: "wikidata", snapshot: "3" },
  answers: [
    {
      answer: "New York University",
      evidence: [{ subject: "Robert Stam", relation: "employer", object: "New York University" }],
    },
  ],
  text: "He was employed by New York University.",
  grounding: "GROUNDING_GROUNDED",
  groundingReason: "one triple names it",
  confidence: 0.834,
  pgAkv: {
    edits: [
      {
        kind: "EDIT_KIND_REPLACE",
        before: { subject: "Robert Stam", relation: "employed at", object: "Google" },
        after: { subject: "Robert Stam", relation: "employer", object: "New York University" },
      },
    ],
  },
  stages: [{ stage: "STAGE_GROUND_GRAPH", duration: "0.020s", warnings: [{ message: "late" }] }],
  usage: { calls: 2, promptTokens: "10", completionTokens: "5" },
  duration: "1.5s",
};

test("a run is told from its question to its stages", () => {
  expect(markdownOf(run)).toBe(`# What institution employed Robert Stam?

- Answers: **New York University**
- Rests on: grounded: one triple names it
- Confidence: 83 %
- Method: pg\\-akv
- Knowledge graph: wikidata\\@3
- Took: 1.5 s, 2 model calls, 15 tokens
- Run: 01J

He was employed by New York University\\.

## Evidence

- Robert Stam — employer — New York University

## From the model's draft to the fixed graph

- replace: Robert Stam — employed at — Google → Robert Stam — employer — New York University

## Stages

- ground graph: 20 ms; late
`);
});

test("ids of answers and provenance of evidence are told", () => {
  const text = markdownOf({
    question: "q",
    answers: [
      {
        answer: "Yale",
        id: "Q49112",
        evidence: [{ subject: "a", relation: "r", object: "Yale", provenance: "facts.csv:12" }],
      },
      { answer: "Oxford", id: "Oxford" },
    ],
  });
  expect(text).toContain("- Answers: **Yale** (Q49112), **Oxford**\n");
  expect(text).toContain("- a — r — Yale, from facts\\.csv\\:12\n");
});

test("candidates have their verdicts and what became of them", () => {
  const text = markdownOf({
    question: "q",
    ger: {
      candidates: [{ answer: "Yale", paths: [{}, {}] }, { answer: "Oxford" }],
      answerVerdicts: [
        { answer: "Yale", correct: true, probability: 0.9 },
        { answer: "Oxford", unknown: true },
      ],
      reflections: [{ answer: "Yale", decision: "DECISION_KEEP" }],
    },
  });
  expect(text).toContain("- Yale (2 paths, judged right, probability 90 %, keep)");
  expect(text).toContain("- Oxford (0 paths)");
});

test.each([
  ["a script", "<script>alert(1)</script>", "\\<script\\>alert\\(1\\)\\</script\\>"],
  ["a picture", "![x](http://e.x)", "\\!\\[x\\]\\(http\\://e\\.x\\)"],
  ["a heading on a line of its own", "a\n# b", "a \\# b"],
  ["a bare address", "www.example.org", "www\\.example\\.org"],
  ["an entity", "&lt;", "\\&lt;"],
  ["right to left", "لندن", "لندن"],
])("%s is text", (_, text, want) => {
  expect(plain(text)).toBe(want);
});

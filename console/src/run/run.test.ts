import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pieces } from "./answer";
import { candidateRows } from "./candidates";
import { traceLink } from "./trace";
import { activeKgs } from "./useMesh";
import { votesOf } from "./votes";

describe("pieces", () => {
  it.each<[string, string, string[], [string, boolean][]]>([
    ["a text without answers is plain", "in Paris", [], [["in Paris", false]]],
    ["no text is nothing", "", ["Paris"], []],
    [
      "the names of answers are marked wherever they stand",
      "Paris, or Paris.",
      ["Paris"],
      [
        ["Paris", true],
        [", or ", false],
        ["Paris", true],
        [".", false],
      ],
    ],
    [
      "the longer of two names is taken",
      "New York City",
      ["New York", "New York City"],
      [["New York City", true]],
    ],
    ["a part of a word is no name", "Parisian", ["Paris"], [["Parisian", false]]],
    [
      "signs in a name are taken as they are",
      "is C++ (1985)",
      ["C++ (1985)"],
      [
        ["is ", false],
        ["C++ (1985)", true],
      ],
    ],
    ["an answer without a name marks nothing", "a", [""], [["a", false]]],
  ])("%s", (_, text, answers, expected) => {
    expect(pieces(text, answers).map((piece) => [piece.text, piece.answer])).toEqual(expected);
  });

  it("loses nothing", () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string()), (text, answers) => {
        expect(
          pieces(text, answers)
            .map((piece) => piece.text)
            .join(""),
        ).toBe(text);
      }),
    );
  });
});

describe("candidateRows", () => {
  const graphs = {
    candidates: [{ answer: "Yale" }, { answer: "New York" }, { answer: "Harvard" }],
    answerVerdicts: [
      { answer: "Yale", correct: true, probability: 0.9 },
      { answer: "New York", probability: 0.1 },
      { answer: "Harvard", unknown: true },
    ],
    reflections: [
      { answer: "Yale", decision: "DECISION_KEEP" as const },
      { answer: "Tisch", decision: "DECISION_ADD" as const },
    ],
  };

  it("has the ids of candidates, and of what reflection added by its paths", () => {
    const rows = candidateRows({
      candidates: [{ answer: "Yale", answerId: "Q49112" }, { answer: "1987" }],
      reflections: [
        {
          answer: "Tisch",
          decision: "DECISION_ADD",
          paths: [{ entities: ["Stone", "Tisch"], entityIds: ["Q179497", "Q7808980"] }],
        },
      ],
    });
    expect(rows.map(({ answer, id }) => [answer, id])).toEqual([
      ["Yale", "Q49112"],
      ["1987", undefined],
      ["Tisch", "Q7808980"],
    ]);
  });

  it("joins verdicts and reflections to candidates, and adds what reflection added", () => {
    expect(candidateRows(graphs)).toEqual([
      { answer: "Yale", paths: [], verdict: "right", probability: 0.9, decision: "DECISION_KEEP" },
      { answer: "New York", paths: [], verdict: "wrong", probability: 0.1 },
      { answer: "Harvard", paths: [], verdict: "unknown" },
      { answer: "Tisch", paths: [], decision: "DECISION_ADD" },
    ]);
  });

  it("says nothing of what nobody has judged", () => {
    expect(candidateRows({ candidates: [{ answer: "Yale" }] })).toEqual([
      { answer: "Yale", paths: [] },
    ]);
  });
});

it("counts a sample's vote for an answer once", () => {
  const samples = [
    { answers: ["Paris", "Paris"] },
    { answers: ["Lyon"] },
    { answers: ["Lyon", "Paris"] },
    { answers: ["Lyon"] },
  ];
  expect(votesOf({ samples })).toEqual([
    { answer: "Lyon", votes: 3 },
    { answer: "Paris", votes: 2 },
  ]);
});

it.each([
  ["a place of the web", "https://traces/{trace_id}/x", "https://traces/abc/x"],
  ["a script", "javascript:alert('{trace_id}')", undefined],
  ["nothing", "", undefined],
])("links a trace to %s", (_, template, link) => {
  expect(traceLink(template, "abc")).toBe(link);
});

it("names knowledge graphs that questions can read, each once", () => {
  expect(
    activeKgs([
      { kg: { name: "b", snapshot: "2" }, active: true },
      { kg: { name: "b", snapshot: "1" } },
      { kg: { name: "a", snapshot: "1" }, active: true },
      { kg: { name: "c", snapshot: "1" } },
    ]),
  ).toEqual(["b", "a"]);
});

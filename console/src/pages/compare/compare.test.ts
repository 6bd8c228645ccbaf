import { describe, expect, it } from "vitest";
import type { Run } from "../../api/messages";
import { compare, shared } from "./compare";

const born = { subject: "Tyler", relation: "place of birth", object: "New York City" };
const plays = { subject: "Tyler", relation: "instrument", object: "harmonica" };
const left: Run = {
  answers: [{ answer: "New York  City", evidence: [born, born] }, { answer: "Yonkers" }],
  duration: "2s",
  usage: {
    calls: 2,
    cachedCalls: 1,
    promptTokens: "100",
    completionTokens: "20",
    cachedPromptTokens: "5",
  },
};
const right: Run = {
  answers: [{ answer: "new york city", evidence: [born, plays] }],
  duration: "3s",
  usage: { calls: 5, promptTokens: "400", costUsd: 0.1 },
};

it("finds the same answer in other capitals and spaces", () => {
  expect(compare(left, right).answers).toEqual({
    both: ["New York  City"],
    left: ["Yonkers"],
    right: [],
  });
});

it("tells evidence apart by what it says, each once", () => {
  expect(compare(left, right).evidence).toEqual({ both: [born], left: [], right: [plays] });
});

it("counts what a cached call would cost the next time", () => {
  expect(compare(left, right).figures).toEqual([
    { name: "time", left: 2000, right: 3000 },
    { name: "calls", left: 3, right: 5 },
    { name: "tokens", left: 125, right: 400 },
    { name: "cost", left: 0, right: 0.1 },
  ]);
});

describe("shared", () => {
  it.each([
    ["nothing shares nothing", [], [], { both: [], left: [], right: [] }],
    ["all is shared by the same", ["a"], ["a"], { both: ["a"], left: [], right: [] }],
    ["nothing is shared by others", ["a"], ["b"], { both: [], left: ["a"], right: ["b"] }],
  ])("%s", (_, a, b, expected) => {
    expect(shared<string>(a, b, String)).toEqual(expected);
  });
});

import { expect, test } from "vitest";
import type { Feedback } from "../api/messages";
import { findFeedback, markOf, missingAnswers, withStored } from "./feedback";

const right: Feedback = {
  id: "r-1",
  mark: { answer: { answer: "Paris", id: "Q90" }, judgement: "JUDGEMENT_RIGHT" },
};
const triple = { subject: "France", subjectId: "Q142", relation: "capital", object: "Paris" };
const wrong: Feedback = { id: "r-2", mark: { triple, judgement: "JUDGEMENT_WRONG" } };
const missing: Feedback = {
  id: "r-3",
  mark: { answer: { answer: "Lyon" }, judgement: "JUDGEMENT_MISSING" },
};

test("an item is found by id where both have one, and else by name", () => {
  const all = [right, wrong, missing];
  expect(findFeedback(all, { answer: { answer: "City of Paris", id: "Q90" } })).toBe(right);
  expect(findFeedback(all, { answer: { answer: " PARIS" } })).toBe(right);
  expect(findFeedback(all, { answer: { answer: "Paris", id: "Q830149" } })).toBeUndefined();
  expect(findFeedback(all, { triple: { ...triple, object: "paris" } })).toBe(wrong);
  expect(findFeedback(all, { triple: { ...triple, relation: "largest city" } })).toBeUndefined();
  expect(findFeedback(all, { triple: { ...triple, kgName: "other" } })).toBeUndefined();
});

test("what is stored takes the place of what it replaces", () => {
  const now: Feedback = { ...right, mark: { ...right.mark, judgement: "JUDGEMENT_WRONG" } };
  expect(withStored([right, wrong], [now, missing])).toEqual([wrong, now, missing]);
});

test("missing answers are those alone", () => {
  const fact: Feedback = { id: "r-4", mark: { triple, judgement: "JUDGEMENT_MISSING" } };
  expect(missingAnswers([right, wrong, missing, fact])).toEqual([missing]);
});

test("a mark has no more of an answer than the mesh takes", () => {
  const answer = { answer: "Paris", id: "Q90", evidence: [triple] };
  expect(markOf({ answer }, "JUDGEMENT_RIGHT")).toEqual(right.mark);
  expect(markOf({ answer: { answer: "Lyon" } }, "JUDGEMENT_MISSING")).toEqual(missing.mark);
  expect(markOf({ triple }, "JUDGEMENT_WRONG")).toEqual(wrong.mark);
});

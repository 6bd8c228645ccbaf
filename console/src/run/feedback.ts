import type { Answer, Feedback, Mark, Triple } from "../api/messages";

/** What a mark is about: an answer of a run, or a triple. */
export type Item = { answer: Answer } | { triple: Triple };

/** The mark of an item with a judgement, as the mesh takes it. */
export function markOf(item: Item, judgement: Mark["judgement"]): Mark {
  if ("triple" in item) {
    return { triple: item.triple, judgement };
  }
  const { answer = "", id } = item.answer;
  return { answer: id ? { answer, id } : { answer }, judgement };
}

/** The caller's feedback on an item; undefined where there is none. */
export function findFeedback(all: Feedback[], item: Item): Feedback | undefined {
  return all.find(({ mark }) =>
    "triple" in item
      ? mark?.triple !== undefined && sameTriple(mark.triple, item.triple)
      : mark?.answer !== undefined &&
        same(mark.answer.id, mark.answer.answer, item.answer.id, item.answer.answer),
  );
}

/** The feedback with what was stored in the place of what it replaces. */
export function withStored(all: Feedback[], stored: Feedback[]): Feedback[] {
  const ids = new Set(stored.map(({ id }) => id));
  return [...all.filter(({ id }) => !ids.has(id)), ...stored];
}

/** The answers that the caller missed. */
export function missingAnswers(all: Feedback[]): Feedback[] {
  return all.filter(({ mark }) => mark?.judgement === "JUDGEMENT_MISSING" && mark.answer);
}

function sameTriple(a: Triple, b: Triple): boolean {
  return (
    same(a.subjectId, a.subject, b.subjectId, b.subject) &&
    a.relation === b.relation &&
    same(a.objectId, a.object, b.objectId, b.object) &&
    (a.kgName ?? "") === (b.kgName ?? "")
  );
}

// By id where both have one, else by name, as the mesh compares them.
function same(id = "", name = "", otherId = "", otherName = ""): boolean {
  return id && otherId ? id === otherId : fold(name) === fold(otherName);
}

const fold = (name: string) => name.toLowerCase().trim().split(/\s+/u).join(" ");

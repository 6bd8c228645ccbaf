/** A question to begin with, answered by the facts that come with triplemesh. */
export type Example = { question: string; method: string; shows: string };

/** The knowledge graph that the examples are about. */
export const examplesKg = "wikidata";

/** Questions that each show another side. */
export const examples: Example[] = [
  {
    question: "What institution employed Robert Stam?",
    method: "pg-akv",
    shows: "a wrong draft, put right",
  },
  {
    question: "Where was Steven Tyler born, and what does he play?",
    method: "pg-akv",
    shows: "several facts at once",
  },
  {
    question: "At which university did the director of the film Alexander study?",
    method: "ger",
    shows: "two hops, judged one by one",
  },
];

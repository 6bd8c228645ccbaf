import type { Stage } from "../api/messages";

/** What a stage is called and what it does. */
export const stageNames: Record<Stage, { name: string; does: string }> = {
  STAGE_UNSPECIFIED: { name: "Stage", does: "" },
  STAGE_REWRITE: { name: "Rewrite", does: "The question is made to stand alone" },
  STAGE_CHOOSE: { name: "Choose", does: "A method is chosen for the question" },
  STAGE_PSEUDO_GRAPH: { name: "Draft", does: "The model writes the pseudo-graph from memory" },
  STAGE_GROUND_GRAPH: { name: "Ground", does: "The retriever finds what the graph holds" },
  STAGE_VERIFY: { name: "Verify", does: "The draft is corrected by the evidence" },
  STAGE_ANSWER: { name: "Answer", does: "The model answers" },
  STAGE_LINK: { name: "Link", does: "The question is linked to topic entities" },
  STAGE_PATHS: { name: "Paths", does: "Relation paths are planned and walked" },
  STAGE_CANDIDATES: { name: "Candidates", does: "The model reads candidates off the paths" },
  STAGE_EVALUATE_QUESTION: { name: "Judge the set", does: "The candidates are judged as a set" },
  STAGE_EVALUATE_ANSWERS: { name: "Judge each", does: "The candidates are judged one by one" },
  STAGE_REFLECT: { name: "Reflect", does: "The verdicts are weighed" },
  STAGE_SEARCH: { name: "Search", does: "Triples are searched by the question" },
  STAGE_EXPLORE: { name: "Explore", does: "A beam of entities is explored" },
  STAGE_SAMPLE: { name: "Sample", does: "The model is asked several times" },
  STAGE_PLAN: { name: "Plan", does: "The model plans what to compute" },
  STAGE_ALIGN: { name: "Align", does: "The plan is aligned to what the graph holds" },
  STAGE_EXECUTE: { name: "Execute", does: "The plan is computed" },
  STAGE_CLAIMS: { name: "Claims", does: "The model reads claims off the text" },
};

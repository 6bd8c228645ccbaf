import { expect, it } from "vitest";
import type { ReasoningPath } from "../api/messages";
import { endsOf } from "./graph";
import { mostPaths, pathGraph } from "./paths";

const ends = { topics: ["Alexander"], candidates: ["Yale", "New York"], answers: ["Yale"] };
const yale: ReasoningPath = {
  entities: ["Alexander", "Stone", "Yale"],
  steps: [{ relation: "director" }, { relation: "educated at" }],
  score: 0.6,
};
const newYork: ReasoningPath = {
  entities: ["Alexander", "Stone", "New York"],
  steps: [{ relation: "director" }, { relation: "place of birth" }],
};

it("draws a triple that paths share once", () => {
  expect(pathGraph([newYork, yale], ends).edges.map((edge) => edge.triple.relation)).toEqual([
    "director",
    "educated at",
    "place of birth",
  ]);
});

it("makes the ways to answers stand out", () => {
  const marks = pathGraph([newYork, yale], ends).edges.map((edge) => edge.mark);
  expect(marks).toEqual(["fixed", "fixed", "evidence"]);
});

it("tells topic entities, answers and what was not given apart", () => {
  const roles = Object.fromEntries(
    pathGraph([newYork, yale], ends).nodes.map((node) => [node.id, node.role]),
  );
  expect(roles).toEqual({
    Alexander: "topic",
    Stone: undefined,
    Yale: "answer",
    "New York": "dropped",
  });
});

it("keeps a triple as the graph has it, and draws it the way of the walk", () => {
  const [edge] = pathGraph(
    [{ entities: ["Stone", "Wall Street"], steps: [{ relation: "director", inverse: true }] }],
    ends,
  ).edges;
  expect(edge?.triple).toMatchObject({ subject: "Wall Street", object: "Stone" });
  expect(edge ? endsOf(edge) : []).toEqual(["Stone", "Wall Street"]);
});

it("gives triples the ids of the entities that the walk passes", () => {
  const path: ReasoningPath = {
    entities: ["Stone", "Wall Street", "1987"],
    entityIds: ["Q179497", "Q211784", ""],
    steps: [{ relation: "director", inverse: true }, { relation: "year" }],
  };
  const triples = pathGraph([path], ends).edges.map((edge) => edge.triple);
  expect(triples).toEqual([
    {
      subject: "Wall Street",
      subjectId: "Q211784",
      relation: "director",
      object: "Stone",
      objectId: "Q179497",
    },
    { subject: "Wall Street", subjectId: "Q211784", relation: "year", object: "1987" },
  ]);
});

it("cuts what is too many, but no way to an answer", () => {
  const many = Array.from(
    { length: mostPaths + 10 },
    (_, i): ReasoningPath => ({
      entities: ["Alexander", `end ${i}`],
      steps: [{ relation: "r" }],
    }),
  );
  const graph = pathGraph([...many, yale], ends);
  expect(graph.nodes.some((node) => node.id === "Yale")).toBe(true);
  expect(graph.edges).toHaveLength(mostPaths - 1 + 2);
});

it("leaves out steps that lead nowhere", () => {
  expect(pathGraph([{ entities: ["a"], steps: [{ relation: "r" }] }], ends).edges).toEqual([]);
});

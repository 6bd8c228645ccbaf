import { expect, test } from "vitest";
import { askable, kgsOf, numberOf } from "./snapshots";

const listed = [
  { kg: { name: "films", snapshot: "2" }, active: true },
  { kg: { name: "films", snapshot: "1" } },
  { kg: { name: "rivers", snapshot: "4" } },
];

test("snapshots stand under their knowledge graph", () => {
  const kgs = kgsOf(listed).map((kg) => [
    kg.name,
    kg.snapshots.map(numberOf),
    kg.active && numberOf(kg.active),
  ]);
  expect(kgs).toEqual([
    ["films", ["2", "1"], "2"],
    ["rivers", ["4"], undefined],
  ]);
});

test("only what has an active snapshot can be asked", () => {
  expect(askable(listed)).toEqual(["films"]);
  expect(askable(undefined)).toEqual([]);
});

import { describe, expect, it } from "vitest";
import { completing, lookupsFor } from "./suggest";

it("looks up what is typed, and what is finished of it", () => {
  expect(lookupsFor("Oliver St")).toEqual(["Oliver St", "Oliver"]);
  expect(lookupsFor(" Oliver ")).toEqual(["Oliver"]);
  expect(lookupsFor("O")).toEqual([]);
});

describe("completing", () => {
  const links = ["Star Trek", "Oliver Stone", "Oliver Hudson", "Oliver Stone", "Zoë Oliver"].map(
    (entity) => ({ entity }),
  );
  it.each([
    ["oliver st", ["Oliver Stone"]],
    ["st oliver", ["Oliver Stone"]],
    ["zoe", ["Zoë Oliver"]],
    ["oliver", ["Oliver Stone", "Oliver Hudson"]],
    ["liver", []],
  ])("%s", (typed, names) => {
    expect(completing(typed, links, 2).map(({ entity }) => entity)).toEqual(names);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Triple } from "../../api/messages";
import { bareName, edgesAround, groupsOf, namesIn, otherEnd } from "./facts";

const born: Triple = { subject: "Ridley Scott", relation: "born in", object: "South Shields" };
const alien: Triple = { subject: "Alien", relation: "director", object: "Ridley Scott" };
const year: Triple = { ...alien, relation: "year", object: "1979", objectKind: "TERM_KIND_DATE" };

describe("groupsOf", () => {
  it("tells an entity's own relations from those that lead to it", () => {
    const groups = groupsOf({
      entity: { name: "Ridley Scott" },
      relations: [
        { relation: "director", inverse: true, triples: "12" },
        { relation: "born in", triples: "1" },
      ],
      triples: [born, alien],
    });
    expect(groups).toEqual([
      { relation: "born in", inverse: false, total: 1, triples: [born] },
      { relation: "director", inverse: true, total: 12, triples: [alien] },
    ]);
  });
  it("shows a triple of an entity with itself in both directions", () => {
    const self = { subject: "A", relation: "knows", object: "A" };
    const relations = [
      { relation: "knows", triples: "1" },
      { relation: "knows", inverse: true, triples: "1" },
    ];
    const groups = groupsOf({ entity: { name: "A" }, relations, triples: [self] });
    expect(groups.map(({ triples }) => triples)).toEqual([[self], [self]]);
  });
});

it("leads to entities and not to values", () => {
  expect(otherEnd(alien, true)).toEqual({ name: "Alien", id: "", literal: false });
  expect(otherEnd(alien, false).literal).toBe(false);
  expect(otherEnd(year, false)).toEqual({ name: "1979", id: "", literal: true });
  expect(otherEnd(year, true).literal).toBe(false);
});

it("draws a triple once that two expanded entities share", () => {
  expect(edgesAround([[born, alien], [{ ...alien }]]).map(({ triple }) => triple)).toEqual([
    born,
    alien,
  ]);
});

describe("namesIn", () => {
  it("reads back any names", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1 })), (names) => {
        expect(namesIn(JSON.stringify(names))).toEqual(names);
      }),
    );
  });
  it.each([null, "", "[", "{}", "3", '[1, "", null]'])("reads no name in %s", (text) => {
    expect(namesIn(text)).toEqual([]);
  });
});

describe("bareName", () => {
  it.each([
    ["Springfield (Q28515)", "http://www.wikidata.org/entity/Q28515", "Springfield"],
    ["Alien (film)", "Alien (film)", "Alien (film)"],
    ["Alien (film)", "Q103569", "Alien (film)"],
    ["Alien", undefined, "Alien"],
  ])("%s", (name, id, bare) => {
    expect(bareName(name, id)).toBe(bare);
  });
});

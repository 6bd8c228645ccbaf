import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Claim, Correction } from "../../api/messages";
import { changesOf, foremost, segmentsOf } from "./segments";

const claim = (start: number, end: number): Claim => ({ span: { start, end } });

describe("segments", () => {
  test.each<[string, string, Claim[], [string, number[], number[]][]]>([
    ["no claims", "Ada wrote.", [], [["Ada wrote.", [], []]]],
    [
      "a claim in the middle",
      "So Ada wrote.",
      [claim(3, 6)],
      [
        ["So ", [], []],
        ["Ada", [0], [0]],
        [" wrote.", [], []],
      ],
    ],
    [
      "claims that overlap",
      "abcdef",
      [claim(0, 4), claim(2, 6)],
      [
        ["ab", [0], []],
        ["cd", [0, 1], [0]],
        ["ef", [1], [1]],
      ],
    ],
    ["two claims on the same words", "abc", [claim(0, 3), claim(0, 3)], [["abc", [0, 1], [0, 1]]]],
    [
      "letters of two UTF-16 units",
      "🦉 𝒜da",
      [claim(2, 5)],
      [
        ["🦉 ", [], []],
        ["𝒜da", [0], [0]],
      ],
    ],
    ["a claim past the end", "abc", [claim(7, 9)], [["abc", [], []]]],
    ["a claim without a place", "abc", [{}], [["abc", [], []]]],
    ["a claim whose end comes first", "abc", [claim(2, 1)], [["abc", [], []]]],
    ["nothing", "", [claim(0, 1)], []],
  ])("%s", (_, text, claims, want) => {
    expect(segmentsOf(text, claims).map((s) => [s.text, s.claims, s.ending])).toEqual(want);
  });

  test("joined they are the text, and every claim's segments are its words", () => {
    const spans = fc.array(fc.tuple(fc.nat(30), fc.nat(30)));
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), spans, (text, pairs) => {
        const claims = pairs.map(([start, end]) => claim(start, end));
        const segments = segmentsOf(text, claims);
        expect(segments.map((s) => s.text).join("")).toBe(text);
        pairs.forEach(([start, end], place) => {
          const own = segments.filter((s) => s.claims.includes(place));
          expect(own.map((s) => s.text).join("")).toBe(Array.from(text).slice(start, end).join(""));
          expect(segments.filter((s) => s.ending.includes(place))).toHaveLength(own.length ? 1 : 0);
        });
      }),
    );
  });
});

test.each([
  [["VERDICT_SUPPORTED", "VERDICT_CONTRADICTED"], "VERDICT_CONTRADICTED"],
  [["VERDICT_SUPPORTED", "VERDICT_NOT_IN_KG"], "VERDICT_NOT_IN_KG"],
  [["VERDICT_SUPPORTED", undefined], "VERDICT_SUPPORTED"],
  [[], "VERDICT_UNSPECIFIED"],
] as const)("of %s one looks at %s first", (verdicts, want) => {
  expect(foremost([...verdicts])).toBe(want);
});

describe("a corrected text", () => {
  const change = (start: number, end: number): Correction => ({ correctedSpan: { start, end } });
  test.each<[string, string, Correction[], [string, boolean][]]>([
    ["no change", "Ada wrote.", [], [["Ada wrote.", false]]],
    [
      "a change in the middle",
      "born in London.",
      [change(8, 14)],
      [
        ["born in ", false],
        ["London", true],
        [".", false],
      ],
    ],
    [
      "a change at the end, behind a letter of two units",
      "🦉 London",
      [change(2, 8)],
      [
        ["🦉 ", false],
        ["London", true],
      ],
    ],
    [
      "words that were taken out",
      "ab",
      [change(1, 1)],
      [
        ["a", false],
        ["", true],
        ["b", false],
      ],
    ],
    ["a change over another", "abcd", [change(0, 4), change(2, 3)], [["abcd", true]]],
    ["a change outside of the text", "ab", [change(1, 9)], [["ab", false]]],
    [
      "a change without a place",
      "ab",
      [{ claim: 1 }],
      [
        ["", true],
        ["ab", false],
      ],
    ],
  ])("%s", (_, text, corrections, want) => {
    const parts = changesOf(text, corrections);
    expect(parts.map((p) => [p.text, p.correction !== undefined])).toEqual(want);
    expect(parts.map((p) => p.text).join("")).toBe(text);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bytes, dollars, elapsed, milliseconds, percent, score, toNumber } from "./quantity";
import { clip, count, visible, words } from "./text";
import { moment } from "./time";

describe("quantities", () => {
  it.each([
    [0, "0 ms"],
    [0.4, "< 1 ms"],
    [12.4, "12 ms"],
    [999.6, "1.0 s"],
    [1540, "1.5 s"],
    [59_960, "1 min"],
    [125_000, "2 min 5 s"],
  ])("%d ms is %s", (ms, text) => {
    expect(elapsed(ms)).toBe(text);
  });

  it.each([
    ["1.5s", 1500],
    ["0.002s", 2],
    ["", 0],
    [undefined, 0],
    ["x", 0],
  ])("a duration of %s", (text, ms) => {
    expect(milliseconds(text)).toBe(ms);
  });

  it.each([
    [0, "$0.00"],
    [0.0000123, "$0.000012"],
    [0.2, "$0.20"],
  ])("%d dollars are %s", (usd, text) => {
    expect(dollars(usd)).toBe(text);
  });

  it.each([
    [0, "0 B"],
    [1500, "1.5 kB"],
    ["212000000", "212 MB"],
    [3e12, "3.0 TB"],
  ])("%s bytes are %s", (n, text) => {
    expect(bytes(n)).toBe(text);
  });

  it("takes what protojson leaves out for zero, and what is no number too", () => {
    expect([toNumber(undefined), toNumber("12"), toNumber("NaN")]).toEqual([0, 12, 0]);
    expect([score(undefined), score(0.876), percent(0.876)]).toEqual(["0.00", "0.88", "88 %"]);
  });
});

describe("clip", () => {
  it("never makes a text longer than asked, nor cuts a character in two", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 30 }), (text, most) => {
        const clipped = clip(text, most);
        expect(Array.from(clipped).length).toBeLessThanOrEqual(most);
        expect(clipped.isWellFormed()).toBe(true);
      }),
    );
  });

  it("leaves what fits", () => {
    expect(clip("𝕏𝕏𝕏", 3)).toBe("𝕏𝕏𝕏");
    expect(clip("abcd", 3)).toBe("ab…");
  });
});

it("counts in one and many", () => {
  expect([count(1, "triple"), count(2000, "triple"), count(2, "entity", "entities")]).toEqual([
    "1 triple",
    "2,000 triples",
    "2 entities",
  ]);
});

it("puts enums into words", () => {
  expect(words("STAGE_PSEUDO_GRAPH", "STAGE_")).toBe("pseudo graph");
  expect(words("STAGE_UNSPECIFIED", "STAGE_")).toBe("");
  expect(words(undefined, "STAGE_")).toBe("");
});

it("has no words for a moment that is none", () => {
  expect([moment(undefined), moment("yesterday")]).toEqual(["", ""]);
});

it.each([
  ["a name that is turned around", "a\u202Eevil", "a\uFFFDevil"],
  ["a terminal's escape", "\u001b[31mred", "\uFFFD[31mred"],
  ["a line end stays", "a\nb\tc", "a\nb\tc"],
  ["letters of every script stay", "אב 日本 👩‍👧", "אב 日本 👩‍👧"],
])("makes visible: %s", (_, text, shown) => {
  expect(visible(text)).toBe(shown);
});

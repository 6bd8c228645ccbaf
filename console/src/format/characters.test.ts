import fc from "fast-check";
import { expect, test } from "vitest";
import { Characters } from "./characters";

test.each([
  ["letters of one unit", "Ada Lovelace", 4, 8, "Love"],
  ["a letter of two units before", "𝒜da Lovelace", 4, 8, "Love"],
  ["a letter of two units within", "x 𝒜da", 2, 3, "𝒜"],
  ["right to left", "ولدت آدا في لندن", 12, 16, "لندن"],
  ["past the end", "Ada", 1, 99, "da"],
  ["past the end, with a letter of two units", "𝒜da", 1, 99, "da"],
  ["before the beginning", "Ada", -5, 2, "Ad"],
  ["nothing", "Ada", 2, 2, ""],
])("%s", (_, text, start, end, want) => {
  expect(new Characters(text).slice(start, end)).toBe(want);
});

test("any text is cut where its characters are", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.nat(20), fc.nat(20), (text, start, end) => {
      const characters = new Characters(text);
      expect(characters.length).toBe(Array.from(text).length);
      expect(characters.slice(start, end)).toBe(Array.from(text).slice(start, end).join(""));
    }),
  );
});

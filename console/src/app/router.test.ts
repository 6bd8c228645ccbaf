import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { href, parsePlace } from "./router";

describe("parsePlace", () => {
  it.each([
    ["an empty address is the beginning", "", [], ""],
    ["a page", "#/ask", ["ask"], ""],
    ["a page with a query", "#/ask?q=a+b&kg=x", ["ask"], "q=a+b&kg=x"],
    ["a part with a slash in it", "#/kgs/a%2Fb", ["kgs", "a/b"], ""],
    ["a question mark in the query", "#/ask?q=who%3F", ["ask"], "q=who%3F"],
    ["what cannot be decoded stands as it is", "#/kgs/100%", ["kgs", "100%"], ""],
  ])("%s", (_, hash, path, query) => {
    const place = parsePlace(hash);
    expect(place.path).toEqual(path);
    expect(place.query.toString()).toBe(query);
  });

  it("reads what href writes", () => {
    const part = fc.string({ unit: "grapheme", minLength: 1 });
    const query = fc.dictionary(fc.string({ minLength: 1 }), part);
    fc.assert(
      fc.property(fc.array(part, { minLength: 1 }), query, (path, fields) => {
        const place = parsePlace(href(path, fields));
        expect(place.path).toEqual(path);
        expect(Object.fromEntries(place.query)).toEqual({ ...fields });
      }),
    );
  });

  it("leaves empty fields out of an address", () => {
    expect(href(["ask"], { q: "x", kg: "" })).toBe("#/ask?q=x");
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRouter, href, parsePlace } from "./router";

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

describe("createRouter", () => {
  /** A window whose events come when they are told to. */
  function aWindow(hash: string) {
    const location = { hash };
    let changed = () => {};
    const history = {
      replaceState(_data: unknown, _title: string, to: string) {
        location.hash = to;
      },
    };
    const addEventListener = (_type: string, listener: () => void) => {
      changed = listener;
    };
    const window = { location, history, addEventListener } as unknown as Window;
    return { window, location, change: () => changed() };
  }

  it("renames the place the reader is at", () => {
    const { window, location } = aWindow("#/ask?q=x");
    const router = createRouter(window);
    router.replace(["ask"], { q: "x", run: "1" });
    router.replace(["ask"], { q: "x", run: "2" });
    expect(location.hash).toBe("#/ask?q=x&run=2");
    expect(router.place.value.query.get("run")).toBe("2");
  });

  it("names the first page, which has no address", () => {
    const { window, location } = aWindow("");
    createRouter(window).replace(["ask"], { q: "x" });
    expect(location.hash).toBe("#/ask?q=x");
  });

  it("leaves a place alone to which a link was followed meanwhile", () => {
    const { window, location, change } = aWindow("#/ask?q=x");
    const router = createRouter(window);
    location.hash = "#/runs";
    router.replace(["ask"], { q: "x", run: "1" });
    expect(location.hash).toBe("#/runs");
    change();
    expect(router.place.value.path).toEqual(["runs"]);
    router.replace(["ask"], { q: "x", run: "1" });
    expect(location.hash).toBe("#/runs");
    router.replace(["runs"], { method: "ger" });
    expect(location.hash).toBe("#/runs?method=ger");
  });
});

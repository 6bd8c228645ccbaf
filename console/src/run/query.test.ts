import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chartOf, csvOf, numberIn, type Row, rowsOf, sortRows } from "./query";

const row = (...cells: string[]): Row => ({ cells, row: {} });

it("reads the names of cells, and ids where there is no name", () => {
  const table = {
    columns: ["state", "area"],
    rows: [{ cells: [{ name: "Orla" }, { id: "Q1" }] }, { cells: [{ name: "Tessen" }] }],
  };
  expect(rowsOf(table).map(({ cells }) => cells)).toEqual([
    ["Orla", "Q1"],
    ["Tessen", ""],
  ]);
});

describe("numberIn", () => {
  it.each([
    ["1,234.5 km²", 1234.5],
    ["-3", -3],
    ["$362,285", 362285],
    ["1990", 1990],
    ["Route 66", undefined],
    ["12 and 13", undefined],
    ["", undefined],
  ])("%s", (text, number) => {
    expect(numberIn(text)).toBe(number);
  });
});

describe("sortRows", () => {
  const rows = [row("b", "10"), row("a", "9"), row("c", "none"), row("d", "1,000")];
  it("orders numbers by value, and texts after them either way", () => {
    expect(sortRows(rows, 1, false).map(({ cells }) => cells[1])).toEqual([
      "9",
      "10",
      "1,000",
      "none",
    ]);
    expect(sortRows(rows, 1, true).map(({ cells }) => cells[1])).toEqual([
      "1,000",
      "10",
      "9",
      "none",
    ]);
  });
  it("orders names by their letters", () => {
    expect(sortRows(rows, 0, true).map(({ cells }) => cells[0])).toEqual(["d", "c", "b", "a"]);
  });
});

describe("csvOf", () => {
  it("quotes what needs quotes", () => {
    expect(csvOf(["name", "area"], [row('Low "Tide", The', "8,270")])).toBe(
      'name,area\r\n"Low ""Tide"", The","8,270"\r\n',
    );
  });
  it("lets no cell become a formula", () => {
    fc.assert(
      fc.property(fc.constantFrom("=", "+", "@", "-x"), fc.string(), (start, rest) => {
        const line = csvOf(["a"], [row(start + rest)]).slice("a\r\n".length);
        expect(line.replace(/^"/, "").startsWith("'")).toBe(true);
      }),
    );
  });
  it("leaves negative numbers", () => {
    expect(csvOf(["a"], [row("-12.5")])).toBe("a\r\n-12.5\r\n");
  });
});

describe("chartOf", () => {
  it("draws names with numbers", () => {
    expect(chartOf(["state", "area"], [row("Orla", "10"), row("Tessen", "5")])).toEqual({
      of: "area",
      bars: [
        { label: "Orla", text: "10", share: 1 },
        { label: "Tessen", text: "5", share: 0.5 },
      ],
    });
  });
  it.each([
    ["one row", ["a", "b"], [row("x", "1")]],
    ["one column", ["a"], [row("1"), row("2")]],
    ["a text among the numbers", ["a", "b"], [row("x", "1"), row("y", "none")]],
    ["numbers below zero", ["a", "b"], [row("x", "-1"), row("y", "2")]],
  ])("draws nothing of %s", (_, columns, rows) => {
    expect(chartOf(columns, rows)).toBeUndefined();
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chartOf, csvOf, numberIn, type Row, rowsOf, sortRows, timelineOf, yearsIn } from "./query";

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

describe("yearsIn", () => {
  it.each([
    ["1858-08-11", 1858.61],
    ["1492-10", 1492.75],
    ["-0044-03-15", -43.8],
    ["2001-00-00", 2001],
    ["2000-01-01T00:00:00Z", 2000],
    ["1858-13-11", undefined],
    ["in 1858", undefined],
    ["", undefined],
  ])("%s", (text, years) => {
    expect(yearsIn(text)).toEqual(years === undefined ? undefined : expect.closeTo(years, 1));
  });
  it("orders dates as their texts are", () => {
    const date = fc.date({
      min: new Date("1000-01-01"),
      max: new Date("2999-12-31"),
      noInvalidDate: true,
    });
    const text = date.map((day) => day.toISOString().slice(0, 10));
    fc.assert(
      fc.property(text, text, (a, b) => {
        fc.pre(a < b);
        expect(yearsIn(a)).toBeLessThan(yearsIn(b) ?? Number.NaN);
      }),
    );
  });
});

describe("timelineOf", () => {
  const columns = ["mountain", "first ascent"];
  it("orders rows by their dates, each at its place on the axis", () => {
    const rows = [row("Makalu", "1955-01-01"), row("Eiger", "1855-01-01"), row("Ortler", "1905")];
    const dated = { kind: "TERM_KIND_DATE" as const };
    const kinds = rows.map(({ cells }) => ({ cells, row: { cells: [{}, dated] } }));
    expect(timelineOf(columns, kinds)).toEqual({
      of: "first ascent",
      first: "1855-01-01",
      last: "1955-01-01",
      moments: [
        { label: "Eiger", text: "1855-01-01", from: 0, to: 0 },
        { label: "Ortler", text: "1905", from: 0.5, to: 0.5 },
        { label: "Makalu", text: "1955-01-01", from: 1, to: 1 },
      ],
    });
  });
  it("draws spans of two columns of dates", () => {
    const rows = [row("A", "1900-01-01", "1910-01-01"), row("B", "1905-01-01", "1920-01-01")];
    const timeline = timelineOf(["name", "born", "died"], rows);
    expect(timeline?.last).toBe("1920-01-01");
    expect(timeline?.moments[0]).toEqual({
      label: "A",
      text: "1900-01-01 – 1910-01-01",
      from: 0,
      to: 0.5,
    });
  });
  it("draws points where the second column is earlier", () => {
    const rows = [row("A", "1900-01-01", "1890-01-01"), row("B", "1905-01-01", "1920-01-01")];
    expect(timelineOf(["name", "a", "b"], rows)?.moments[0]?.text).toBe("1900-01-01");
  });
  it.each([
    ["plain numbers", [row("A", "1900"), row("B", "1905")]],
    ["one day alone", [row("A", "1900-01-01"), row("B", "1900-01-01")]],
    ["a text among the dates", [row("A", "1900-01-01"), row("B", "unknown")]],
    ["one row", [row("A", "1900-01-01")]],
  ])("draws nothing of %s", (_, rows) => {
    expect(timelineOf(columns, rows)).toBeUndefined();
  });
});

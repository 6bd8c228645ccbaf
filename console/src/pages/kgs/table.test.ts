import { describe, expect, it } from "vitest";
import type { ColumnType, ProposeColumnsResponse } from "../../api/messages";
import {
  type Choice,
  columnsOf,
  type Key,
  keysOf,
  mostColumns,
  tableKind,
  typeOf,
  warningsOf,
} from "./table";

const towns: ProposeColumnsResponse = {
  key: "town",
  rowName: "towns",
  rowCount: 3,
  whole: true,
  columns: [
    { heading: "town", type: "COLUMN_TYPE_ENTITY", cells: 3, distinct: 3, example: "Rome" },
    { heading: "country", type: "COLUMN_TYPE_ENTITY", cells: 2, distinct: 1, example: "Italy" },
    { heading: "people", type: "COLUMN_TYPE_NUMBER", cells: 3, distinct: 3, example: "2,750,000" },
    { heading: "people", type: "COLUMN_TYPE_TEXT", cells: 3, distinct: 3, example: "many" },
    { heading: "", type: "COLUMN_TYPE_SKIP", cells: 1, distinct: 1, example: "x" },
  ],
};
const none: Choice = { types: new Map() };
const typed = (...types: [string, ColumnType][]): Choice => ({ types: new Map(types) });
const column = (heading: string): Key => ({ by: "column", heading });

describe("tableKind", () => {
  it.each([
    ["towns.csv", "yes"],
    ["TOWNS.CSV.GZ", "yes"],
    ["towns.csv.zst", "yes"],
    ["facts.tsv", "maybe"],
    ["facts.tab.bz2", "maybe"],
    ["facts.nt", "no"],
    ["csv", "no"],
    ["towns.csv.zip", "no"],
  ])("%s: %s", (name, kind) => {
    expect(tableKind(name)).toBe(kind);
  });
});

describe("columnsOf", () => {
  it("loads a table as proposed, without types, which are inferred again", () => {
    expect(columnsOf(towns, none, "")).toEqual({
      format: "FORMAT_CSV",
      columns: { subject: "town" },
    });
  });
  it("names another key, the separator, and the types that differ", () => {
    const choice = typed(
      ["town", "COLUMN_TYPE_TEXT"],
      ["people", "COLUMN_TYPE_NUMBER"],
      ["country", "COLUMN_TYPE_SKIP"],
    );
    expect(columnsOf(towns, { ...choice, key: column("people") }, ";")).toEqual({
      format: "FORMAT_CSV",
      columns: {
        subject: "people",
        separator: ";",
        types: [
          { heading: "town", type: "COLUMN_TYPE_TEXT" },
          { heading: "country", type: "COLUMN_TYPE_SKIP" },
        ],
      },
    });
  });
  it("names the rows of codes, until a type is chosen for the names or another key", () => {
    const coded = { ...towns, key: "people", name: "town" };
    expect(columnsOf(coded, none, "").columns).toEqual({ subject: "people", name: "town" });
    const parts = { ...towns, key: "", name: "town", furtherNames: ["people"] };
    expect(columnsOf(parts, none, "").columns).toEqual({
      rows: "towns",
      name: "town",
      furtherNames: ["people"],
    });
    expect(columnsOf(coded, { ...none, key: column("country") }, "").columns).toEqual({
      subject: "country",
    });
    expect(columnsOf(coded, typed(["town", "COLUMN_TYPE_ENTITY"]), "").columns).toEqual({
      subject: "people",
    });
  });
  it("gives the key no type, whatever was chosen for it before", () => {
    expect(columnsOf(towns, typed(["town", "COLUMN_TYPE_DATE"]), "").columns).toEqual({
      subject: "town",
    });
  });
  it.each([
    ["a name", { rowName: "city" }, "city"],
    ["the name of the file", {}, "towns"],
    ["the name of the file, where the field is empty", { rowName: "" }, "towns"],
  ])("makes rows entities by %s", (_, choice, rows) => {
    expect(columnsOf(towns, { ...none, ...choice, key: { by: "row" } }, "").columns).toEqual({
      rows,
    });
  });
  it("makes rows entities where no column is a key", () => {
    expect(columnsOf({ ...towns, key: "" }, none, "").columns).toEqual({ rows: "towns" });
  });
  it("leaves a table of facts its headings, and three columns their order", () => {
    expect(columnsOf({ ...towns, facts: true }, none, "")).toEqual({ format: "FORMAT_CSV" });
    const choice: Choice = { ...typed(["town", "COLUMN_TYPE_DATE"]), key: { by: "fact" } };
    expect(columnsOf(towns, choice, "|").columns).toEqual({ separator: "|" });
  });
});

describe("keysOf", () => {
  const labels = (proposal: ProposeColumnsResponse) => keysOf(proposal).map(({ label }) => label);
  it("are the columns that have a heading, each once, and the rows", () => {
    expect(labels(towns)).toEqual([
      "town",
      "country",
      "people",
      "Each row is an entity of its own",
    ]);
  });
  it("are the facts too where there are three columns", () => {
    const three = { ...towns, columns: towns.columns?.slice(0, 3) ?? [] };
    expect(labels(three)).toContain("Each row is a fact: subject, relation, object");
  });
  it("are bounded, and have the proposed one", () => {
    const columns = Array.from({ length: 5000 }, (_, n) => ({ heading: `c${n}` }));
    const all = labels({ ...towns, key: "c4000", columns });
    expect(all).toHaveLength(mostColumns + 2);
    expect(all).toContain("c4000");
  });
  it("are shown without what turns writing around", () => {
    expect(labels({ columns: [{ heading: "a\u202Eb" }] })[0]).toBe("a\uFFFDb");
  });
});

describe("typeOf", () => {
  const [town = {}, country = {}] = towns.columns ?? [];
  it("is the chosen type, else the proposed one, and none of the key", () => {
    expect(typeOf(towns, none, country)).toBe("COLUMN_TYPE_ENTITY");
    expect(typeOf(towns, typed(["country", "COLUMN_TYPE_TEXT"]), country)).toBe("COLUMN_TYPE_TEXT");
    expect(typeOf(towns, none, town)).toBeUndefined();
    expect(typeOf(towns, { ...none, key: { by: "row" } }, town)).toBe("COLUMN_TYPE_ENTITY");
    expect(typeOf({ ...towns, facts: true }, none, country)).toBeUndefined();
  });
});

describe("warningsOf", () => {
  it("is what the mesh warns of, once", () => {
    expect(warningsOf({ ...towns, warnings: ["a", "a", "b"] }, none)).toEqual(["a", "b"]);
  });
  it("warns of a key that repeats, and of rows without it", () => {
    expect(warningsOf(towns, { ...none, key: column("country") })).toEqual([
      'column "country" has 1 different value in 3 rows: rows that share one become one entity',
      'column "country" is empty in 1 row: without a key they are left out',
    ]);
  });
});

import type { QueryRow, QueryTable } from "../api/messages";

/** A table as it is shown: the text of each cell, and the row that it came from. */
export type Row = { cells: string[]; row: QueryRow };

/** The rows of a table with the text of their cells. */
export function rowsOf(table: QueryTable): Row[] {
  return (table.rows ?? []).map((row) => ({
    cells: (table.columns ?? []).map((_, i) => row.cells?.[i]?.name ?? row.cells?.[i]?.id ?? ""),
    row,
  }));
}

/** A number as a graph writes it ("1,234.5 km²"), or undefined for other texts. */
export function numberIn(text: string): number | undefined {
  const digits = /^\s*[$€£]?(-?\d[\d,]*(?:\.\d+)?)(?:\s*[^\d\s][^\d]{0,40})?\s*$/.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits.replaceAll(",", ""));
}

/** Rows by one column: numbers by value before texts, equal ones as they were. */
export function sortRows(rows: Row[], column: number, descending: boolean): Row[] {
  const turn = descending ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [x = "", y = ""] = [a.cells[column], b.cells[column]];
    const [m, n] = [numberIn(x), numberIn(y)];
    if (m !== undefined && n !== undefined) {
      return turn * (m - n);
    }
    if (m !== undefined || n !== undefined) {
      return m !== undefined ? -1 : 1;
    }
    return turn * x.localeCompare(y);
  });
}

/**
 * The rows as CSV (RFC 4180). A cell that a spreadsheet would take for a formula
 * gets an apostrophe: names in a graph are anybody's.
 */
export function csvOf(columns: string[], rows: Row[]): string {
  const cell = (text: string) => {
    const safe = /^[=+@\t\r]|^-(?![\d.])/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return [columns, ...rows.map(({ cells }) => cells)]
    .map((cells) => `${cells.map(cell).join(",")}\r\n`)
    .join("");
}

/** A bar of a chart: how long it is of the longest, 0 to 1. */
export type Bar = { label: string; text: string; share: number };

/** The most bars that are drawn. */
const most = 40;

/** What can be drawn of a table: a column of names beside one of numbers that are none below zero. */
export function chartOf(columns: string[], rows: Row[]): { of: string; bars: Bar[] } | undefined {
  if (columns.length < 2 || rows.length < 2 || rows.length > most) {
    return undefined;
  }
  const at = columns.findIndex(
    (_, i) => i > 0 && rows.every(({ cells }) => (numberIn(cells[i] ?? "") ?? -1) >= 0),
  );
  const of = columns[at];
  if (of === undefined) {
    return undefined;
  }
  const values = rows.map(({ cells }) => numberIn(cells[at] ?? "") ?? 0);
  const longest = Math.max(...values);
  return {
    of,
    bars: rows.map(({ cells }, i) => ({
      label: cells[0] ?? "",
      text: cells[at] ?? "",
      share: longest > 0 ? (values[i] ?? 0) / longest : 0,
    })),
  };
}

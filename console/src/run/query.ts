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

/** A mark on a timeline: when it is, and where on the axis that is, 0 to 1. */
export type Moment = { label: string; text: string; from: number; to: number };

/** Rows in the order of their dates, with the first and the last of these. */
export type Timeline = { of: string; first: string; last: string; moments: Moment[] };

/** A date as a graph writes it ("1858-08-11", "1492-10", "-0044") in years, or undefined. */
export function yearsIn(text: string): number | undefined {
  const [, sign, year, month, day] =
    /^\s*(-?)(\d{1,6})(?:-(\d\d)(?:-(\d\d)(?:T[\d:.]+Z?)?)?)?\s*$/.exec(text) ?? [];
  if (year === undefined || Number(month ?? 1) > 12 || Number(day ?? 1) > 31) {
    return undefined;
  }
  const within = (Math.max(1, Number(month ?? 1)) - 1) / 12 + (Number(day ?? 1) - 1) / 366;
  return (sign ? -1 : 1) * Number(year) + within;
}

/**
 * The rows along time: by a column of dates, and the next one, where all of its dates are no
 * earlier, as the ends. Plain numbers are dates only where the graph says so.
 */
export function timelineOf(columns: string[], rows: Row[]): Timeline | undefined {
  if (columns.length < 2 || rows.length < 2 || rows.length > most) {
    return undefined;
  }
  const years = (row: Row, i: number) => {
    const text = row.cells[i] ?? "";
    const date = row.row.cells?.[i]?.kind === "TERM_KIND_DATE" || /\d-\d/.test(text);
    return date ? yearsIn(text) : undefined;
  };
  const dated = (i: number) =>
    i < columns.length && rows.every((row) => years(row, i) !== undefined);
  const at = columns.findIndex((_, i) => i > 0 && dated(i));
  const of = columns[at];
  if (of === undefined) {
    return undefined;
  }
  const start = (row: Row) => years(row, at) ?? 0;
  const end = (row: Row) => years(row, at + 1) ?? Number.NEGATIVE_INFINITY;
  const spans = dated(at + 1) && rows.every((row) => start(row) <= end(row));
  const ends = (row: Row) => (spans ? end(row) : start(row));
  const ordered = rows.toSorted((a, b) => start(a) - start(b));
  const low = Math.min(...rows.map(start));
  const high = Math.max(...rows.map(ends));
  if (low === high) {
    return undefined;
  }
  const place = (year: number) => (year - low) / (high - low);
  const latest = rows.reduce((a, b) => (ends(b) > ends(a) ? b : a));
  return {
    of,
    first: ordered[0]?.cells[at] ?? "",
    last: latest.cells[spans ? at + 1 : at] ?? "",
    moments: ordered.map((row) => ({
      label: row.cells[0] ?? "",
      text: row.cells.slice(at, spans ? at + 2 : at + 1).join(" – "),
      from: place(start(row)),
      to: place(ends(row)),
    })),
  };
}

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

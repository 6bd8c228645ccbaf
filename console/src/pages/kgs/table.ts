import type {
  Columns,
  ColumnType,
  Format,
  ProposeColumnsResponse,
  ProposedColumn,
} from "../../api/messages";
import { clip, count, visible } from "../../format/text";

/**
 * How much of a file is sent to be looked at, in bytes. In base64 it is within the 1 MiB that the
 * mesh takes for a body.
 */
export const headBytes = 512 * 1024;

/** The most columns that are shown: more are loaded as proposed. */
export const mostColumns = 200;

/** Types that can be chosen, by the names that the command line has for them. */
export const typeNames: [ColumnType, string][] = [
  ["COLUMN_TYPE_ENTITY", "entity"],
  ["COLUMN_TYPE_NUMBER", "number"],
  ["COLUMN_TYPE_DATE", "date"],
  ["COLUMN_TYPE_LIST", "list"],
  ["COLUMN_TYPE_TEXT", "text"],
  ["COLUMN_TYPE_SKIP", "skip"],
];

/** What may separate cells; empty is what the file's name says. */
export const separators: [string, string][] = [
  ["", "By name and headings"],
  [",", "Comma"],
  [";", "Semicolon"],
  ["\t", "Tab"],
  ["|", "Vertical bar"],
];

/** What the entity of a row is: named by a column, the row itself, or each row is a fact. */
export type Key = { by: "column"; heading: string } | { by: "row" } | { by: "fact" };

/** How a table is to be loaded, as far as the reader chose it. */
export type Choice = {
  key?: Key;
  /** The name of rows that are entities. */
  rowName?: string;
  /** Types that differ from the proposed ones, by heading. */
  types: ReadonlyMap<string, ColumnType>;
};

/** Whether a file is a table: by its name, "maybe" where such files are facts without headings too. */
export function tableKind(name: string): "yes" | "maybe" | "no" {
  const plain = name.toLowerCase().replace(/\.(gz|bz2|zst)$/, "");
  return plain.endsWith(".csv") ? "yes" : /\.(tsv|tab|txt)$/.test(plain) ? "maybe" : "no";
}

/** The columns that there is something to choose for: with a heading, the first of each. */
export function choosable(proposal: ProposeColumnsResponse): ProposedColumn[] {
  const seen = new Set<string>();
  return (proposal.columns ?? []).filter(({ heading }) => {
    if (!heading || seen.has(heading)) {
      return false;
    }
    seen.add(heading);
    return true;
  });
}

/** The keys to choose from, with their words. */
export function keysOf(proposal: ProposeColumnsResponse): { key: Key; label: string }[] {
  const shown = choosable(proposal).filter(
    ({ heading }, at) => at < mostColumns || heading === proposal.key,
  );
  return [
    ...shown.map(({ heading = "" }) => ({
      key: { by: "column", heading } as const,
      label: clip(visible(heading), 80),
    })),
    { key: { by: "row" }, label: "Each row is an entity of its own" },
    ...(proposal.columns?.length === 3
      ? [{ key: { by: "fact" } as const, label: "Each row is a fact: subject, relation, object" }]
      : []),
  ];
}

/** Whether two keys are the same. */
export function isSameKey(a: Key, b: Key): boolean {
  return a.by === b.by && (a.by !== "column" || b.by !== "column" || a.heading === b.heading);
}

/** The key that is chosen, else the proposed one. */
export function keyOf(proposal: ProposeColumnsResponse, { key }: Choice): Key {
  if (proposal.facts) {
    return { by: "fact" };
  }
  return key ?? (proposal.key ? { by: "column", heading: proposal.key } : { by: "row" });
}

/** The headings of the columns with the names of rows, where the key has codes or none is a key, unless a type is chosen for one of them. */
export function namesOf(proposal: ProposeColumnsResponse, choice: Choice): string[] {
  const { name, furtherNames = [], key = "" } = proposal;
  const chosen = keyOf(proposal, choice);
  const isProposed = chosen.by === "column" ? chosen.heading === key : chosen.by === "row" && !key;
  const names = name && isProposed ? [name, ...furtherNames] : [];
  return names.some((heading) => choice.types.has(heading)) ? [] : names;
}

/** The type that a column is loaded as; undefined where it is the key, or part of a fact. */
export function typeOf(
  proposal: ProposeColumnsResponse,
  choice: Choice,
  { heading = "", type }: ProposedColumn,
): ColumnType | undefined {
  const key = keyOf(proposal, choice);
  if (key.by === "fact" || (key.by === "column" && key.heading === heading)) {
    return undefined;
  }
  return choice.types.get(heading) ?? type;
}

/** What a load is told of its columns. Types are named where they differ: proposed ones are inferred again, and are not strict. */
export function columnsOf(
  proposal: ProposeColumnsResponse,
  choice: Choice,
  separator: string,
): { format: Format; columns?: Columns } {
  const key = keyOf(proposal, choice);
  const columns: Columns = {};
  if (separator) {
    columns.separator = separator;
  }
  if (key.by === "column") {
    columns.subject = key.heading;
  } else if (key.by === "row") {
    columns.rows = choice.rowName || proposal.rowName || "row";
  }
  const [name, ...furtherNames] = namesOf(proposal, choice);
  if (name) {
    columns.name = name;
  }
  if (furtherNames.length) {
    columns.furtherNames = furtherNames;
  }
  const types = choosable(proposal).flatMap((column) => {
    const type = typeOf(proposal, choice, column);
    return type && type !== column.type ? [{ heading: column.heading ?? "", type }] : [];
  });
  if (types.length) {
    columns.types = types;
  }
  const format = "FORMAT_CSV";
  return Object.keys(columns).length ? { format, columns } : { format };
}

/** What may be wrong with the table, and with the key that is chosen. */
export function warningsOf(proposal: ProposeColumnsResponse, choice: Choice): string[] {
  const warnings = [...(proposal.warnings ?? [])];
  const key = keyOf(proposal, choice);
  const column =
    key.by === "column" ? choosable(proposal).find(({ heading }) => heading === key.heading) : null;
  if (column) {
    const { cells = 0, distinct = 0 } = column;
    const rows = proposal.rowCount ?? 0;
    const heading = clip(visible(column.heading ?? ""), 80);
    if (distinct < cells) {
      warnings.push(
        `column "${heading}" has ${count(distinct, "different value")} in ${count(rows, "row")}: rows that share one become one entity`,
      );
    }
    if (cells < rows) {
      warnings.push(
        `column "${heading}" is empty in ${count(rows - cells, "row")}: without a key they are left out`,
      );
    }
  }
  return [...new Set(warnings)];
}

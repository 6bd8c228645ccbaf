// @vitest-environment happy-dom
import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Api } from "../../api/client";
import type { ProposeColumnsResponse } from "../../api/messages";
import { type ConsoleServices, Services } from "../../app/services";
import { headBytes } from "./table";
import { type Table, useTable } from "./useTable";

type Request = Parameters<Api["proposeColumns"]>[0];

/** A call under way: what it was asked, and ways to end it. */
type Pending = {
  request: Request;
  signal: AbortSignal | undefined;
  answer: (value: ProposeColumnsResponse) => void;
  fail: (error: Error) => void;
};

let calls: Pending[];
let table: Table;
let root: HTMLElement;

const proposeColumns: Api["proposeColumns"] = (request, options) =>
  new Promise((answer, fail) => calls.push({ request, signal: options?.signal, answer, fail }));

function Looking({ file }: { file?: File | undefined }) {
  table = useTable(file);
  return null;
}

const look = (file?: File) =>
  act(() =>
    render(
      <Services.Provider value={{ api: { proposeColumns } } as unknown as ConsoleServices}>
        <Looking file={file} />
      </Services.Provider>,
      root,
    ),
  );
/** Ends a call, and waits until that was seen. */
const end = (call: number, how: (pending: Pending) => void) =>
  act(async () => {
    const pending = calls[call];
    if (!pending) {
      throw new Error(`there is no call ${call}`);
    }
    how(pending);
    await new Promise((seen) => setTimeout(seen));
  });
const answer = (call: number, key: string) =>
  end(call, (pending) => pending.answer({ key, columns: [{ heading: key }] }));

const towns = new File(["town,people\n"], "towns.csv");

beforeEach(() => {
  calls = [];
  root = document.createElement("div");
});
afterEach(() => act(() => render(null, root)));

test("a table is looked at once, and is loaded as proposed", async () => {
  await look(towns);
  expect(table).toMatchObject({ pending: true, options: {} });
  expect(calls[0]?.request).toMatchObject({ file: "towns.csv", whole: true, separator: "" });
  await answer(0, "town");
  expect(table).toMatchObject({ pending: false, options: { columns: { subject: "town" } } });
  await look(towns);
  expect(calls).toHaveLength(1);
});

test("of a large table only the head is sent", async () => {
  await look(new File(["x".repeat(headBytes + 1)], "large.csv"));
  expect(calls[0]?.request.whole).toBe(false);
  expect(calls[0]?.request.head.size).toBe(headBytes);
});

test("a file that is no table is not looked at", async () => {
  await look(new File(["<a> <b> <c> ."], "facts.nt"));
  expect(calls).toHaveLength(0);
  expect(table).toMatchObject({ pending: false, options: {} });
});

test("a file of tabs is looked at where its first line names the columns", async () => {
  await look(new File(["a\tb\tc\n"], "facts.tsv"));
  expect(calls).toHaveLength(0);
  await act(() => table.choose({ headed: true }));
  await answer(0, "a");
  expect(table.options).toEqual({ format: "FORMAT_CSV", columns: { subject: "a" } });
  await act(() => table.choose({ headed: false }));
  expect(table).toMatchObject({ pending: false, proposal: undefined, options: {} });
});

test("another separator makes other columns, of which nothing is chosen yet", async () => {
  await look(towns);
  await answer(0, "town;people");
  await act(() => table.choose({ key: { by: "row" }, rowName: "city" }));
  expect(table.options).toMatchObject({ columns: { rows: "city" } });
  await act(() => table.choose({ separator: ";" }));
  expect(table).toMatchObject({ pending: true, proposal: undefined, options: {} });
  await answer(1, "town");
  expect(table.options).toMatchObject({ columns: { subject: "town", separator: ";" } });
});

test("another file is looked at anew, and what was chosen for the one before is forgotten", async () => {
  await look(towns);
  await answer(0, "town");
  await act(() => table.choose({ key: { by: "row" } }));
  await look(new File(["river\n"], "rivers.csv"));
  expect(table).toMatchObject({ pending: true, proposal: undefined, options: {} });
  await answer(1, "river");
  expect(table.options).toMatchObject({ columns: { subject: "river" } });
});

test("a table that cannot be looked at can be loaded nonetheless, or looked at again", async () => {
  await look(towns);
  const error = new Error("no text");
  await end(0, (pending) => pending.fail(error));
  expect(table).toMatchObject({ pending: false, error, options: {} });
  await act(() => table.again());
  await answer(1, "town");
  expect(table).toMatchObject({ error: undefined, options: { columns: { subject: "town" } } });
});

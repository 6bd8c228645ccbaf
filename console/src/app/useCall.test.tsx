// @vitest-environment happy-dom
import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Called, useCall } from "./useCall";

/** A call under way: what it was asked, and ways to end it. */
type Pending = {
  asked: string;
  signal: AbortSignal;
  answer: (value: string) => void;
  fail: (error: Error) => void;
};

let calls: Pending[];
let called: Called<string>;
let root: HTMLElement;

function Caller({ asked }: { asked: string }) {
  const call = (signal: AbortSignal) =>
    new Promise<string>((answer, fail) => calls.push({ asked, signal, answer, fail }));
  called = useCall(asked ? call : undefined, [asked]);
  return null;
}

const ask = (asked: string) => act(() => render(<Caller asked={asked} />, root));

beforeEach(() => {
  calls = [];
  root = document.createElement("div");
});
afterEach(() => act(() => render(null, root)));

test("a call is made once, and its answer shown", async () => {
  await ask("a");
  expect(called).toMatchObject({ pending: true });
  await act(async () => calls[0]?.answer("A"));
  expect(called).toMatchObject({ value: "A", pending: false });
  await ask("a");
  expect(calls).toHaveLength(1);
});

test("what is asked anew aborts what was asked, whose answer is not shown", async () => {
  await ask("a");
  await act(async () => calls[0]?.answer("A"));
  await ask("b");
  await ask("c");
  expect(calls[1]?.signal.aborted).toBe(true);
  expect(called).toMatchObject({ value: "A", pending: true });
  await act(async () => {
    calls[2]?.answer("C");
    calls[1]?.answer("B");
  });
  expect(called).toMatchObject({ value: "C", pending: false });
});

test("after an error one can ask again", async () => {
  await ask("a");
  const error = new Error("away");
  await act(async () => calls[0]?.fail(error));
  expect(called).toMatchObject({ error, pending: false });
  await act(() => called.again());
  await act(async () => calls[1]?.answer("A"));
  expect(called).toMatchObject({ value: "A", pending: false });
  expect(called.error).toBeUndefined();
});

test("where nothing is asked nothing is called", async () => {
  await ask("");
  expect(calls).toHaveLength(0);
  expect(called).toMatchObject({ pending: false });
});

test("the end of the page aborts the call", async () => {
  await ask("a");
  await act(() => render(null, root));
  expect(calls[0]?.signal.aborted).toBe(true);
});

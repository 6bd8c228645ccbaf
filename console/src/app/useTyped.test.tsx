// @vitest-environment happy-dom
import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test } from "vitest";
import { useTyped } from "./useTyped";

let typed: string;
let type: (text: string) => void;
let root: HTMLElement;

function Field({ text }: { text: string }) {
  [typed, type] = useTyped(text);
  return null;
}

const show = (text: string) => act(() => render(<Field text={text} />, root));

beforeEach(() => {
  root = document.createElement("div");
});
afterEach(() => act(() => render(null, root)));

test("what is typed before the first effects stays", async () => {
  await act(() => {
    render(<Field text="" />, root);
    type("robert");
  });
  expect(typed).toBe("robert");
});

test("a text that changes otherwise is shown", async () => {
  await show("a");
  await act(() => type("ab"));
  expect(typed).toBe("ab");
  await show("c");
  expect(typed).toBe("c");
  await show("");
  expect(typed).toBe("");
});

test("the same text again leaves what is typed", async () => {
  await show("a");
  await act(() => type("ab"));
  await show("a");
  expect(typed).toBe("ab");
});

// @vitest-environment happy-dom
import { render } from "preact";
import { act } from "preact/test-utils";
import { expect, test, vi } from "vitest";
import { Dialog } from "./Dialog";

function open(onClose: () => void) {
  const root = document.createElement("div");
  act(() => render(<Dialog title="Drop films?" onClose={onClose} children="All of it." />, root));
  const dialog = root.querySelector("dialog");
  if (!dialog) {
    throw new Error("no dialog was rendered");
  }
  return { root, dialog };
}

test("a dialog that the browser closes calls onClose", () => {
  const onClose = vi.fn();
  const { dialog } = open(onClose);
  dialog.dispatchEvent(new Event("close"));
  expect(onClose).toHaveBeenCalledTimes(1);
});

test("the close event of a removed dialog is ignored", () => {
  const onClose = vi.fn();
  const { root, dialog } = open(onClose);
  act(() => render(null, root));
  dialog.dispatchEvent(new Event("close"));
  expect(onClose).not.toHaveBeenCalled();
});

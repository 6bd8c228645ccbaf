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

test("the browser's end of a window closes it", () => {
  const onClose = vi.fn();
  const { dialog } = open(onClose);
  dialog.dispatchEvent(new Event("close"));
  expect(onClose).toHaveBeenCalledTimes(1);
});

test("what the browser tells of a window that is gone closes no other one", () => {
  const onClose = vi.fn();
  const { root, dialog } = open(onClose);
  act(() => render(null, root));
  onClose.mockClear();
  dialog.dispatchEvent(new Event("close"));
  expect(onClose).not.toHaveBeenCalled();
});

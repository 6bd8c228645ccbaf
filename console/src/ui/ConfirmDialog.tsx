import type { ComponentChildren } from "preact";
import { Dialog } from "./Dialog";

/** Asks once more before something that cannot be taken back, or that others notice. */
export function ConfirmDialog({
  title,
  action,
  danger = false,
  onConfirm,
  onCancel,
  children,
}: {
  title: string;
  /** What the button that does it says. */
  action: string;
  danger?: boolean;
  onConfirm: () => void;
  onCancel: () => void;
  children: ComponentChildren;
}) {
  return (
    <Dialog title={title} onClose={onCancel}>
      <div class="dialog-text">{children}</div>
      <p class="dialog-actions">
        <button type="button" class="button" onClick={onCancel}>
          Cancel
        </button>
        <button type="button" class={`button ${danger ? "danger" : "primary"}`} onClick={onConfirm}>
          {action}
        </button>
      </p>
    </Dialog>
  );
}

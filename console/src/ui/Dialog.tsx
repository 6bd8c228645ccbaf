import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Icon } from "./Icon";
import "./dialog.css";

/**
 * A window over the page. The browser keeps the focus in it and ends it at
 * Escape; the focus goes back to where it was.
 */
export function Dialog({
  title,
  onClose,
  children,
}: {
  title: ComponentChildren;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const box = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = box.current;
    const before = document.activeElement;
    if (dialog && !dialog.open) {
      dialog.showModal();
    }
    return () => {
      dialog?.close();
      // The browser does so only where the window is still in the page.
      if (before instanceof HTMLElement) {
        before.focus();
      }
    };
  }, []);
  return (
    <dialog
      ref={box}
      class="dialog"
      aria-labelledby={id}
      // The event comes in a later frame, when another dialog may be open in place of one that was removed.
      onClose={() => box.current && onClose()}
      onClick={(event) => event.target === box.current && onClose()}
      onKeyDown={(event) => event.key === "Escape" && onClose()}
    >
      <div class="dialog-body">
        <header class="dialog-head">
          <h2 id={id}>{title}</h2>
          <button type="button" class="icon-button" aria-label="Close" onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

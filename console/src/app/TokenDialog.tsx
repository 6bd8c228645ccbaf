import { useState } from "preact/hooks";
import { Dialog } from "../ui/Dialog";
import { useServices } from "./services";

/** Asks for the reader's token. */
export function TokenDialog({ onClose }: { onClose: () => void }) {
  const { token } = useServices();
  const [typed, type] = useState("");
  return (
    <Dialog title="Your token" onClose={onClose}>
      <form
        class="token-form"
        onSubmit={(event) => {
          event.preventDefault();
          token.set(typed);
          onClose();
        }}
      >
        <p>
          {token.wanted.value
            ? token.value.value
              ? "The mesh does not take the token you gave. It may have ended or been revoked."
              : "This mesh wants to know who asks."
            : "With a token the mesh knows who asks."}{" "}
          It is kept in this tab until you close it, and goes to this mesh alone.
        </p>
        <label class="field">
          Token
          <input
            type="password"
            required
            autoComplete="off"
            spellcheck={false}
            value={typed}
            onInput={(event) => type(event.currentTarget.value)}
          />
          <span class="hint">
            Whoever runs the mesh makes one: <code>triplemesh token new</code>
          </span>
        </label>
        <p class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            Not now
          </button>
          <button type="submit" class="button primary" disabled={!typed.trim()}>
            Use it
          </button>
        </p>
      </form>
    </Dialog>
  );
}

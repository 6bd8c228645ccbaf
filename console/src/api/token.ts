import { type Signal, signal } from "@preact/signals";

/** The reader's token. */
export type Token = {
  /** The token; empty where none was given. */
  value: Signal<string>;
  /** Whether the mesh has refused a call for want of a (good) token. */
  wanted: Signal<boolean>;
  /** Takes a token until the tab is closed; an empty one forgets it. */
  set(token: string): void;
};

const key = "triplemesh.token";

/** Reads the token kept in this tab. */
export function createToken(storage: Storage): Token {
  const value = signal(storage.getItem(key) ?? "");
  const wanted = signal(false);
  return {
    value,
    wanted,
    set(token) {
      value.value = token.trim();
      wanted.value = false;
      if (value.value) {
        storage.setItem(key, value.value);
      } else {
        storage.removeItem(key);
      }
    },
  };
}

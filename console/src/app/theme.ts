import { effect, type Signal, signal } from "@preact/signals";

/** What the reader chose: the system's colours, or always these. */
export type ThemeChoice = "system" | "light" | "dark";

/** The choice of colours. */
export type Theme = { choice: Signal<ThemeChoice> };

const key = "triplemesh.theme";

/** Reads the choice kept before, and keeps and shows every new one. */
export function createTheme(storage: Storage, page: HTMLElement): Theme {
  const kept = storage.getItem(key);
  const choice = signal<ThemeChoice>(kept === "light" || kept === "dark" ? kept : "system");
  effect(() => {
    if (choice.value === "system") {
      storage.removeItem(key);
      delete page.dataset.theme;
      return;
    }
    storage.setItem(key, choice.value);
    page.dataset.theme = choice.value;
  });
  return { choice };
}

import { type ReadonlySignal, signal } from "@preact/signals";

/** A place in the console: "#/kgs/wikidata?entity=Paris". */
export type Place = {
  /** The parts of its path, decoded: ["kgs", "wikidata"]. */
  path: string[];
  /** What stands behind the question mark. */
  query: URLSearchParams;
};

/** Where the reader is, and the ways to other places. */
export type Router = {
  place: ReadonlySignal<Place>;
  /** Goes to a place, as a new entry of the history. */
  go(path: string[], query?: Record<string, string>): void;
  /**
   * Renames the place the reader is at, without an entry of its own. Nothing is renamed where a link to another place
   * was followed meanwhile: the page that asks for it may still be leaving, and the window has the new address before
   * its event comes.
   */
  replace(path: string[], query?: Record<string, string>): void;
};

/** Reads the part of an address behind "#". What cannot be decoded is taken as it is. */
export function parsePlace(hash: string): Place {
  const bare = hash.replace(/^#?\/?/, "");
  const mark = bare.indexOf("?");
  const path = mark < 0 ? bare : bare.slice(0, mark);
  return {
    path: path.split("/").filter(Boolean).map(decode),
    query: new URLSearchParams(mark < 0 ? "" : bare.slice(mark + 1)),
  };
}

/** The address of a place, for links. Empty values are left out. */
export function href(path: string[], query: Record<string, string> = {}): string {
  const kept = Object.entries(query).filter(([, value]) => value !== "");
  const search = new URLSearchParams(kept).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${search ? `?${search}` : ""}`;
}

/** A router over a window's address. */
export function createRouter(window: Window): Router {
  let shown = window.location.hash;
  const place = signal(parsePlace(shown));
  const show = () => {
    shown = window.location.hash;
    place.value = parsePlace(shown);
  };
  window.addEventListener("hashchange", show);
  return {
    place,
    go(path, query) {
      window.location.hash = href(path, query);
    },
    replace(path, query) {
      const page = place.value.path[0] ?? path[0]; // the first page needs no address
      if (window.location.hash === shown && page === path[0]) {
        window.history.replaceState(null, "", href(path, query));
        show();
      }
    },
  };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

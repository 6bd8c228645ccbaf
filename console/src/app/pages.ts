import type { FunctionComponent } from "preact";
import type { Place } from "./router";

/** A page of the console. */
export type Page = {
  /** The first part of its path. */
  path: string;
  /** What the navigation calls it. */
  label: string;
  /** Fetches its code, when it is first gone to. */
  load: () => Promise<{ default: FunctionComponent<Place> }>;
};

/** The pages, in the order of the navigation; the first is where readers land. */
export const pages: Page[] = [
  { path: "ask", label: "Ask", load: () => import("../pages/ask/AskPage") },
  { path: "compare", label: "Compare", load: () => import("../pages/compare/ComparePage") },
  { path: "check", label: "Check", load: () => import("../pages/check/CheckPage") },
  { path: "runs", label: "Runs", load: () => import("../pages/runs/RunsPage") },
  { path: "kgs", label: "Graphs", load: () => import("../pages/kgs/KgsPage") },
  { path: "reports", label: "Reports", load: () => import("../pages/reports/ReportsPage") },
  { path: "mesh", label: "Mesh", load: () => import("../pages/mesh/MeshPage") },
];

/** The page at a place; undefined where there is none. */
export function pageAt(place: Place): Page | undefined {
  const first = place.path[0];
  return first === undefined ? pages[0] : pages.find((page) => page.path === first);
}

import type { StylesheetJson } from "cytoscape";
import type { Mark } from "./graph";

/** The colours of the page, as a canvas needs them. */
export type Colours = Record<
  | "ink"
  | "muted"
  | "surface"
  | "sunk"
  | "line"
  | "accent"
  | "model"
  | "graph"
  | "fixed"
  | "keep"
  | "replace"
  | "add"
  | "delete",
  string
>;

/** How a mark looks besides its colour: a sign before the relation, and a kind of line. */
export const marks: Record<
  Mark,
  {
    sign: string;
    label: string;
    colour: keyof Colours;
    line: "solid" | "dashed" | "dotted";
    width: number;
    faint?: boolean;
  }
> = {
  keep: { sign: "=", label: "kept", colour: "keep", line: "solid", width: 2.5 },
  replaced: {
    sign: "⊘",
    label: "replaced",
    colour: "replace",
    line: "dotted",
    width: 2,
    faint: true,
  },
  replacing: { sign: "⇄", label: "replacement", colour: "replace", line: "solid", width: 3 },
  add: { sign: "+", label: "added", colour: "add", line: "solid", width: 3 },
  delete: {
    sign: "✕",
    label: "deleted",
    colour: "delete",
    line: "dotted",
    width: 2.5,
    faint: true,
  },
  draft: { sign: "", label: "draft", colour: "model", line: "dashed", width: 2.5 },
  evidence: { sign: "", label: "evidence", colour: "graph", line: "solid", width: 2 },
  fixed: { sign: "", label: "fixed", colour: "fixed", line: "solid", width: 2.5 },
};

/** Reads the page's colours, whichever scheme it is in. */
export function coloursOf(element: HTMLElement): Colours {
  const probe = document.createElement("span");
  probe.hidden = true;
  element.append(probe);
  const read = (name: string) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const colours = {
    ink: read("ink"),
    muted: read("muted"),
    surface: read("surface"),
    sunk: read("sunk"),
    line: read("line-strong"),
    accent: read("accent"),
    model: read("model"),
    graph: read("graph"),
    fixed: read("fixed"),
    keep: read("keep"),
    replace: read("replace"),
    add: read("add"),
    delete: read("delete"),
  };
  probe.remove();
  return colours;
}

/** The looks of a picture in these colours. */
export function stylesheet(colours: Colours, font: string): StylesheetJson {
  return [
    {
      selector: "node",
      style: {
        shape: "round-rectangle",
        label: "data(label)",
        "font-family": font,
        "font-size": 14,
        "font-weight": 600,
        "text-valign": "center",
        "text-halign": "center",
        "min-zoomed-font-size": 6,
        width: "data(width)",
        height: 34,
        color: colours.ink,
        "background-color": colours.surface,
        "border-width": 1.5,
        "border-color": colours.line,
      },
    },
    {
      selector: "node[?literal]",
      style: { shape: "rectangle", "background-color": colours.sunk, "font-weight": 400 },
    },
    { selector: "node.topic", style: { "border-width": 3, "border-color": colours.accent } },
    {
      selector: "node.candidate",
      style: { "border-width": 3, "border-style": "dashed", "border-color": colours.replace },
    },
    {
      selector: "node.answer",
      style: { "border-width": 4, "border-style": "double", "border-color": colours.graph },
    },
    {
      selector: "node.dropped",
      style: { "border-width": 3, "border-style": "dotted", "border-color": colours.delete },
    },
    {
      selector: "edge",
      style: {
        "curve-style": "bezier",
        "target-arrow-shape": "triangle",
        "arrow-scale": 1,
        "target-label": "data(label)",
        "target-text-offset": "data(offset)",
        "font-family": font,
        "font-size": 13,
        "min-zoomed-font-size": 6,
        color: colours.muted,
        "text-background-color": colours.surface,
        "text-background-opacity": 1,
        "text-background-padding": "2px",
        width: 2,
        "line-color": colours.line,
        "target-arrow-color": colours.line,
      },
    },
    ...Object.entries(marks).map(([name, mark]) => ({
      selector: `edge.${name}`,
      style: {
        width: mark.width,
        "line-style": mark.line,
        "line-color": colours[mark.colour],
        "target-arrow-color": colours[mark.colour],
        "source-arrow-color": colours[mark.colour],
        color: colours[mark.colour],
        opacity: mark.faint ? 0.75 : 1,
      },
    })),

    {
      selector: "edge.bent",
      style: {
        "curve-style": "segments",
        "edge-distances": "node-position",
        "segment-weights": "data(weight)",
        "segment-distances": "data(distance)",
        "source-endpoint": "50% 0",
        "target-endpoint": "data(end)",
      },
    },
    {
      selector: "edge.backwards",
      style: { "target-arrow-shape": "none", "source-arrow-shape": "triangle" },
    },
    { selector: "edge.near", style: { width: 5, "z-index": 9 } },
    { selector: "node.near", style: { "border-color": colours.accent, "border-width": 4 } },
  ] as StylesheetJson;
}

import { useEffect, useRef, useState } from "preact/hooks";
import { useServices } from "../app/services";
import { Icon } from "../ui/Icon";
import { Spinner } from "../ui/Spinner";
import type { Graph } from "./graph";
import { rowsOf } from "./layout";
import type { Picture, PictureEvents } from "./picture";
import "./picture.css";

/**
 * A picture of triples, drawn on a canvas. It is for eyes and pointers: whoever
 * has neither finds the same in the list that stands beside every picture.
 */
export function GraphPicture({
  graph,
  label,
  near = null,
  rows = rowsOf(graph),
  ...events
}: {
  graph: Graph;
  label: string;
  /** The edge to make stand out. */
  near?: string | null;
  /** How many rows to have room for; 0 where it is a large one. */
  rows?: number;
} & PictureEvents) {
  const { theme } = useServices();
  const canvas = useRef<HTMLDivElement>(null);
  const heard = useRef(events);
  heard.current = events;
  const shown = useRef(graph);
  const [picture, setPicture] = useState<Picture>();

  useEffect(() => {
    let drawn: Picture | undefined;
    let gone = false;
    // The library that draws is most of the console's code: it is fetched once
    // there is something to draw.
    import("./picture").then(({ draw }) => {
      if (canvas.current?.isConnected && !gone) {
        drawn = draw(canvas.current, shown.current, {
          onEdge: (id) => heard.current.onEdge?.(id),
          onNode: (name) => heard.current.onNode?.(name),
          onNear: (id) => heard.current.onNear?.(id),
        });
        setPicture(drawn);
      }
    });
    return () => {
      gone = true;
      drawn?.end();
      setPicture(undefined);
    };
  }, []);

  useEffect(() => {
    if (shown.current !== graph) {
      shown.current = graph;
      picture?.become(graph);
    }
  }, [picture, graph]);
  useEffect(() => picture?.near(near), [picture, near]);
  const choice = theme.choice.value;
  useEffect(() => {
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const recolour = () => picture?.recolour();
    if (choice) {
      recolour();
    }
    scheme.addEventListener("change", recolour);
    return () => scheme.removeEventListener("change", recolour);
  }, [picture, choice]);

  return (
    <figure class="picture" style={{ height: `${height(rows)}rem` }}>
      {/* The library would add a style of its own, which the page's policy
          forbids; it does not where it finds this name. */}
      <span id="__________cytoscape_stylesheet" hidden />
      <div class="picture-canvas" ref={canvas} role="img" aria-label={label} />
      {picture ? null : <Spinner label="Drawing" />}
      <figcaption class="picture-tools">
        <button
          type="button"
          class="icon-button"
          aria-label="Zoom in"
          title="Zoom in"
          onClick={() => picture?.zoom(1.3)}
        >
          <Icon name="plus" />
        </button>
        <button
          type="button"
          class="icon-button"
          aria-label="Zoom out"
          title="Zoom out"
          onClick={() => picture?.zoom(1 / 1.3)}
        >
          <Icon name="minus" />
        </button>
        <button
          type="button"
          class="icon-button"
          aria-label="Fit the graph"
          title="Fit"
          onClick={() => picture?.fit()}
        >
          <Icon name="fit" />
        </button>
      </figcaption>
    </figure>
  );
}

// High enough to read the names of a graph in columns; a large one is zoomed into.
const height = (rows: number): number =>
  rows === 0 ? 32 : Math.min(36, Math.max(15, rows * 2.4 + 4));

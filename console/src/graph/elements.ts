import type { ElementDefinition } from "cytoscape";
import { clip, visible } from "../format/text";
import { type Edge, endsOf, type Graph, type Node } from "./graph";
import { type Bend, type Layout, layout, type Point } from "./layout";
import { marks } from "./style";

/** What the drawing library is given for a graph in a frame of this shape. */
export function elementsOf(graph: Graph, aspect: number): ElementDefinition[] {
  const laid = layout(
    graph,
    { node: widthOf, edge: (edge) => edgeLabel(edge).length * 7.2 },
    aspect,
  );
  return [
    ...graph.nodes.map((node) => nodeElement(node, laid.places.get(node.id) ?? { x: 0, y: 0 })),
    ...graph.edges.map((edge) => edgeElement(edge, laid)),
  ];
}

function nodeElement(node: Node, position: Point): ElementDefinition {
  return {
    data: {
      id: `node ${node.id}`,
      name: node.id,
      label: oneLine(nameOf(node.id)),
      width: widthOf(node.id),
      literal: node.literal,
    },
    position,
    classes: node.role ?? "",
  };
}

function edgeElement(edge: Edge, { places, bends }: Layout): ElementDefinition {
  const [from, to] = endsOf(edge);
  const label = edgeLabel(edge);
  const bend = bends.get(edge.id);
  const [source, target] = [places.get(from), places.get(to)];
  return {
    data: {
      id: edge.id,
      source: `node ${from}`,
      target: `node ${to}`,
      label: oneLine(label),
      // The middle of the words, from the arrow's head.
      offset: label.length * 3.6 + 16,
      ...(bend && source && target ? segment(source, target, bend) : {}),
    },
    classes: [edge.mark, edge.backwards ? "backwards" : "", bend ? "bent" : ""]
      .filter(Boolean)
      .join(" "),
  };
}

// A bend as the library wants it: how far along the line between the middles,
// and how far off it.
function segment(source: Point, target: Point, { at, endsAt }: Bend) {
  const [dx, dy] = [target.x - source.x, target.y - source.y];
  const [px, py] = [at.x - source.x, at.y - source.y];
  const length = Math.hypot(dx, dy) || 1;
  return {
    weight: (px * dx + py * dy) / length ** 2,
    distance: (py * dx - px * dy) / length,
    end: `-50% ${endsAt}px`,
  };
}

const nameOf = (name: string): string => clip(visible(name).replace(/\s+/gu, " "), 26);

function edgeLabel(edge: Edge): string {
  const relation = clip(visible(edge.triple.relation ?? "").replace(/\s+/gu, " "), 26);
  const { sign } = marks[edge.mark];
  return sign ? `${sign} ${relation}` : relation;
}

// A direction of writing ends with the name that has it.
const oneLine = (name: string): string => `\u2068${name}\u2069`;

// Wide enough for the label in the console's letters.
const widthOf = (name: string): number => Math.max(54, Array.from(nameOf(name)).length * 8.4 + 18);

import type { Core } from "cytoscape";
import type { Point } from "./layout";

/** A picture of few triples is not blown up beyond this. */
const largest = 1.15;

/** A picture that would be smaller than this is not shown whole at first. */
export const legible = 0.62;

/** Above this many edges a picture is drawn once and moved as a texture. */
export const many = 120;

/** The room between a picture and its frame. */
const padding = 28;

/**
 * The view that shows all, or, where that would be too small to read, the side
 * where edges begin. `places` says where nodes are to be, where they are still
 * on their way.
 */
export function viewOf(cy: Core, readable = legible, places?: Map<unknown, Point | undefined>) {
  const nodes = cy.nodes().map((node) => ({
    ...(places?.get(node.id()) ?? node.position()),
    half: (node.data("width") as number) / 2,
  }));
  const [x1, x2] = [
    Math.min(...nodes.map(({ x, half }) => x - half)),
    Math.max(...nodes.map(({ x, half }) => x + half)),
  ];
  const [y1, y2] = [
    Math.min(...nodes.map(({ y }) => y)) - 17,
    Math.max(...nodes.map(({ y }) => y)) + 17,
  ];
  const whole = Math.min(
    (cy.width() - 2 * padding) / (x2 - x1),
    (cy.height() - 2 * padding) / (y2 - y1),
  );
  // A picture around hubs has no side to begin at.
  const least = cy.edges(".bent").empty() ? 0 : readable;
  const zoom = Math.min(largest, Math.max(least, whole));
  const wide = zoom * (x2 - x1) > cy.width();
  return {
    zoom,
    pan: {
      x: wide ? padding - zoom * x1 : (cy.width() - zoom * (x1 + x2)) / 2,
      y: (cy.height() - zoom * (y1 + y2)) / 2,
    },
  };
}

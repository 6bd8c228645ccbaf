import cytoscape, { type Core } from "cytoscape";
import { elementsOf } from "./elements";
import type { Graph } from "./graph";
import { coloursOf, stylesheet } from "./style";
import { legible, many, viewOf } from "./view";

/** What a picture tells of. */
export type PictureEvents = {
  /** A triple was chosen. */
  onEdge?: ((id: string) => void) | undefined;
  /** An entity was chosen. */
  onNode?: ((name: string) => void) | undefined;
  /** The pointer came over a triple, or left it. */
  onNear?: ((id: string | null) => void) | undefined;
};

/** A drawn graph. */
export type Picture = {
  /** Becomes the picture of another graph: what is in both moves to its new place. */
  become(graph: Graph): void;
  /** Makes one edge stand out. */
  near(edge: string | null): void;
  fit(): void;
  zoom(by: number): void;
  /** Takes the page's colours again. */
  recolour(): void;
  end(): void;
};

/** How long a picture takes to become another, in milliseconds. */
const slow = 520;

/** Draws a graph into an element of the page. */
export function draw(container: HTMLElement, graph: Graph, events: PictureEvents): Picture {
  const large = graph.edges.length > many;
  const cy = cytoscape({
    container,
    elements: elementsOf(graph, aspectOf(container)),
    autoungrabify: true,
    layout: { name: "preset" },
    style: looks(container),
    minZoom: 0.04,
    maxZoom: 2.5,
    boxSelectionEnabled: false,
    autounselectify: true,
    textureOnViewport: large,
    ...(large ? { pixelRatio: 1 } : {}),
  });
  cy.viewport(viewOf(cy));
  listen(cy, events);
  const release = leaveWheelToPage(container);
  return {
    become(next) {
      become(cy, next);
    },
    near(edge) {
      cy.batch(() => {
        cy.edges(".near").removeClass("near");
        if (edge !== null) {
          cy.getElementById(edge).addClass("near");
        }
      });
    },
    fit() {
      cy.animate(viewOf(cy, 0), { duration: motionless() ? 0 : slow / 2 });
    },
    zoom(by) {
      cy.zoom({
        level: cy.zoom() * by,
        renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 },
      });
    },
    recolour() {
      // What is no longer in the page has no colours to take.
      if (container.isConnected) {
        cy.style(looks(container));
      }
    },
    end() {
      release();
      cy.destroy();
    },
  };
}

function listen(cy: Core, events: PictureEvents) {
  cy.on("tap", "edge", (event) => events.onEdge?.(event.target.id()));
  cy.on("tap", "node", (event) => events.onNode?.(event.target.data("name")));
  cy.on("mouseover", "edge", (event) => events.onNear?.(event.target.id()));
  cy.on("mouseout", "edge", () => events.onNear?.(null));
  cy.on("mouseover", "node, edge", () => cursor(cy, "pointer"));
  cy.on("mouseout", "node, edge", () => cursor(cy, ""));
}

function cursor(cy: Core, shape: string) {
  const container = cy.container();
  if (container) {
    container.style.cursor = shape;
  }
}

// A wheel scrolls the page; it zooms where Ctrl is held, as a pinch does.
function leaveWheelToPage(container: HTMLElement): () => void {
  const wheel = (event: WheelEvent) => {
    if (!event.ctrlKey && !event.metaKey) {
      event.stopPropagation();
    }
  };
  const around = container.parentElement;
  around?.addEventListener("wheel", wheel, { capture: true, passive: true });
  return () => around?.removeEventListener("wheel", wheel, { capture: true });
}

function become(cy: Core, graph: Graph) {
  cy.resize();
  const next = elementsOf(graph, cy.width() / cy.height());
  const ids = new Set(next.map((element) => element.data.id));
  const still = graph.edges.length > many || motionless();
  cy.stop();
  cy.elements().stop(true);
  cy.elements().removeStyle("opacity");
  cy.batch(() => {
    cy.elements()
      .filter((element) => !ids.has(element.id()))
      .remove();
    for (const element of next) {
      const known = cy.getElementById(element.data.id as string);
      if (known.nonempty()) {
        known.data(element.data);
        known.classes(element.classes as string);
      } else {
        cy.add(element).style({ opacity: still ? 1 : 0 });
      }
    }
  });
  const places = new Map(next.map((element) => [element.data.id, element.position]));
  if (still) {
    cy.nodes().positions((node) => places.get(node.id()) ?? { x: 0, y: 0 });
    cy.viewport(viewOf(cy));
    return;
  }
  cy.elements().forEach((element) => {
    if (Number(element.style("opacity")) === 0) {
      // What is new comes once what was there has made room.
      element
        .delay(slow * 0.6)
        .animate(
          { style: { opacity: 1 } },
          { duration: slow / 2, complete: () => element.removeStyle("opacity") },
        );
    } else if (element.isNode()) {
      const position = places.get(element.id()) ?? { x: 0, y: 0 };
      element.animate({ position }, { duration: slow, easing: "ease-in-out-cubic" });
    }
  });
  cy.animate(viewOf(cy, legible, places), { duration: slow, easing: "ease-in-out-cubic" });
}

const motionless = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;

const aspectOf = (frame: HTMLElement): number => frame.clientWidth / frame.clientHeight || 1.6;

function looks(container: HTMLElement) {
  return stylesheet(coloursOf(container), getComputedStyle(container).fontFamily);
}

import cytoscape, { type Core, type ElementDefinition } from "cytoscape";
import { elementsOf } from "./elements";
import type { Graph } from "./graph";
import { coloursOf, stylesheet } from "./style";

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

/** A picture of few triples is not blown up beyond this. */
const largest = 1.15;

/** Above this many elements the picture is drawn once and moved as a texture. */
const many = 120;

/** How long a picture takes to become another, in milliseconds. */
const slow = 520;

/** Draws a graph into an element of the page. */
export function draw(container: HTMLElement, graph: Graph, events: PictureEvents): Picture {
  const large = graph.edges.length > many;
  const cy = cytoscape({
    container,
    elements: elementsOf(graph, aspectOf(container)),
    autoungrabify: true,
    layout: { name: "preset", fit: true, padding },
    style: looks(container),
    minZoom: 0.04,
    maxZoom: 2.5,
    boxSelectionEnabled: false,
    autounselectify: true,
    textureOnViewport: large,
    ...(large ? { pixelRatio: 1 } : {}),
  });
  calm(cy);
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
      cy.fit(undefined, padding);
      calm(cy);
    },
    zoom(by) {
      cy.zoom({
        level: cy.zoom() * by,
        renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 },
      });
    },
    recolour() {
      cy.style(looks(container));
    },
    end() {
      release();
      cy.destroy();
    },
  };
}

const padding = 28;

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
  const still = graph.edges.length > many || matchMedia("(prefers-reduced-motion: reduce)").matches;
  cy.stop();
  cy.elements().stop();
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
    cy.fit(undefined, padding);
    calm(cy);
    return;
  }
  cy.nodes().forEach((node) => {
    node.animate(
      { position: places.get(node.id()) ?? { x: 0, y: 0 } },
      { duration: slow, easing: "ease-in-out-cubic" },
    );
  });
  cy.elements().forEach((element) => {
    if (Number(element.style("opacity")) === 0) {
      // What is new comes once what was there has made room.
      element
        .delay(slow * 0.6)
        .animate(
          { style: { opacity: 1 } },
          { duration: slow / 2, complete: () => element.removeStyle("opacity") },
        );
    }
  });
  cy.animate(
    viewOf(
      cy,
      next.filter(({ position }) => position),
    ),
    { duration: slow, easing: "ease-in-out-cubic" },
  );
}

// The view that shows all of these nodes.
function viewOf(cy: Core, nodes: ElementDefinition[]) {
  const [xs, ys] = [
    nodes.map(({ position }) => position?.x ?? 0),
    nodes.map(({ position }) => position?.y ?? 0),
  ];
  const halves = nodes.map(({ data }) => (data.width as number) / 2);
  const x1 = Math.min(...xs.map((x, i) => x - (halves[i] ?? 0)));
  const x2 = Math.max(...xs.map((x, i) => x + (halves[i] ?? 0)));
  const [y1, y2] = [Math.min(...ys) - 17, Math.max(...ys) + 17];
  const zoom = Math.min(
    largest,
    (cy.width() - 2 * padding) / (x2 - x1),
    (cy.height() - 2 * padding) / (y2 - y1),
  );
  return {
    zoom,
    pan: { x: (cy.width() - zoom * (x1 + x2)) / 2, y: (cy.height() - zoom * (y1 + y2)) / 2 },
  };
}

const aspectOf = (frame: HTMLElement): number => frame.clientWidth / frame.clientHeight || 1.6;

// A picture of two triples is not to fill the screen.
function calm(cy: Core) {
  if (cy.zoom() > largest) {
    cy.zoom(largest);
    cy.center();
  }
}

function looks(container: HTMLElement) {
  return stylesheet(coloursOf(container), getComputedStyle(container).fontFamily);
}

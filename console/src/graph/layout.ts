import { endsOf, type Graph } from "./graph";

/** Where something stands in a picture. */
export type Point = { x: number; y: number };

/** The room between the middles of neighbours. */
export type Spacing = { across: number; down: number };

const roomy: Spacing = { across: 320, down: 46 };

/** The largest layer that is still drawn as one column. */
const tallest = 36;

/**
 * Places a graph's nodes: in layers from left to right where that can be taken
 * in at a glance, around their hubs where there are too many.
 */
export function place(graph: Graph, spacing: Spacing = roomy): Map<string, Point> {
  const layers = layersOf(graph);
  const height = Math.max(0, ...layers.map((layer) => layer.length));
  return height <= tallest ? inLayers(graph, layers, spacing) : aroundHubs(graph);
}

/** How many nodes stand above one another at most; 0 where they stand around hubs. */
export function rowsOf(graph: Graph): number {
  const height = Math.max(0, ...layersOf(graph).map((layer) => layer.length));
  return height <= tallest ? height : 0;
}

/**
 * The places drawn apart from side to side until they fill a frame of this
 * shape, but not beyond twice their width: letters do not grow with them.
 */
export function stretched(places: Map<string, Point>, aspect: number): Map<string, Point> {
  const all = [...places.values()];
  const width = extent(all.map(({ x }) => x));
  const height = extent(all.map(({ y }) => y));
  if (width === 0 || !Number.isFinite(aspect)) {
    return places;
  }
  const by = Math.min(2, Math.max(1, (height * aspect) / width));
  return new Map([...places].map(([id, { x, y }]) => [id, { x: x * by, y }]));
}

const extent = (values: number[]): number =>
  values.length ? Math.max(...values) - Math.min(...values) : 0;

/**
 * The nodes by how many edges lead to them from where edges begin. Where edges
 * only go in circles, the first node is a beginning.
 */
export function layersOf(graph: Graph): string[][] {
  const out = neighbours(graph);
  const targets = new Set([...out.values()].flat());
  const depth = new Map<string, number>();
  const layers: string[][] = [];
  const walk = (beginnings: string[]) => {
    let layer = beginnings;
    for (let at = 0; layer.length > 0; at++) {
      for (const id of layer) {
        depth.set(id, at);
      }
      layers[at] = [...(layers[at] ?? []), ...layer];
      const next = new Set(layer.flatMap((id) => out.get(id) ?? []));
      layer = [...next].filter((id) => !depth.has(id));
    }
  };
  const ids = graph.nodes.map((node) => node.id);
  walk(ids.filter((id) => !targets.has(id)));
  for (const id of ids) {
    if (!depth.has(id)) {
      walk([id]);
    }
  }
  return layers;
}

/** Places layers in columns, each node near those it is joined to. */
export function inLayers(graph: Graph, layers: string[][], spacing: Spacing): Map<string, Point> {
  const places = new Map<string, Point>();
  const before = neighbours(graph, true);
  layers.forEach((layer, column) => {
    const order =
      column === 0 ? layer : sortedBy(layer, (id) => middle(before.get(id) ?? [], places));
    order.forEach((id, row) => {
      places.set(id, {
        x: column * spacing.across,
        y: (row - (order.length - 1) / 2) * spacing.down,
      });
    });
  });
  return places;
}

/**
 * Places every node around the hub it is joined to, in rings like the seeds of
 * a sunflower: no two stand on each other, and it takes no iterations.
 */
export function aroundHubs(graph: Graph): Map<string, Point> {
  const joined = neighbours(graph);
  for (const [id, before] of neighbours(graph, true)) {
    joined.set(id, [...(joined.get(id) ?? []), ...before]);
  }
  const byDegree = sortedBy(
    graph.nodes.map((node) => node.id),
    (id) => -(joined.get(id)?.length ?? 0),
  );
  const clusters: { hub: string; leaves: string[] }[] = [];
  const taken = new Set<string>();
  for (const hub of byDegree) {
    if (taken.has(hub)) {
      continue;
    }
    taken.add(hub);
    const leaves = (joined.get(hub) ?? []).filter((id) => !taken.has(id) && taken.add(id));
    clusters.push({ hub, leaves });
  }
  const places = new Map<string, Point>();
  const golden = Math.PI * (3 - Math.sqrt(5));
  let area = 0;
  clusters.forEach(({ hub, leaves }, i) => {
    const radius = seedDistance * Math.sqrt(leaves.length + 2);
    // As much room as all clusters so far take, so that they do not overlap.
    const away = i === 0 ? 0 : Math.sqrt(area) + radius;
    area += (radius * 1.6) ** 2;
    const centre = { x: away * Math.cos(i * golden) * 1.3, y: away * Math.sin(i * golden) };
    places.set(hub, centre);
    leaves.forEach((leaf, n) => {
      const r = seedDistance * Math.sqrt(n + 2);
      places.set(leaf, {
        x: centre.x + r * Math.cos(n * golden) * 1.5,
        y: centre.y + r * Math.sin(n * golden),
      });
    });
  });
  return places;
}

const seedDistance = 74;

// The other ends of each node's edges, each once.
function neighbours(graph: Graph, backwards = false): Map<string, string[]> {
  const all = new Map<string, Set<string>>(graph.nodes.map((node) => [node.id, new Set()]));
  for (const edge of graph.edges) {
    const [from, to] = endsOf(edge);
    if (from !== to) {
      all.get(backwards ? to : from)?.add(backwards ? from : to);
    }
  }
  return new Map([...all].map(([id, others]) => [id, [...others]]));
}

function middle(ids: string[], places: Map<string, Point>): number {
  const heights = ids.flatMap((id) => places.get(id)?.y ?? []);
  return heights.length ? heights.reduce((sum, y) => sum + y, 0) / heights.length : 0;
}

// Sorts, and keeps the order of equals.
function sortedBy<T>(items: T[], key: (item: T) => number): T[] {
  return items
    .map((item, at) => ({ item, at, key: key(item) }))
    .sort((a, b) => a.key - b.key || a.at - b.at)
    .map(({ item }) => item);
}

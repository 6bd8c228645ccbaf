import { type Edge, endsOf, type Graph } from "./graph";

/** Where something stands in a picture. */
export type Point = { x: number; y: number };

/** How much room words take, in a picture's own units. */
export type Measure = {
  /** How wide a node is. */
  node: (id: string) => number;
  /** How wide an edge's words are. */
  edge: (edge: Edge) => number;
};

/** A graph with its places. */
export type Layout = {
  /** The middles of nodes. */
  places: Map<string, Point>;
  /**
   * Where edges that go to a later column bend, and how far from its target's
   * middle they end: from there on they are level, and carry their words.
   */
  bends: Map<string, Bend>;
};

/** Where an edge bends. */
export type Bend = { at: Point; endsAt: number };

/** The largest column that can still be taken in at a glance. */
const tallest = 36;

/** From the middle of one row to the next. */
const rowHeight = 46;

/** Between a column and where edges from it bend, at least and at most. */
const fan = { least: 70, most: 240 };

/** Between lines that join the same two nodes. */
const parallel = 15;

/**
 * Lays a graph out for a frame of a shape (its width by its height): in columns
 * from left to right where that can be taken in at a glance, around its hubs
 * where there are too many nodes.
 */
export function layout(graph: Graph, measure: Measure, aspect = 1.6): Layout {
  const layers = layersOf(graph);
  return rowsIn(layers) <= tallest
    ? inColumns(graph, layers, measure, aspect)
    : { places: aroundHubs(graph), bends: new Map() };
}

/** How many nodes stand above one another at most; 0 where they stand around hubs. */
export function rowsOf(graph: Graph): number {
  const rows = rowsIn(layersOf(graph));
  return rows <= tallest ? rows : 0;
}

const rowsIn = (layers: string[][]): number => Math.max(0, ...layers.map((layer) => layer.length));

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

/** Places layers in columns, each node near those it is joined to, with room for the words between. */
export function inColumns(
  graph: Graph,
  layers: string[][],
  measure: Measure,
  aspect: number,
): Layout {
  const column = new Map(layers.flatMap((layer, at) => layer.map((id) => [id, at] as const)));
  const forward = graph.edges.filter((edge) => {
    const [from, to] = endsOf(edge);
    return (column.get(from) ?? 0) < (column.get(to) ?? 0);
  });
  const widths = layers.map((layer) => Math.max(...layer.map(measure.node)));
  const words = layers.map((_, at) =>
    Math.max(
      0,
      ...forward
        .filter((edge) => column.get(endsOf(edge)[1]) === at)
        .map((edge) => measure.edge(edge) + 30),
    ),
  );
  const fixed = sum(widths) + sum(words);
  const gaps = Math.max(1, layers.length - 1);
  const spread = clamp((rowsIn(layers) * rowHeight * aspect - fixed) / gaps, fan.least, fan.most);

  const places = new Map<string, Point>();
  const before = neighbours(graph, true);
  let left = 0;
  layers.forEach((layer, at) => {
    left += at === 0 ? 0 : spread + (words[at] ?? 0);
    const wide = widths[at] ?? 0;
    const order = at === 0 ? layer : sortedBy(layer, (id) => middle(before.get(id) ?? [], places));
    order.forEach((id, row) => {
      // The first column leans to the right, towards its edges, the others to the left.
      const half = measure.node(id) / 2;
      places.set(id, {
        x: at === 0 ? left + wide - half : left + half,
        y: (row - (order.length - 1) / 2) * rowHeight,
      });
    });
    left += wide;
  });
  return {
    places,
    bends: bendsOf(forward, places, measure, (id) => words[column.get(id) ?? 0] ?? 0),
  };
}

function bendsOf(
  edges: Edge[],
  places: Map<string, Point>,
  measure: Measure,
  room: (target: string) => number,
): Map<string, Bend> {
  const bends = new Map<string, Bend>();
  const sides = new Map<string, Edge[]>();
  for (const edge of edges) {
    const ends = JSON.stringify(endsOf(edge));
    sides.set(ends, [...(sides.get(ends) ?? []), edge]);
  }
  for (const together of sides.values()) {
    together.forEach((edge, i) => {
      const [, to] = endsOf(edge);
      const target = places.get(to);
      if (target) {
        const endsAt = (i - (together.length - 1) / 2) * parallel;
        bends.set(edge.id, {
          at: { x: target.x - measure.node(to) / 2 - room(to), y: target.y + endsAt },
          endsAt,
        });
      }
    });
  }
  return bends;
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
  return heights.length ? sum(heights) / heights.length : 0;
}

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);

const clamp = (value: number, least: number, most: number): number =>
  Math.min(most, Math.max(least, value));

// Sorts, and keeps the order of equals.
function sortedBy<T>(items: T[], key: (item: T) => number): T[] {
  return items
    .map((item, at) => ({ item, at, key: key(item) }))
    .sort((a, b) => a.key - b.key || a.at - b.at)
    .map(({ item }) => item);
}

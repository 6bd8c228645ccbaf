import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { edgesOf, type Graph, graphOf } from "./graph";
import { aroundHubs, layersOf, layout, type Measure, rowsOf } from "./layout";

const measure: Measure = { node: () => 100, edge: () => 60 };

/** "a-b c-d" is a graph of two triples. */
const graph = (text: string): Graph =>
  graphOf(
    edgesOf(
      text.split(" ").map((pair) => ({
        subject: pair.split("-")[0] ?? "",
        relation: "r",
        object: pair.split("-")[1] ?? "",
      })),
      "evidence",
    ),
  );

const star = (leaves: number) =>
  graph(Array.from({ length: leaves }, (_, i) => `hub-leaf${i}`).join(" "));

describe("layersOf", () => {
  it.each([
    ["a star has its hub first", "a-b a-c", [["a"], ["b", "c"]]],
    ["a chain has a layer for each hop", "a-b b-c", [["a"], ["b"], ["c"]]],
    ["a node stands where the shortest way leads", "a-b b-c a-c", [["a"], ["b", "c"]]],
    ["a circle begins at its first node", "a-b b-a", [["a"], ["b"]]],
    ["a node that leads to itself is a beginning", "a-a", [["a"]]],
    [
      "graphs apart begin together",
      "a-b c-d",
      [
        ["a", "c"],
        ["b", "d"],
      ],
    ],
    [
      "a circle beside a chain is not lost",
      "a-b c-d d-c",
      [
        ["a", "c"],
        ["b", "d"],
      ],
    ],
  ])("%s", (_, text, layers) => {
    expect(layersOf(graph(text))).toEqual(layers);
  });

  it("follows a walk that goes against a triple", () => {
    const backwards = graph("b-a");
    backwards.edges = backwards.edges.map((edge) => ({ ...edge, backwards: true }));
    expect(layersOf(backwards)).toEqual([["a"], ["b"]]);
  });
});

describe("layout", () => {
  const letter = fc.constantFrom(..."abcdefgh");
  const graphs = fc
    .array(fc.tuple(letter, letter), { minLength: 1 })
    .map((pairs) => graph(pairs.map((p) => p.join("-")).join(" ")));

  it("places every node, and no two on each other", () => {
    fc.assert(
      fc.property(graphs, (any) => {
        const { places } = layout(any, measure);
        const spots = [...places.values()].map(({ x, y }) => `${Math.round(x)} ${Math.round(y)}`);
        expect(places.size).toBe(any.nodes.length);
        expect(new Set(spots).size).toBe(spots.length);
      }),
    );
  });

  it("leaves room for the words of an edge before its arrow", () => {
    const { places, bends } = layout(graph("a-b"), measure);
    const left = (places.get("b")?.x ?? 0) - 50;
    const bend = [...bends.values()][0];
    expect(left - (bend?.at.x ?? left)).toBeGreaterThanOrEqual(60);
    expect(bend?.at.x).toBeGreaterThan((places.get("a")?.x ?? 0) + 50);
  });

  it("keeps two triples between the same nodes apart", () => {
    const both = graphOf(
      edgesOf(
        [
          { subject: "a", relation: "born in", object: "b" },
          { subject: "a", relation: "lives in", object: "b" },
        ],
        "evidence",
      ),
    );
    const ends = [...layout(both, measure).bends.values()].map((bend) => bend.endsAt);
    expect(new Set(ends).size).toBe(2);
  });

  it("does not bend an edge that leads back", () => {
    expect(layout(graph("a-b b-a"), measure).bends.size).toBe(1);
  });

  it("fills a wide frame, and does not fall apart in it", () => {
    const wide = (aspect: number) => layout(star(10), measure, aspect).places.get("leaf0")?.x ?? 0;
    expect(wide(3)).toBeGreaterThan(wide(1));
    expect(wide(1000)).toBe(wide(2000));
  });

  it("goes from columns to hubs where a column would be too tall", () => {
    expect(rowsOf(star(36))).toBe(36);
    expect(rowsOf(star(37))).toBe(0);
    expect(layout(star(37), measure).bends.size).toBe(0);
  });

  it("lays out nothing", () => {
    expect(layout({ nodes: [], edges: [] }, measure).places.size).toBe(0);
  });
});

describe("aroundHubs", () => {
  it("keeps 500 leaves apart from each other", () => {
    const points = [...aroundHubs(star(500)).values()];
    let nearest = Number.POSITIVE_INFINITY;
    for (const [i, a] of points.entries()) {
      for (const b of points.slice(i + 1)) {
        nearest = Math.min(nearest, Math.hypot(a.x - b.x, a.y - b.y));
      }
    }
    expect(points).toHaveLength(501);
    expect(nearest).toBeGreaterThan(60);
  });

  it("is the same every time", () => {
    expect(aroundHubs(star(50))).toEqual(aroundHubs(star(50)));
  });
});

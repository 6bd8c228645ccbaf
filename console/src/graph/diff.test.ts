import { describe, expect, it } from "vitest";
import type { Edit, PgAkvGraphs, Triple } from "../api/messages";
import { countEdits, edgesOfEdit, threeGraphs } from "./diff";

const triple = (object: string): Triple => ({
  subject: "Steven Tyler",
  relation: "instrument",
  object,
});
const evidence = (object: string, score: number) => [{ triple: triple(object), score }];

describe("edgesOfEdit", () => {
  it.each<[string, Edit, [string, string][]]>([
    [
      "a kept draft is one edge",
      { kind: "EDIT_KIND_KEEP", before: triple("voice") },
      [["keep", "voice"]],
    ],
    [
      "a replacement is two, what goes and what comes",
      { kind: "EDIT_KIND_REPLACE", before: triple("drums"), after: triple("voice") },
      [
        ["replaced", "drums"],
        ["replacing", "voice"],
      ],
    ],
    ["an addition is one", { kind: "EDIT_KIND_ADD", after: triple("voice") }, [["add", "voice"]]],
    [
      "a deletion is one",
      { kind: "EDIT_KIND_DELETE", before: triple("drums") },
      [["delete", "drums"]],
    ],
    ["an edit of no kind is none", { before: triple("drums") }, []],
    ["an addition of nothing is none", { kind: "EDIT_KIND_ADD" }, []],
  ])("%s", (_, edit, marks) => {
    expect(edgesOfEdit(edit).map((edge) => [edge.mark, edge.triple.object])).toEqual(marks);
  });

  it("names what stands in whose place", () => {
    const [gone, come] = edgesOfEdit({
      kind: "EDIT_KIND_REPLACE",
      before: triple("drums"),
      after: triple("voice"),
    });
    expect([gone?.instead?.object, come?.instead?.object]).toEqual(["voice", "drums"]);
  });

  it("takes the best score of the evidence, and none where there is none", () => {
    const edit: Edit = {
      kind: "EDIT_KIND_KEEP",
      after: triple("voice"),
      evidence: [...evidence("voice", 0.4), ...evidence("voice", 0.9)],
    };
    expect(edgesOfEdit(edit)[0]?.score).toBe(0.9);
    expect(edgesOfEdit({ ...edit, evidence: [] })[0]?.score).toBeUndefined();
  });
});

describe("threeGraphs", () => {
  const graphs: PgAkvGraphs = {
    pseudoGraph: { triples: [triple("drums"), triple("harmonica")] },
    groundGraph: { subjects: [{ subject: "Steven Tyler", triples: evidence("voice", 0.8) }] },
    edits: [
      {
        kind: "EDIT_KIND_REPLACE",
        before: triple("drums"),
        after: triple("voice"),
        evidence: evidence("voice", 0.8),
      },
      { kind: "EDIT_KIND_KEEP", before: triple("harmonica"), after: triple("harmonica") },
    ],
    fixedGraph: {
      triples: [
        { triple: triple("voice"), status: "TRIPLE_STATUS_SUPPORTED" },
        { triple: triple("harmonica"), status: "TRIPLE_STATUS_UNVERIFIED" },
      ],
    },
  };

  it("tells what each graph holds", () => {
    const three = threeGraphs(graphs);
    const objects = (edges: { triple: Triple }[]) => edges.map((edge) => edge.triple.object);
    expect(objects(three.draft)).toEqual(["drums", "harmonica"]);
    expect(objects(three.ground)).toEqual(["voice"]);
    expect(objects(three.changes)).toEqual(["drums", "voice", "harmonica"]);
    expect(three.counts).toEqual({ keep: 1, replace: 1, add: 0, delete: 0 });
  });

  it("shows in the fixed graph what no evidence supports as the draft it is", () => {
    const { fixed } = threeGraphs(graphs);
    expect(fixed.map((edge) => [edge.mark, edge.score])).toEqual([
      ["fixed", 0.8],
      ["draft", undefined],
    ]);
  });

  it("gives a triple the same id in every graph, so that it stays where it is drawn", () => {
    const three = threeGraphs(graphs);
    expect(three.draft[1]?.id).toBe(three.changes[2]?.id);
    expect(three.ground[0]?.id).toBe(three.changes[1]?.id);
  });

  it("gives triples that say the same twice ids of their own", () => {
    const { draft } = threeGraphs({ pseudoGraph: { triples: [triple("voice"), triple("voice")] } });
    expect(new Set(draft.map((edge) => edge.id)).size).toBe(2);
  });

  it("is empty where a run has made nothing yet", () => {
    expect(threeGraphs({})).toEqual({
      draft: [],
      ground: [],
      changes: [],
      fixed: [],
      counts: countEdits([]),
    });
  });
});

import type { NeighboursResponse, RelationCount, Triple } from "../../api/messages";
import { toNumber } from "../../format/quantity";
import { type Edge, edgesOf, sameAs } from "../../graph/graph";

/** The triples of an entity that have one relation, in one direction. */
export type Group = {
  relation: string;
  /** Whether the entity is the object. */
  inverse: boolean;
  /** How many there are; those at hand may be fewer. */
  total: number;
  triples: Triple[];
};

/** The triples around an entity by relation and direction, the entity as subject first. */
export function groupsOf({ entity, relations, triples = [] }: NeighboursResponse): Group[] {
  const name = entity?.name ?? "";
  const groups = (relations ?? []).map((counted: RelationCount): Group => {
    const { relation = "", inverse = false } = counted;
    const has = (triple: Triple) =>
      triple.relation === relation && (inverse ? triple.object : triple.subject) === name;
    return { relation, inverse, total: toNumber(counted.triples), triples: triples.filter(has) };
  });
  return groups.toSorted((a, b) => Number(a.inverse) - Number(b.inverse));
}

/** The end of a triple that a group's entity leads to: its name, id, and whether it is a value. */
export function otherEnd(triple: Triple, inverse: boolean) {
  const { subject = "", subjectId = "", object = "", objectId = "", objectKind } = triple;
  const literal = !inverse && !/^(TERM_KIND_(UNSPECIFIED|MEDIATOR))?$/.test(objectKind ?? "");
  return inverse
    ? { name: subject, id: subjectId, literal }
    : { name: object, id: objectId, literal };
}

/** The edges of a picture in which several entities were expanded, each triple once. */
export function edgesAround(expanded: Triple[][]): Edge[] {
  const once = new Map(expanded.flat().map((triple) => [sameAs(triple), triple]));
  return edgesOf([...once.values()], "evidence");
}

/** The names in an address, written as JSON; none of what is not a list of names. */
export function namesIn(text: string | null): string[] {
  try {
    const names: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(names) ? names.filter((name) => typeof name === "string" && name) : [];
  } catch {
    return [];
  }
}

/** A name without the key that tells it from its namesakes: "Springfield (Q28515)". */
export function bareName(name: string, id: string | undefined): string {
  const [, bare = name, key = ""] = /^(.+) \(([^()]+)\)$/.exec(name) ?? [];
  return key && id?.endsWith(key) ? bare : name;
}

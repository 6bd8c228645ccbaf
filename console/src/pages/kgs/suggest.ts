import type { EntityLink } from "../../api/messages";

/** What is looked up for words that are being typed: all of them, and all but the unfinished last. */
export function lookupsFor(typed: string): string[] {
  const words = typed.trim().split(/\s+/);
  const finished = words.slice(0, -1).join(" ");
  return [words.join(" "), finished].filter((text) => text.length > 1);
}

/** The links whose names have each typed word at the beginning of one of theirs, each once. */
export function completing(typed: string, links: EntityLink[], most: number): EntityLink[] {
  const wanted = wordsOf(typed);
  const once = new Map<string, EntityLink>();
  for (const link of links) {
    const words = wordsOf(link.entity ?? "");
    if (wanted.every((start) => words.some((word) => word.startsWith(start)))) {
      once.set(link.entity ?? "", once.get(link.entity ?? "") ?? link);
    }
  }
  return [...once.values()].slice(0, most);
}

// Letters alone, without case and accents.
function wordsOf(text: string): string[] {
  const plain = text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
  return plain.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
}

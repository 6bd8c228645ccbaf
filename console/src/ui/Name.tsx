import { clip } from "../format/text";

/**
 * A name out of a knowledge graph or a model: only ever text, in its own
 * direction of writing, cut where it is long, whole on hover.
 */
export function Name({ children, most = 80 }: { children: string; most?: number }) {
  const shown = clip(children, most);
  return <bdi title={shown === children ? undefined : children}>{shown}</bdi>;
}

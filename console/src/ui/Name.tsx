import { clip, visible } from "../format/text";

/**
 * A name out of a knowledge graph or a model: only ever text, in its own
 * direction of writing, cut where it is long, whole on hover.
 */
export function Name({ children, most = 80 }: { children: string; most?: number }) {
  const whole = visible(children);
  const shown = clip(whole, most);
  return <bdi title={shown === whole ? undefined : whole}>{shown}</bdi>;
}

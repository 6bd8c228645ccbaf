import { clip, visible } from "../format/text";

/**
 * A name out of a knowledge graph or a model: only ever text, in its own
 * direction of writing, cut where it is long, whole on hover; with the entity's
 * id, where that differs from the name.
 */
export function Name({
  children,
  most = 80,
  id,
}: {
  children: string;
  most?: number;
  id?: string | undefined;
}) {
  const whole = visible(children);
  const shown = clip(whole, most);
  const more = [shown === whole ? "" : whole, id && id !== children ? visible(id) : ""];
  return <bdi title={more.filter(Boolean).join(" · ") || undefined}>{shown}</bdi>;
}

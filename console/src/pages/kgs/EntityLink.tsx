import { href } from "../../app/router";
import { Name } from "../../ui/Name";

/** Leads to what a knowledge graph holds around an entity. */
export function EntityLink({
  kg,
  snapshot,
  entity,
  id,
}: {
  kg: string;
  snapshot: string;
  entity: string;
  id?: string | undefined;
}) {
  return (
    <a href={href(["kgs", kg], { entity, snapshot })}>
      <Name id={id}>{entity}</Name>
    </a>
  );
}

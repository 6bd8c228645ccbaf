import { href } from "../../app/router";
import { Name } from "../../ui/Name";

/** Leads to an entity's page: by its id, which stays the same where names change. */
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
    <a href={href(["kgs", kg], { entity: id || entity, snapshot })}>
      <Name id={id}>{entity}</Name>
    </a>
  );
}

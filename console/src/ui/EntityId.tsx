import type { Entity } from "../api/messages";
import { EntityName } from "./EntityName";

/** The id of an entity, a link where it is a web address; nothing where it is the name. */
export function EntityId({ entity }: { entity: Entity | undefined }) {
  const { id = "", name } = entity ?? {};
  if (!id || id === name) {
    return null;
  }
  return (
    <span class="entity-id">
      {"Id: "}
      <EntityName name={id} id={id} most={240} />
    </span>
  );
}

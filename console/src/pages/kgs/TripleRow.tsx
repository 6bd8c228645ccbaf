import type { ComponentChildren } from "preact";
import type { Triple } from "../../api/messages";
import { Name } from "../../ui/Name";
import { Provenance } from "../../ui/Provenance";
import { EntityLink } from "./EntityLink";
import "../../ui/triple.css";

/** A triple in a table; its ends lead on, unless the object is a value. */
export function TripleRow({
  kg,
  snapshot,
  triple,
  children,
}: {
  kg: string;
  snapshot: string;
  triple: Triple;
  children?: ComponentChildren;
}) {
  const { subject = "", relation = "", object = "", objectKind, validity } = triple;
  const entity = !objectKind || /UNSPECIFIED|MEDIATOR/.test(objectKind);
  return (
    <tr>
      <td>
        <EntityLink kg={kg} snapshot={snapshot} entity={subject} id={triple.subjectId} />
      </td>
      <td>
        <span class="triple-relation">
          <Name>{relation}</Name>
        </span>
      </td>
      <td>
        {entity ? (
          <EntityLink kg={kg} snapshot={snapshot} entity={object} id={triple.objectId} />
        ) : (
          <Name most={240}>{object}</Name>
        )}
        {validity?.start || validity?.end ? (
          <span class="triple-validity">{` ${validity.start || "?"}–${validity.end || "now"}`}</span>
        ) : null}
        <Provenance from={triple.provenance} links={true} />
      </td>
      {children}
    </tr>
  );
}

import type { Triple } from "../api/messages";
import { EntityName } from "./EntityName";
import { Name } from "./Name";
import { Provenance } from "./Provenance";
import "./triple.css";

/** A triple on one line that breaks between its parts; read out as a sentence. */
export function TripleView({
  triple,
  showKg = true,
  links = true,
}: {
  triple: Triple;
  showKg?: boolean;
  /** False within buttons, which hold no links: ids are shown on hover. */
  links?: boolean;
}) {
  const { start, end } = triple.validity ?? {};
  const entity = (name = "", id = "", most = 80) =>
    links ? (
      <EntityName name={name} id={id} most={most} />
    ) : (
      <Name most={most} id={id}>
        {name}
      </Name>
    );
  return (
    <span class="triple">
      <span class="triple-end">{entity(triple.subject, triple.subjectId)}</span>{" "}
      <span class="triple-relation">
        <Name>{triple.relation ?? ""}</Name>
      </span>{" "}
      <span class="triple-end">{entity(triple.object, triple.objectId, 240)}</span>
      {start || end ? (
        <span class="triple-validity">
          {" "}
          {start || "?"}–{end || "now"}
        </span>
      ) : null}
      {showKg && triple.kgName ? <span class="triple-kg"> {triple.kgName}</span> : null}
      <Provenance from={triple.provenance} links={links} />
    </span>
  );
}

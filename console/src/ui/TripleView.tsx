import type { Triple } from "../api/messages";
import { Name } from "./Name";
import "./triple.css";

/** A triple on one line that breaks between its parts; read out as a sentence. */
export function TripleView({ triple, showKg = true }: { triple: Triple; showKg?: boolean }) {
  const { start, end } = triple.validity ?? {};
  return (
    <span class="triple">
      <span class="triple-end">
        <Name>{triple.subject ?? ""}</Name>
      </span>{" "}
      <span class="triple-relation">
        <Name>{triple.relation ?? ""}</Name>
      </span>{" "}
      <span class="triple-end">
        <Name most={240}>{triple.object ?? ""}</Name>
      </span>
      {start || end ? (
        <span class="triple-validity">
          {" "}
          {start || "?"}–{end || "now"}
        </span>
      ) : null}
      {showKg && triple.kg ? <span class="triple-kg"> {triple.kg}</span> : null}
    </span>
  );
}

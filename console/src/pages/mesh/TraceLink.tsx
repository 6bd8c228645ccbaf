import { useApi } from "../../app/services";
import { useCall } from "../../app/useCall";
import { Icon } from "../../ui/Icon";

/** The address of a trace; empty where the operator named no place to look at traces. */
export function traceAddress(pattern: string | undefined, id: string | undefined): string {
  if (!pattern || !id) {
    return "";
  }
  const address = pattern.replaceAll("{trace_id}", encodeURIComponent(id));
  return /^https?:\/\//i.test(address) ? address : "";
}

/** Leads to a trace, where there is a place to look at it. */
export function TraceLink({ id }: { id: string | undefined }) {
  const api = useApi();
  const { value: mesh } = useCall(id ? (signal) => api.mesh({ signal }) : undefined, [id]);
  const address = traceAddress(mesh?.traceUrl, id);
  return address ? (
    <a class="trace-link" href={address} target="_blank" rel="noreferrer">
      <Icon name="link" size={15} /> Trace
    </a>
  ) : null;
}

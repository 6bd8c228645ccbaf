import { useApi } from "../../app/services";
import { useCall } from "../../app/useCall";
import { traceLink } from "../../run/trace";
import { Icon } from "../../ui/Icon";
import "./trace-link.css";

/** Leads to a trace, where there is a place to look at it. */
export function TraceLink({ id }: { id: string | undefined }) {
  const api = useApi();
  const { value: mesh } = useCall(id ? (signal) => api.mesh({ signal }) : undefined, [id]);
  const address = traceLink(mesh?.traceUrl, id);
  return address ? (
    <a class="trace-link" href={address} target="_blank" rel="noreferrer">
      <Icon name="link" size={15} /> Trace
    </a>
  ) : null;
}

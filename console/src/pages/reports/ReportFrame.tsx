import { useEffect, useRef, useState } from "preact/hooks";
import { useApi } from "../../app/services";
import { useCall } from "../../app/useCall";
import { ErrorBox } from "../../ui/ErrorBox";
import { Spinner } from "../../ui/Spinner";

/**
 * One report. A frame that goes to its address could not say who asks, and a
 * document made here would be held to this page's policy, under which no script
 * of its own would run. So the console fetches the report and posts it to a
 * frame of an origin of its own, which becomes it: it can run its script there,
 * and reach neither this page nor the mesh.
 */
export function ReportFrame({ name }: { name: string }) {
  const api = useApi();
  const frame = useRef<HTMLIFrameElement>(null);
  const [ready, setReady] = useState(false);
  const { value, error, again } = useCall((signal) => api.report(name, { signal }), [name]);
  useEffect(() => {
    if (ready && value !== undefined) {
      // The frame's origin has no name that could be given.
      frame.current?.contentWindow?.postMessage(value, "*");
    }
  }, [ready, value]);
  return (
    <section class="report-page">
      <p>
        <a href="#/reports">All reports</a>
      </p>
      <h1 class="unseen">Report {name}</h1>
      {error !== undefined ? (
        <ErrorBox error={error} doing={`Reading the report ${name}`} retry={again} />
      ) : (
        <>
          {value === undefined ? <Spinner label={`Reading the report ${name}`} /> : null}
          <iframe
            ref={frame}
            class="report-frame"
            title={`Report ${name}`}
            src="reports/frame"
            sandbox="allow-scripts"
            onLoad={() => setReady(true)}
          />
        </>
      )}
    </section>
  );
}

import type { Place } from "../../app/router";
import { href } from "../../app/router";
import { useApi } from "../../app/services";
import { useCall } from "../../app/useCall";
import { bytes } from "../../format/quantity";
import { moment } from "../../format/time";
import { ErrorBox } from "../../ui/ErrorBox";
import { Name } from "../../ui/Name";
import { Spinner } from "../../ui/Spinner";
import { ReportFrame } from "./ReportFrame";
import "./reports.css";

/** Reports of evaluations: "#/reports", or one: "#/reports/zsre-1". */
export default function ReportsPage({ path }: Place) {
  const name = path[1];
  return name ? <ReportFrame key={name} name={name} /> : <List />;
}

function List() {
  const api = useApi();
  const { value, error, pending, again } = useCall((signal) => api.reports({ signal }), []);
  const reports = value?.reports ?? [];
  return (
    <section class="page">
      <h1>Reports of evaluations</h1>
      {error !== undefined ? (
        <ErrorBox error={error} doing="Listing the reports" retry={again} />
      ) : pending && !value ? (
        <Spinner label="Listing the reports" />
      ) : reports.length === 0 ? (
        <div>
          <p class="muted">No report was published yet. Where the mesh runs:</p>
          <pre>triplemesh eval report RESULTS --publish NAME</pre>
        </div>
      ) : (
        <ul class="report-list">
          {reports.map((report) => (
            <li key={report.name} class="card">
              <h2>
                <a href={href(["reports", report.name])}>
                  <Name most={200}>{report.title}</Name>
                </a>
              </h2>
              <p class="muted">
                <code>{report.name}</code> · {bytes(report.bytes)} ·{" "}
                <time dateTime={report.created}>{moment(report.created)}</time>
              </p>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

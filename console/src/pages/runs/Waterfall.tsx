import type { Span } from "../../api/messages";
import { elapsed, milliseconds } from "../../format/quantity";
import { count } from "../../format/text";
import { Name } from "../../ui/Name";
import { barsOf } from "./waterfall";

/** The spans of a run, each in its place in time. */
export function Waterfall({ spans }: { spans: Span[] }) {
  return (
    <details class="card waterfall">
      <summary>{`Where the time went (${count(spans.length, "span")})`}</summary>
      <div class="scroll-x">
        <table>
          <caption class="unseen">Spans of the run's trace</caption>
          <thead>
            <tr>
              <th scope="col">Span</th>
              <th scope="col">Took</th>
              <th scope="col">When</th>
            </tr>
          </thead>
          <tbody>
            {barsOf(spans).map(({ span, depth, start, length }) => (
              <tr key={span.spanId} class={span.error ? "waterfall-failed" : undefined}>
                <th
                  scope="row"
                  style={{ paddingInlineStart: `${0.4 + Math.min(depth, 12) * 0.9}rem` }}
                >
                  <span class="waterfall-service">{span.service}</span>{" "}
                  <Name most={60}>{lastPart(span.name)}</Name>
                  {span.error ? (
                    <span class="waterfall-error">{` failed: ${span.error}`}</span>
                  ) : null}
                </th>
                <td class="figures">{elapsed(milliseconds(span.duration))}</td>
                <td class="waterfall-time" aria-hidden="true">
                  <i style={{ marginInlineStart: `${start * 100}%`, width: `${length * 100}%` }} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

// "triplemesh.retriever.v1.RetrieverService/GroundGraph" is GroundGraph.
function lastPart(name = ""): string {
  return name.slice(name.lastIndexOf("/") + 1);
}

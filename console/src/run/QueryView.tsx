import { useId, useMemo, useState } from "preact/hooks";
import type { PlanEdit, QueryGraphs, QueryTable, Run } from "../api/messages";
import { href } from "../app/router";
import { download } from "../format/download";
import { count, number } from "../format/text";
import { EntityName } from "../ui/EntityName";
import { Name } from "../ui/Name";
import { TripleView } from "../ui/TripleView";
import { chartOf, csvOf, rowsOf, sortRows, type Timeline, timelineOf } from "./query";
import "./query.css";

/** What was planned, how it was aligned, and the table that it computes (query, text2cypher). */
export function QueryView({ graphs, run }: { graphs: QueryGraphs; run: Run }) {
  return (
    <>
      <Plan graphs={graphs} run={run} />
      {graphs.table?.rows?.length ? <Table table={graphs.table} /> : null}
    </>
  );
}

/** The plan as it was drafted, which can be changed and asked again, and what alignment made of it. */
function Plan({ graphs, run }: { graphs: QueryGraphs; run: Run }) {
  const id = useId();
  const draft = graphs.draft ?? "";
  const [plan, setPlan] = useState<string>();
  const text = plan ?? draft;
  const again = {
    q: run.question ?? "",
    method: "query",
    kg: run.kg?.name ?? "",
    plan: text,
  };
  return (
    <section class="card" aria-label="Plan">
      <header class="section-head">
        <h2>Plan</h2>
      </header>
      <label for={id}>
        What to compute{" "}
        <span class="hint inline">
          in this notation, or Cypher MATCH … RETURN; change it and compute it again
        </span>
      </label>
      <textarea
        id={id}
        class="plan-text"
        rows={Math.min(8, Math.max(2, Math.ceil(text.length / 80)))}
        spellcheck={false}
        value={text}
        onInput={(event) => setPlan(event.currentTarget.value)}
      />
      {text.trim() ? (
        <p>
          <a class="button" href={href(["ask"], again)}>
            Ask with this plan
          </a>
        </p>
      ) : null}
      {graphs.edits?.length ? (
        <>
          <h3>Edits</h3>
          <ul class="plan-edits">
            {graphs.edits.map((edit) => (
              <Edit key={JSON.stringify(edit)} edit={edit} />
            ))}
          </ul>
        </>
      ) : null}
      {graphs.cypher ? (
        <details class="fold">
          <summary>The aligned plan as Cypher</summary>
          <pre>
            <code>{graphs.cypher}</code>
          </pre>
        </details>
      ) : null}
    </section>
  );
}

const kinds: Partial<Record<NonNullable<PlanEdit["kind"]>, string>> = {
  EDIT_KIND_KEEP: "kept",
  EDIT_KIND_REPLACE: "replaced",
  EDIT_KIND_DELETE: "left out",
  EDIT_KIND_ADD: "added",
};

function Edit({ edit }: { edit: PlanEdit }) {
  return (
    <li>
      <span class="plan-kind">{edit.kind ? kinds[edit.kind] : ""}</span>{" "}
      {edit.before ? <s>{edit.before}</s> : null} {edit.after ? <b>{edit.after}</b> : null}{" "}
      <span class="hint inline">{edit.reason}</span>
    </li>
  );
}

/** The rows with their evidence: sortable, as CSV, and as bars where they are names with numbers. */
function Table({ table }: { table: QueryTable }) {
  const [order, setOrder] = useState<{ column: number; descending: boolean }>();
  const columns = table.columns ?? [];
  const rows = useMemo(() => {
    const all = rowsOf(table);
    return order ? sortRows(all, order.column, order.descending) : all;
  }, [table, order]);
  const timeline = timelineOf(columns, rows);
  const chart = timeline ? undefined : chartOf(columns, rows);
  const total = Number(table.total ?? rows.length);
  return (
    <section class="card" aria-label="Result">
      <header class="section-head">
        <h2>Result</h2>
        <button
          type="button"
          class="button"
          onClick={() => download("result.csv", "text/csv", csvOf(columns, rows))}
        >
          Save as CSV
        </button>
      </header>
      <p class="hint">
        {total > rows.length
          ? `The first ${number(rows.length)} of ${count(total, "row")}`
          : count(total, "row")}
        {table.limits?.length ? `; a lower bound: ${table.limits.join(", ")}` : ""}.
      </p>
      {timeline ? <TimelineView timeline={timeline} /> : null}
      {chart ? (
        <ul class="result-chart" aria-label={`Chart of ${chart.of}`}>
          {chart.bars.map((bar) => (
            <li key={bar.label}>
              <span class="chart-label">
                <Name>{bar.label}</Name>
              </span>
              <span
                class="chart-bar"
                style={{ inlineSize: `${Math.max(0.5, bar.share * 100)}%` }}
              />
              <span class="figures">{bar.text}</span>
            </li>
          ))}
        </ul>
      ) : null}
      <div class="scroll-x">
        <table>
          <thead>
            <tr>
              {columns.map((column, i) => (
                <th key={column} scope="col" aria-sort={sortOf(order, i)}>
                  <button
                    type="button"
                    class="column-sort"
                    onClick={() =>
                      setOrder({ column: i, descending: order?.column === i && !order.descending })
                    }
                  >
                    {column.replaceAll("_", " ")}
                  </button>
                </th>
              ))}
              <th scope="col">Evidence</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ cells, row }) => (
              <tr key={JSON.stringify(row)}>
                {cells.map((cell, i) => (
                  <td key={columns[i]}>
                    <EntityName name={cell} id={row.cells?.[i]?.id ?? ""} />
                  </td>
                ))}
                <td>
                  <details>
                    <summary>{count(row.triples?.length ?? 0, "triple")}</summary>
                    <ul class="row-evidence">
                      {(row.triples ?? []).map((triple) => (
                        <li key={JSON.stringify(triple)}>
                          <TripleView triple={triple} />
                        </li>
                      ))}
                    </ul>
                  </details>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** Rows along time: a point for a date, a bar from a start to an end. */
function TimelineView({ timeline }: { timeline: Timeline }) {
  const { of, first, last, moments } = timeline;
  return (
    <div class="timeline">
      <p class="timeline-ends figures">
        <span>{first}</span>
        <span>{last}</span>
      </p>
      <ol class="result-chart" aria-label={`Timeline of ${of.replaceAll("_", " ")}`}>
        {moments.map(({ label, text, from, to }) => (
          <li key={`${label} ${text}`}>
            <span class="chart-label">
              <Name>{label}</Name>
            </span>
            <span class="timeline-track">
              <span
                class="timeline-mark"
                style={{ insetInlineStart: `${from * 100}%`, inlineSize: `${(to - from) * 100}%` }}
              />
            </span>
            <span class="figures">{text}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}

function sortOf(order: { column: number; descending: boolean } | undefined, column: number) {
  if (order?.column !== column) {
    return "none";
  }
  return order.descending ? "descending" : "ascending";
}

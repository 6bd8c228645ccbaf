import type { ColumnType, ProposeColumnsResponse, ProposedColumn } from "../../api/messages";
import { count, number, visible, words } from "../../format/text";
import { ErrorBox } from "../../ui/ErrorBox";
import { Icon } from "../../ui/Icon";
import { Name } from "../../ui/Name";
import { Spinner } from "../../ui/Spinner";
import {
  choosable,
  isSameKey,
  keyOf,
  keysOf,
  mostColumns,
  namesOf,
  separators,
  typeNames,
  typeOf,
  warningsOf,
} from "./table";
import type { Table } from "./useTable";

/** Shows how the columns of a table will be loaded, and lets that be changed. */
export function TableFields({ table }: { table: Table }) {
  const { kind, look, proposal, error, pending, again, choose } = table;
  return (
    <>
      {kind === "maybe" ? (
        <label class="check-field">
          <input
            type="checkbox"
            checked={look.headed}
            onChange={(event) => choose({ headed: event.currentTarget.checked })}
          />
          <span>
            The first line names the columns
            <span class="hint">
              Otherwise each line is a fact: subject, relation and object, and the first and last
              day of validity where it is known.
            </span>
          </span>
        </label>
      ) : null}
      {look.headed && kind !== "no" ? (
        <fieldset class="table-fields">
          <legend>Columns</legend>
          <div class="load-fields">
            <label class="field">
              Separator
              <select
                value={look.separator}
                onChange={(event) => choose({ separator: event.currentTarget.value })}
              >
                {separators.map(([value, label]) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </select>
              <span class="hint">The character between cells.</span>
            </label>
            {proposal && !proposal.facts ? <KeyFields table={table} proposal={proposal} /> : null}
          </div>
          {error !== undefined ? (
            <ErrorBox error={error} doing="Reading the columns" retry={again} />
          ) : pending ? (
            <Spinner label="Reading the columns" />
          ) : proposal ? (
            <Proposal table={table} proposal={proposal} />
          ) : null}
        </fieldset>
      ) : null}
    </>
  );
}

/** Chooses what the entity of a row is. */
function KeyFields({ table, proposal }: { table: Table; proposal: ProposeColumnsResponse }) {
  const { look, choose } = table;
  const key = keyOf(proposal, look);
  const keys = keysOf(proposal);
  const name = namesOf(proposal, look).map(visible).join(" ");
  const rowName = look.rowName ?? proposal.rowName ?? "";
  return (
    <>
      <label class="field">
        Key
        <select
          value={keys.findIndex((one) => isSameKey(one.key, key))}
          onChange={(event) => {
            const chosen = keys[Number(event.currentTarget.value)];
            if (chosen) {
              choose({ key: chosen.key });
            }
          }}
        >
          {keys.map(({ label }, at) => (
            <option key={at} value={at}>
              {label}
            </option>
          ))}
        </select>
        <span class="hint">
          The column whose cells name the entity of each row.
          {name && key.by === "column" ? ` They are codes; "${name}" has the names.` : ""}
        </span>
      </label>
      {key.by === "row" ? (
        <label class="field">
          Name of a row
          <input
            type="text"
            required
            maxLength={200}
            value={rowName}
            onInput={(event) => choose({ rowName: event.currentTarget.value })}
          />
          <span class="hint">
            {name
              ? `"${name}" has the names of the entities.`
              : `The entities are called ${rowName} 1, ${rowName} 2 and so on.`}
          </span>
        </label>
      ) : null}
    </>
  );
}

/** The columns and their types, and what may be wrong with them. */
function Proposal({ table, proposal }: { table: Table; proposal: ProposeColumnsResponse }) {
  const warnings = warningsOf(proposal, table.look);
  const rows = count(proposal.rowCount ?? 0, "row");
  const columns = proposal.columns ?? [];
  const firsts = new Set(choosable(proposal));
  return (
    <>
      <p role="status">
        {proposal.whole ? `${rows} in ` : `The first ${rows} in `}
        {count(columns.length, "column")}
        {proposal.facts ? ": a table of facts, each row of which is a triple." : "."}
      </p>
      {warnings.length ? (
        <ul class="table-warnings" aria-label="Warnings">
          {warnings.map((warning) => (
            <li key={warning}>
              <Icon name="warning" /> <span>{warning}</span>
            </li>
          ))}
        </ul>
      ) : null}
      <div class="scroll-x">
        <table>
          <caption class="unseen">Columns and what they are loaded as</caption>
          <thead>
            <tr>
              <th scope="col">Column</th>
              <th scope="col">Type</th>
              <th scope="col">Values</th>
              <th scope="col">Such as</th>
            </tr>
          </thead>
          <tbody>
            {columns.slice(0, mostColumns).map((column, at) => (
              <Row
                key={at}
                table={table}
                proposal={proposal}
                column={column}
                isFirst={firsts.has(column)}
              />
            ))}
          </tbody>
        </table>
      </div>
      {columns.length > mostColumns ? (
        <p class="hint">{`And ${number(columns.length - mostColumns)} more columns, which are loaded as proposed.`}</p>
      ) : null}
      <p class="hint">
        Cells that do not fit a type that you set are left out and reported. Those of a proposed
        type are kept as they are.
      </p>
    </>
  );
}

function Row({
  table: { look, choose },
  proposal,
  column,
  isFirst,
}: {
  table: Table;
  proposal: ProposeColumnsResponse;
  column: ProposedColumn;
  /** Whether it is the first of its heading, whose type can be chosen. */
  isFirst: boolean;
}) {
  const { heading = "", distinct = 0, example = "" } = column;
  const key = keyOf(proposal, look);
  const type = typeOf(proposal, look, column);
  return (
    <tr>
      <th scope="row">{heading ? <Name most={60}>{heading}</Name> : "no heading"}</th>
      <td>
        {type === undefined ? (
          key.by === "column" ? (
            "key"
          ) : (
            "part of a fact"
          )
        ) : isFirst ? (
          <select
            aria-label={`Type of ${visible(heading)}`}
            value={type}
            onChange={(event) =>
              choose({
                types: new Map(look.types).set(heading, event.currentTarget.value as ColumnType),
              })
            }
          >
            {typeNames.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        ) : (
          words(column.type, "COLUMN_TYPE_")
        )}
      </td>
      <td class="figures">{number(distinct)}</td>
      <td>
        <Name most={60}>{example}</Name>
      </td>
    </tr>
  );
}

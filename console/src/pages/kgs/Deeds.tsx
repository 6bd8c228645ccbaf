import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Badge } from "../../ui/Badge";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import { ErrorBox } from "../../ui/ErrorBox";
import { Spinner } from "../../ui/Spinner";

/** Something that is done to a knowledge graph. */
export type Deed = {
  /** What it is, for the line that tells of it: "Dropping films@2". */
  doing: string;
  act: () => Promise<string>;
  /** Where it is asked about first: the dialog's title, its button and its text. */
  ask?: { title: string; action: string; danger?: boolean; text: string };
};

/** Does one deed at a time, after asking where it has to be; state shows what became of it. */
export function useDeeds(onChanged: () => void): {
  begin: (deed: Deed) => void;
  busy: boolean;
  state: ComponentChildren;
} {
  const [asking, ask] = useState<Deed>();
  const [doing, setDoing] = useState<string>();
  const [done, setDone] = useState<string>();
  const [failed, setFailed] = useState<{ doing: string; error: unknown }>();

  const run = async (deed: Deed) => {
    ask(undefined);
    setDone(undefined);
    setFailed(undefined);
    setDoing(deed.doing);
    try {
      setDone(await deed.act());
      onChanged();
    } catch (error) {
      setFailed({ doing: deed.doing, error });
    }
    setDoing(undefined);
  };
  const state = (
    <>
      <div role="status">
        {doing ? <Spinner label={doing} /> : null}
        {done ? <p>{done}</p> : null}
      </div>
      {failed ? <ErrorBox error={failed.error} doing={failed.doing} /> : null}
      {asking?.ask ? (
        <ConfirmDialog
          title={asking.ask.title}
          action={asking.ask.action}
          danger={asking.ask.danger ?? false}
          onCancel={() => ask(undefined)}
          onConfirm={() => void run(asking)}
        >
          <p>{asking.ask.text}</p>
        </ConfirmDialog>
      ) : null}
    </>
  );
  return {
    begin: (deed) => (deed.ask ? ask(deed) : void run(deed)),
    busy: doing !== undefined,
    state,
  };
}

/** A table of things to which deeds can be done; its rows end with DeedButtons. */
export function DeedTable({
  caption,
  columns,
  children,
}: {
  caption: string;
  columns: string[];
  children: ComponentChildren;
}) {
  return (
    <div class="scroll-x">
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
            <th scope="col">
              <span class="unseen">What can be done</span>
            </th>
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** The heading of a row: the number of a snapshot or ranking, whether it is active, and a remark. */
export function RowHeading({
  n,
  active,
  hint,
}: {
  n: string;
  active: boolean | undefined;
  hint: string | undefined;
}) {
  return (
    <th scope="row">
      {n}{" "}
      {active ? (
        <Badge tone="graph" icon="check">
          Active
        </Badge>
      ) : null}
      {hint ? <span class="hint">{hint}</span> : null}
    </th>
  );
}

/** A cell with a button for each deed that can be done now. */
export function DeedButtons({
  deeds,
  of,
  busy,
  begin,
}: {
  /** The button's word, the deed, and whether it can be done. */
  deeds: [string, Deed, boolean][];
  /** What it is done to, for the buttons' names. */
  of: string;
  busy: boolean;
  begin: (deed: Deed) => void;
}) {
  return (
    <td class="snapshot-deeds">
      {deeds
        .filter(([, , can]) => can)
        .map(([word, deed]) => (
          <button
            key={word}
            type="button"
            class="button small"
            disabled={busy}
            aria-label={`${word} ${of}`}
            onClick={() => begin(deed)}
          >
            {word}
          </button>
        ))}
    </td>
  );
}

import { useState } from "preact/hooks";
import type { ProposeColumnsResponse } from "../../api/messages";
import { useApi } from "../../app/services";
import { useCall } from "../../app/useCall";
import { type Choice, columnsOf, headBytes, tableKind } from "./table";

/** What the reader chose for a file. */
type Look = Choice & { file?: File | undefined; separator: string; headed: boolean };

/** A table that is to be loaded, and how. */
export type Table = ReturnType<typeof useTable>;

/** Looks at the head of a file, if it is a table, and keeps what is chosen for it. */
export function useTable(file: File | undefined) {
  const api = useApi();
  const [kept, setLook] = useState<Look>();
  const kind = file ? tableKind(file.name) : "no";
  const look: Look =
    kept?.file === file && kept
      ? kept
      : { file, separator: "", headed: kind === "yes", types: new Map() };
  const { separator } = look;
  const isTable = file && look.headed;
  const { value, error, pending, again } = useCall(
    isTable
      ? async (signal) => ({
          file,
          separator,
          proposal: await api.proposeColumns(
            {
              file: file.name,
              head: file.slice(0, headBytes),
              whole: file.size <= headBytes,
              separator,
            },
            { signal },
          ),
        })
      : undefined,
    [isTable && file, separator],
  );
  // What was proposed for the file before is none of this one.
  const proposal: ProposeColumnsResponse | undefined =
    isTable && value?.file === file && value.separator === separator ? value.proposal : undefined;
  return {
    kind,
    look,
    proposal,
    error: isTable && !pending ? error : undefined,
    pending: pending || Boolean(isTable && !proposal && error === undefined),
    again,
    /** Changes what is chosen; another separator makes other columns. */
    choose: (change: Partial<Omit<Look, "file">>) =>
      setLook(
        "separator" in change || "headed" in change
          ? { file, separator, headed: look.headed, types: new Map(), ...change }
          : { ...look, ...change },
      ),
    /** What the load is told. */
    options: proposal ? columnsOf(proposal, look, separator) : {},
  };
}

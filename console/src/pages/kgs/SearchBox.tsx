import { useEffect, useId, useState } from "preact/hooks";
import { useServices } from "../../app/services";
import { useCall } from "../../app/useCall";
import { useTyped } from "../../app/useTyped";
import { Name } from "../../ui/Name";
import { completing, lookupsFor } from "./suggest";

/** How long typing must rest before it is looked up, in milliseconds. */
const rest = 200;

/** How many entities are looked up, and how many suggested. */
const [looked, most] = [100, 8];

/**
 * Where words are typed, with entities that they may mean: arrows choose one, Enter goes there or
 * searches the words (ARIA's combobox with a list).
 */
export function SearchBox({
  kg,
  snapshot,
  words,
}: {
  kg: string;
  snapshot: string;
  words: string;
}) {
  const { api, router } = useServices();
  const id = useId();
  const [typed, type] = useTyped(words);
  const [wanted, want] = useState("");
  const [at, choose] = useState(-1);
  useEffect(() => {
    const timer = setTimeout(() => want(typed.trim() === words ? "" : typed.trim()), rest);
    return () => clearTimeout(timer);
  }, [typed, words]);
  const { value = [] } = useCall(
    wanted
      ? (signal) =>
          Promise.all(
            lookupsFor(wanted).map((text) => api.link(kg, { text, limit: looked }, { signal })),
          )
      : undefined,
    [kg, wanted],
  );
  const links =
    wanted && wanted === typed.trim()
      ? completing(
          wanted,
          value.flatMap((found) => found.links ?? []),
          most,
        )
      : [];
  const chosen = links[at];
  const close = () => {
    want("");
    choose(-1);
  };
  const go = (entity: string) => {
    close();
    type("");
    router.go(["kgs", kg], { entity, snapshot });
  };
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape" && links.length) {
      event.preventDefault();
      close();
    } else if (step && links.length) {
      event.preventDefault();
      // One place before the first suggestion is what was typed.
      choose(((at + 1 + step + links.length + 1) % (links.length + 1)) - 1);
    }
  };
  return (
    <search>
      <form
        class="browse-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (chosen) {
            go(chosen.entityId || chosen.entity || "");
          } else {
            close();
            router.go(["kgs", kg], { words: typed.trim(), snapshot });
          }
        }}
      >
        <div class="field search-box">
          <label for={`${id}-words`}>Find entities, triples and relations</label>
          <input
            id={`${id}-words`}
            type="search"
            dir="auto"
            // biome-ignore lint/a11y/noRedundantRoles: a field without a datalist is a searchbox
            role="combobox"
            list={undefined}
            autocomplete="off"
            aria-autocomplete="list"
            aria-expanded={links.length > 0}
            aria-controls={`${id}-list`}
            aria-activedescendant={chosen ? `${id}-${at}` : undefined}
            value={typed}
            maxLength={1000}
            placeholder="Alexander"
            onInput={(event) => {
              choose(-1);
              type(event.currentTarget.value);
            }}
            onKeyDown={move}
            onBlur={close}
          />
          <div
            id={`${id}-list`}
            role="listbox"
            aria-label="Entities it may mean"
            class="suggestions"
            hidden={links.length === 0}
          >
            {links.map((link, i) => (
              <div
                key={link.entityId || link.entity}
                id={`${id}-${i}`}
                role="option"
                tabIndex={-1}
                aria-selected={i === at}
                class="suggestion"
                // Before the field loses the focus, which closes the list.
                onMouseDown={(event) => {
                  event.preventDefault();
                  go(link.entityId || link.entity || "");
                }}
              >
                <Name>{link.entity ?? ""}</Name>
                {link.entityId && link.entityId !== link.entity ? (
                  <span class="hint">
                    <Name most={60}>{link.entityId}</Name>
                  </span>
                ) : null}
              </div>
            ))}
          </div>
        </div>
        <button type="submit" class="button primary" disabled={!typed.trim()}>
          Search
        </button>
      </form>
    </search>
  );
}

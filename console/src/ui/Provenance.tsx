import { webAddress } from "../format/web";
import { Name } from "./Name";
import { OutLink } from "./OutLink";

/** Where a triple comes from: a file and line, or a link to a named graph or statement. */
export function Provenance({ from, links }: { from: string | undefined; links: boolean }) {
  if (!from) {
    return null;
  }
  const address = links ? webAddress(from) : undefined;
  return (
    <span class="triple-provenance">
      {" from "}
      {address ? (
        <OutLink href={address}>
          <Name>{from}</Name>
        </OutLink>
      ) : (
        <Name>{from}</Name>
      )}
    </span>
  );
}

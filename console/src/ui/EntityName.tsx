import { webAddress } from "../format/web";
import { Name } from "./Name";
import { OutLink } from "./OutLink";

/** An entity's name: a link to its id where that is a web address, else with its id on hover. */
export function EntityName({
  name,
  id,
  most = 80,
}: {
  name: string | undefined;
  id: string | undefined;
  most?: number;
}) {
  const address = webAddress(id);
  const shown = (
    <Name most={most} id={id}>
      {name ?? ""}
    </Name>
  );
  return address ? <OutLink href={address}>{shown}</OutLink> : shown;
}

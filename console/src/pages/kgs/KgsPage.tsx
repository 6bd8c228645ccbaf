import type { Place } from "../../app/router";
import { KgList } from "./KgList";
import { KgPage } from "./KgPage";
import "./kgs.css";

/** Knowledge graphs: "#/kgs", or one, and in it an entity: "#/kgs/wikidata?entity=Paris&snapshot=3". */
export default function KgsPage({ path, query }: Place) {
  const kg = path[1];
  return kg ? <KgPage key={kg} kg={kg} query={query} /> : <KgList />;
}

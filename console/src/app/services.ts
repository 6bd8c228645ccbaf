import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Api } from "../api/client";
import type { Token } from "../api/token";
import type { Router } from "./router";
import type { Theme } from "./theme";

/** What pages are given instead of reaching for it themselves. */
export type ConsoleServices = { api: Api; token: Token; router: Router; theme: Theme };

export const Services = createContext<ConsoleServices | null>(null);

/** The services of the console this component is in. */
export function useServices(): ConsoleServices {
  const services = useContext(Services);
  if (!services) {
    throw new Error("a component that needs the console's services is outside of it");
  }
  return services;
}

/** The client of the mesh's REST API. */
export const useApi = (): Api => useServices().api;

import type {
  AskOptions,
  AskRequest,
  GroundingOptions,
  KnowledgeGraphRef,
  Method,
  Preset,
  Stage,
  Turn,
  VerificationMode,
} from "../../api/messages";

/** What the reader filled in; numbers as they were typed. */
export type AskForm = {
  question: string;
  method: string;
  /** "wikidata" or "wikidata@3". */
  kgs: string[];
  until: string;
  verification: string;
  preset: string;
  minConfidence: string;
  abstainBelow: string;
  at: string;
  maxCalls: string;
  maxTokens: string;
  maxCost: string;
  topics: string;
  /** What to compute, in place of a plan of the model's. */
  plan: string;
};

/** A form with nothing in it. */
export const blank: AskForm = {
  question: "",
  method: "auto",
  kgs: [],
  until: "",
  verification: "",
  preset: "",
  minConfidence: "",
  abstainBelow: "",
  at: "",
  maxCalls: "",
  maxTokens: "",
  maxCost: "",
  topics: "",
  plan: "",
};

// What each field is called in an address.
const names: Record<Exclude<keyof AskForm, "kgs">, string> = {
  question: "q",
  method: "method",
  until: "until",
  verification: "verification",
  preset: "preset",
  minConfidence: "min-confidence",
  abstainBelow: "abstain-below",
  at: "at",
  maxCalls: "max-calls",
  maxTokens: "max-tokens",
  maxCost: "max-cost",
  topics: "topics",
  plan: "plan",
};

/** The fields that stand under "Options". */
export const optional = Object.keys(names).filter(
  (field) => field !== "question" && field !== "method",
) as Exclude<keyof AskForm, "kgs" | "question" | "method">[];

/** Reads a form off an address: a question can be sent to somebody else. */
export function formOf(query: URLSearchParams): AskForm {
  const form: AskForm = { ...blank, kgs: (query.get("kg") ?? "").split(",").filter(Boolean) };
  for (const [field, name] of Object.entries(names) as [Exclude<keyof AskForm, "kgs">, string][]) {
    form[field] = query.get(name) ?? blank[field];
  }
  return form;
}

/** The address's part for a form. */
export function queryOf(form: AskForm): Record<string, string> {
  const fields = Object.entries(names) as [Exclude<keyof AskForm, "kgs">, string][];
  return {
    ...Object.fromEntries(fields.map(([field, name]) => [name, form[field]])),
    kg: form.kgs.join(","),
  };
}

/** What a request depends on beside its form. */
export type Asked = {
  /** The form's method, where the mesh has told of it. */
  method?: Method | undefined;
  /** What was said before. */
  history?: Turn[];
};

/**
 * The request a form makes. What is not filled in is left to the mesh. A method
 * that reads no knowledge graph is given none.
 */
export function requestOf(form: AskForm, { method, history = [] }: Asked = {}): AskRequest {
  const [kg, ...otherKgs] = method && !method.needsKg ? [] : form.kgs.map(refOf);
  const topicEntities = form.topics
    .split("\n")
    .map((topic) => topic.trim())
    .filter(Boolean);
  const budget = given({
    maxCalls: number(form.maxCalls),
    maxTokens: form.maxTokens === "" ? undefined : form.maxTokens,
    maxCostUsd: number(form.maxCost),
  });
  return given({
    question: form.question.trim(),
    method: form.method,
    kg,
    otherKgs: otherKgs.length ? otherKgs : undefined,
    topicEntities: topicEntities.length ? topicEntities : undefined,
    limits: budget ? { budget } : undefined,
    options: optionsOf(form),
    plan: form.method === "query" && form.plan.trim() ? form.plan.trim() : undefined,
    history: history.length ? history : undefined,
  }) as AskRequest;
}

function optionsOf(form: AskForm): AskOptions | undefined {
  const grounding: GroundingOptions | undefined = given({
    preset: (form.preset || undefined) as Preset | undefined,
    minConfidence: number(form.minConfidence),
    filter: form.at ? { at: form.at } : undefined,
  });
  return given({
    grounding,
    verification: (form.verification || undefined) as VerificationMode | undefined,
    until: (form.until || undefined) as Stage | undefined,
    abstainBelow: number(form.abstainBelow),
  });
}

/** "wikidata@3" is snapshot 3 of wikidata; without a number it is the active one. */
export function refOf(text: string): KnowledgeGraphRef {
  const [name = "", snapshot] = text.split("@");
  return snapshot ? { name, snapshot } : { name };
}

// An object without what is undefined; undefined where nothing is left.
function given<T extends object>(fields: T): T | undefined {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined);
  return kept.length ? (Object.fromEntries(kept) as T) : undefined;
}

function number(text: string): number | undefined {
  const n = Number(text);
  return text.trim() === "" || !Number.isFinite(n) ? undefined : n;
}

import { describe, expect, it } from "vitest";
import { call, callEvents, callJson, type Transport } from "./http";
import { Problem } from "./problem";

type Sent = { url: string; init: RequestInit };

/** A transport that answers with this and keeps what was sent. */
function answering(
  response: () => Response | Promise<Response>,
  token = "",
): { transport: Transport; sent: Sent[] } {
  const sent: Sent[] = [];
  return {
    sent,
    transport: {
      fetch: async (url, init = {}) => {
        sent.push({ url, init });
        return response();
      },
      token: () => token,
    },
  };
}

describe("call", () => {
  it("sends the token, and no cookies", async () => {
    const { transport, sent } = answering(() => Response.json({}), "secret");
    await call(transport, "methods");
    expect(sent[0]?.url).toBe("api/v1/methods");
    expect(new Headers(sent[0]?.init.headers).get("Authorization")).toBe("Bearer secret");
    expect(sent[0]?.init.credentials).toBe("omit");
  });

  it("sends no Authorization without a token", async () => {
    const { transport, sent } = answering(() => Response.json({}));
    await call(transport, "methods");
    expect(new Headers(sent[0]?.init.headers).has("Authorization")).toBe(false);
  });

  it("throws the problem that the mesh tells of", async () => {
    const document = { title: "Not found", detail: "no run x", code: "NOT_FOUND", requestId: "R" };
    const { transport } = answering(() => Response.json(document, { status: 404 }));
    await expect(call(transport, "runs/x")).rejects.toMatchObject({
      message: "no run x",
      document: { ...document, status: 404 },
    });
  });

  it.each([
    ["HTML", "<h1>Bad gateway</h1>"],
    ["nothing", ""],
    ["a list", "[1]"],
  ])("makes a problem of an error whose body is %s", async (_, body) => {
    const { transport } = answering(() => new Response(body, { status: 502 }));
    await expect(call(transport, "methods")).rejects.toMatchObject({ document: { status: 502 } });
  });

  it("says what to do where nobody answers", async () => {
    const { transport } = answering(() => Promise.reject(new TypeError("Failed to fetch")));
    await expect(call(transport, "methods")).rejects.toThrow("triplemesh up");
  });

  it("leaves an abort an abort", async () => {
    const leaving = new AbortController();
    leaving.abort(new DOMException("left", "AbortError"));
    const { transport } = answering(() => Promise.reject(leaving.signal.reason));
    await expect(call(transport, "methods", { signal: leaving.signal })).rejects.toMatchObject({
      name: "AbortError",
    });
  });
});

describe("callJson", () => {
  it("posts a message as JSON, and gets without one", async () => {
    const { transport, sent } = answering(() => Response.json({ ok: true }));
    expect(await callJson(transport, "kgs/x:verify", { snapshot: "2" })).toEqual({ ok: true });
    await callJson(transport, "kgs");
    expect(sent.map(({ init }) => [init.method, init.body])).toEqual([
      ["POST", '{"snapshot":"2"}'],
      ["GET", null],
    ]);
  });
});

describe("callEvents", () => {
  const stream = (text: string) => answering(() => new Response(text)).transport;
  const drain = async (transport: Transport) => {
    const events: unknown[] = [];
    for await (const event of callEvents(transport, "ask:stream", {})) {
      events.push(event);
    }
    return events;
  };

  it("yields the data of each event", async () => {
    const text =
      'event: answerDelta\ndata: {"answerDelta":"a"}\n\n: alive\n\nevent: run\ndata: {"run":{}}\n\n';
    expect(await drain(stream(text))).toEqual([{ answerDelta: "a" }, { run: {} }]);
  });

  it("throws an error that comes after the stream began", async () => {
    const text = 'event: error\ndata: {"detail":"out of budget","code":"RESOURCE_EXHAUSTED"}\n\n';
    await expect(drain(stream(text))).rejects.toMatchObject({ message: "out of budget" });
  });

  it("throws a problem at data that is no JSON", async () => {
    await expect(drain(stream("data: {\n\n"))).rejects.toBeInstanceOf(Problem);
  });
});

// A request of the judging API as it leaves the page. Short, for it comes before the other modules (early.js).

/** Pairs behind the one on the page, until the campaign has said how many. */
export const AHEAD = 3;

const cookie = (name) =>
  document.cookie
    .split("; ")
    .find((part) => part.startsWith(`${name}=`))
    ?.slice(name.length + 1);

/** Resolves to {sentAt, response, cameAt}: milliseconds since 1970 by our clock, `cameAt` when the head of the answer was here. */
export async function send(address, { method, csrf, body, timeoutMs = 20000 }) {
  const sentAt = Date.now();
  const response = await fetch(address, {
    method,
    credentials: "same-origin",
    cache: "no-store",
    headers: {
      Accept: "application/json",
      "Content-Type": "application/json",
      "X-CSRFToken": cookie("csrftoken") || csrf,
    },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs),
  });
  return { sentAt, response, cameAt: Date.now() };
}

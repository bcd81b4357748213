// Requests of the judging API. Kept short, because it is loaded before the other modules
// (early.js).

/** Pairs held after the current one, until the campaign's setting is known. */
export const AHEAD = 3;

const cookie = (name) =>
  document.cookie
    .split("; ")
    .find((part) => part.startsWith(`${name}=`))
    ?.slice(name.length + 1);

/**
 * Resolves to {sentAt, response, cameAt} with local times in milliseconds since 1970. cameAt:
 * arrival of the response's headers.
 */
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

// <form data-repeat-when-busy>: if the server is busy (503), the form is sent again after
// Retry-After with the same data. The page remains until the server has processed it. Without this
// script the browser shows a page that asks the user to try again.

const MOST_REPEATS = 30;

async function send(form) {
  const body = new URLSearchParams(new FormData(form));
  for (let n = 0; n < MOST_REPEATS; n += 1) {
    const response = await fetch(form.action, {
      method: "POST",
      credentials: "same-origin",
      redirect: "manual",
      headers: { Accept: "text/html" },
      body,
    });
    if (response.type === "opaqueredirect")
      return void location.assign(location.pathname + location.search); // done: the response page replaces this one
    if (response.status !== 503) return void show(await response.text(), form);
    form.querySelector("[data-repeating]").hidden = false;
    const seconds = Number(response.headers.get("Retry-After")) || 5;
    await new Promise((go) => {
      setTimeout(go, seconds * 1000);
    });
  }
  form.submit();
}

function show(page, form) {
  const main = new DOMParser()
    .parseFromString(page, "text/html")
    .querySelector("main");
  if (!main) return void form.submit();
  document.querySelector("main").replaceWith(main);
  main.querySelector("[aria-invalid=true], input:not([type=hidden])")?.focus();
}

const sending = new WeakSet();

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("[data-repeat-when-busy]")) return;
  event.preventDefault();
  if (sending.has(form)) return;
  sending.add(form);
  send(form).catch(() => form.submit()); // the browser reports that the server is not responding
});

// Uploads dropped or selected files one after the other and shows their progress. The card of each
// import job then shows its result.

import { t } from "../words.js";

const MEGABYTE = 1e6;

function size(bytes) {
  return bytes < MEGABYTE
    ? `${Math.max(1, Math.round(bytes / 1e3))} kB`
    : `${(bytes / MEGABYTE).toFixed(1)} MB`;
}

function row(list, file) {
  const item = document.createElement("li");
  item.className = "upload-item";
  const name = document.createElement("span");
  name.className = "clip";
  name.textContent = file.name;
  const bar = document.createElement("progress");
  bar.max = file.size || 1;
  bar.value = 0;
  bar.setAttribute("aria-label", t("Upload of {file}", { file: file.name }));
  const says = document.createElement("span");
  says.className = "small muted numeric nowrap";
  says.textContent = t("waiting");
  const stop = document.createElement("button");
  stop.type = "button";
  stop.className = "button quiet small";
  stop.textContent = t("Cancel");
  item.append(name, bar, says, stop);
  list.append(item);
  return { item, bar, says, stop };
}

function fail(shown, message) {
  shown.item.classList.add("bad");
  shown.bar.remove();
  shown.stop.remove();
  shown.says.textContent = message;
  shown.says.setAttribute("role", "alert");
}

function send(form, file, shown) {
  return new Promise((resolve) => {
    const data = new FormData(form);
    data.delete("file");
    data.append("file", file, file.name);
    const request = new XMLHttpRequest();
    const began = performance.now();
    request.open("POST", form.action);
    request.setRequestHeader("Accept", "application/json");
    request.setRequestHeader(
      "X-CSRFToken",
      form.elements.csrfmiddlewaretoken.value,
    );
    request.upload.addEventListener("progress", (event) => {
      shown.bar.value = event.loaded;
      const rate =
        event.loaded / Math.max((performance.now() - began) / 1000, 0.1);
      shown.says.textContent =
        event.loaded >= event.total
          ? t("checking…")
          : t("{done} of {all} · {rate}/s", {
              done: size(event.loaded),
              all: size(event.total),
              rate: size(rate),
            });
    });
    const refuse = (message) => {
      fail(shown, message);
      resolve(null);
    };
    request.addEventListener("load", () => {
      let answer = {};
      const refused = t("The server responded with status {status}.", {
        status: request.status,
      });
      const signedOut =
        request.status === 403 ||
        new URL(request.responseURL).pathname !== new URL(form.action).pathname; // redirected to the sign-in page
      try {
        answer = signedOut
          ? { error: t("You are signed out. Sign in again in another tab.") }
          : JSON.parse(request.responseText);
      } catch {
        answer = { error: refused };
      }
      if (request.status === 201) {
        shown.item.remove();
        resolve(answer.jobs);
      } else {
        refuse(answer.error ?? refused);
      }
    });
    request.addEventListener("error", () =>
      refuse(t("The connection was lost before the upload was complete. Try again.")),
    );
    request.addEventListener("abort", () => refuse(t("Upload cancelled.")));
    shown.stop.addEventListener("click", () => request.abort());
    request.send(data);
  });
}

function showJobs(form, jobs) {
  const place = document
    .getElementById(form.dataset.activity)
    ?.querySelector("[data-activity-list]");
  for (const job of jobs ?? []) {
    if (!place || !window.htmx) {
      window.location.assign(job.url);
      return;
    }
    const holder = document.createElement("div");
    place.prepend(holder);
    // A separate source element, because htmx keeps only the first and the last of several requests
    // of one element.
    window.htmx.ajax("GET", `${job.fragment}?was=active`, {
      source: holder,
      target: holder,
      swap: "outerHTML",
    });
  }
}

function ready(form) {
  const input = form.querySelector('input[type="file"]');
  const list = form.querySelector("[data-upload-list]");
  const drop = form.querySelector("[data-drop]");
  form.querySelector("[data-no-script]").hidden = true;
  let chain = Promise.resolve();

  const take = (files) => {
    for (const file of files) {
      const shown = row(list, file);
      let stopped = false;
      shown.stop.addEventListener(
        "click",
        () => {
          stopped = true;
          shown.item.remove();
        },
        { once: true },
      );
      chain = chain.then(async () => {
        if (!stopped) showJobs(form, await send(form, file, shown));
      });
    }
    input.value = "";
  };

  input.addEventListener("change", () => take([...input.files]));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (input.files.length) take([...input.files]);
  });
  for (const kind of ["dragenter", "dragover"]) {
    drop.addEventListener(kind, (event) => {
      event.preventDefault();
      drop.classList.add("is-over");
    });
  }
  for (const kind of ["dragleave", "drop"])
    drop.addEventListener(kind, () => drop.classList.remove("is-over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    const dropped = [...(event.dataTransfer?.items ?? [])]
      .map((item) => [item.getAsFile(), item.webkitGetAsEntry?.()?.isDirectory])
      .filter(([file]) => file);
    for (const [folder, is] of dropped)
      if (is)
        fail(
          row(list, folder),
          t("Folders can't be uploaded. Drop the files themselves, or a zip file."),
        );
    take(dropped.filter(([, is]) => !is).map(([file]) => file));
  });

  // Options that do not apply to the selected file type are hidden and not sent.
  const showOptions = () => {
    const kind = new FormData(form).get("kind");
    for (const field of form.querySelectorAll("[data-for]")) {
      const fits = field.dataset.for.split(" ").includes(kind);
      field.hidden = !fits;
      for (const control of field.querySelectorAll("input, select, textarea"))
        control.disabled = !fits;
    }
  };
  form.addEventListener("change", showOptions);
  showOptions();
}

for (const form of document.querySelectorAll("form[data-upload]")) ready(form);

// A waiting file is listed in the table. Its card would repeat that and is removed before both are
// painted. While files wait, finished cards follow below them, because they need no decision.
document.addEventListener("htmx:afterSwap", () => {
  const listed = document.querySelectorAll("[data-waits]");
  for (const waiting of listed)
    document.getElementById(`job-${waiting.dataset.waits}`)?.remove();
  if (!listed.length) return;
  const place = document.getElementById("waiting");
  for (const card of document.querySelectorAll(
    "[data-activity-list] > .job:not([hx-get])",
  ))
    place.after(card);
});

// Signing in again without leaving the page.

import { announce, byId } from "./dom.js";
import { tn } from "../plurals.js";
import { t } from "../words.js";

export class SignIn {
  constructor({ api, url, username }) {
    Object.assign(this, { api, url, open: false });
    byId("sign-in-name").value = username;
    byId("sign-in-dialog").addEventListener("cancel", (event) =>
      event.preventDefault(),
    );
    byId("sign-in-form").addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#send();
    });
    byId("sign-in-again").addEventListener("click", () =>
      this.api.get("setup").then(
        () => this.#signedIn(),
        () => this.#say(t("You are not signed in yet.")),
      ),
    );
  }

  ask({ waiting, done }) {
    this.done = done;
    byId("sign-in-waiting").textContent = waiting
      ? tn(
          "{n} answer is kept here and will be sent when you sign in.",
          "{n} answers are kept here and will be sent when you sign in.",
          waiting,
        )
      : t("This page does not change.");
    if (this.open) return;
    this.open = true;
    byId("sign-in-error").hidden = true;
    byId("sign-in-password").value = "";
    byId("sign-in-dialog").showModal();
    byId("sign-in-password").focus();
  }

  async #send() {
    try {
      await fetch(this.url, { credentials: "same-origin" }); // sets a new CSRF cookie
      const token =
        document.cookie
          .split("; ")
          .find((part) => part.startsWith("csrftoken="))
          ?.slice(10) ?? "";
      const body = new URLSearchParams(new FormData(byId("sign-in-form")));
      const response = await fetch(this.url, {
        method: "POST",
        credentials: "same-origin",
        headers: { Accept: "application/json", "X-CSRFToken": token },
        body,
      });
      if (response.ok) return void this.#signedIn();
      const answer = await response.json().catch(() => ({}));
      if (response.status === 503)
        this.#repeat(Number(response.headers.get("Retry-After")) || 5);
      this.#say(answer.detail ?? t("Sign-in failed. Please try again."));
    } catch {
      this.#say(t("The server isn't responding. Try again in a few seconds."));
    }
  }

  // Too many users are signing in: the dialog repeats the request.
  #repeat(seconds) {
    clearTimeout(this.repeating);
    this.repeating = setTimeout(() => {
      if (this.open) void this.#send();
    }, seconds * 1000);
  }

  #say(text) {
    byId("sign-in-error").textContent = text;
    byId("sign-in-error").hidden = false;
  }

  #signedIn() {
    this.open = false;
    byId("sign-in-dialog").close();
    announce(t("Signed in again."));
    this.done();
  }
}

// Notices that somebody has to take note of: a manager's message, an answer that was not accepted.

export function message({ api, banners }, { id, text }) {
  const read = () => api.post(`messages/${id}/read`).catch(() => { /* shown again next time */ });
  banners.show(`message-${id}`, { text: `Message from the manager: ${text}`, actions: [{ label: "Got it", run: read }] });
}

export function refused({ outbox, banners }, entry) {
  banners.show(`refused-${entry.key}`, {
    tone: "warn", text: `One answer (${entry.label}) was not accepted: ${entry.refused}`,
    actions: [{ label: "Understood", run: () => outbox.forgetRefused(entry.key) }],
  });
}

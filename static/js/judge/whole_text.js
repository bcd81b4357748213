// The rest of a very long text, painted when the browser is idle.

/** view: DocumentView. Resolves to whether the whole text is painted. */
export async function complete(view) {
  const waiting = view.later;
  view.later = [];
  while (waiting.length) {
    await new Promise((resolve) => setTimeout(resolve, 0));
    if (!view.element.isConnected) {
      view.later = waiting;
      return false;
    }
    const some = document.createDocumentFragment();
    for (const [block, piece] of waiting.splice(0, 60))
      some.append(view.block(block, piece));
    view.body.append(some);
    view.termRanges = null;
  }
  return true;
}

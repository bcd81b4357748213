// The annotator's judgements on this page, oldest first, and which of them is open for revision.

const KEPT = 60;
const RECENT = 5; // number of judgements for which a query counts as recent

export class Trail {
  constructor() {
    this.records = []; // {pair, key, judgement, grade, reason, answers, note, spans, at}, for a skipped pair {pair, key, later}, or {judgement, stub}
    this.place = null; // index of the judgement that is open for revision
    this.isWhole = false; // the server has no earlier judgements
  }

  /** The judgement that is open for revision. */
  get open() {
    return this.place === null ? null : this.records[this.place];
  }
  /** The index of the previous judgement, -1 for the one before all of them. */
  get before() {
    return (this.place ?? this.records.length) - 1;
  }

  add(record) {
    this.records.push(record);
    if (this.records.length > KEPT) this.records.shift();
  }

  leave() {
    this.place = null;
  }
  isRecent(topic) {
    return this.records
      .slice(-RECENT)
      .some(({ pair }) => pair?.topic.id === topic);
  }

  /** Records that the server has stored the answer with this key. */
  stored(key, judgement) {
    const record = this.records.find((one) => one.key === key);
    if (record && judgement) record.judgement = judgement.id;
  }
}

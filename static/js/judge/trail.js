// One's own judgements of this page, oldest first, and which of them is open again.

const KEPT = 60;
const RECENT = 5; // judgements ago: a query is still in mind

export class Trail {
  constructor() {
    this.records = []; // {pair, key, judgement, grade, reason, note, spans, at}; or put aside: {pair, key, later}; or {judgement, stub}
    this.place = null; // of the judgement that is open again
    this.isWhole = false; // the server has nothing earlier
  }

  /** The judgement that is open again. */
  get open() {
    return this.place === null ? null : this.records[this.place];
  }
  /** Where one step back leads; -1: before all of them. */
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

  /** The server has stored the answer with this key. */
  stored(key, judgement) {
    const record = this.records.find((one) => one.key === key);
    if (record && judgement) record.judgement = judgement.id;
  }
}

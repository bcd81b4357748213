// What the module tests share.

/** A Storage over a map. */
export class MapStorage {
  constructor() {
    this.map = new Map();
  }
  get length() {
    return this.map.size;
  }
  key(place) {
    return [...this.map.keys()][place] ?? null;
  }
  getItem(name) {
    return this.map.get(name) ?? null;
  }
  setItem(name, value) {
    this.map.set(name, String(value));
  }
  removeItem(name) {
    this.map.delete(name);
  }
}

/** Lets everything run that waits for promises only. */
export async function settled() {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

/** Separates the stored tabs from those of another GraphiQL on the same host and port. */
const prefix = 'postroom:';

function storedKeys() {
  return Object.keys(localStorage).filter((key) => key.startsWith(prefix));
}

export const storage = {
  getItem: (key) => localStorage.getItem(prefix + key),
  setItem: (key, value) => localStorage.setItem(prefix + key, value),
  removeItem: (key) => localStorage.removeItem(prefix + key),
  clear: () => storedKeys().map((key) => localStorage.removeItem(key)),
  get length() {
    return storedKeys().length;
  },
};

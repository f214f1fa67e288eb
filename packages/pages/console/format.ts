const number = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const dateTime = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

export function formatNumber(value: number): string {
  return number.format(value);
}

export function formatMs(value: number): string {
  return `${number.format(value)} ms`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${number.format(bytes / 1_000)} kB`;
  return `${number.format(bytes / 1_000_000)} MB`;
}

/** A time of the server, in the time zone of the browser. */
export function formatTime(iso: string): string {
  return dateTime.format(new Date(iso));
}

/** A time in milliseconds since 1970 as hours, minutes and seconds, in the time zone of the browser. */
export function formatClock(time: number): string {
  return clock.format(time);
}

/** The time between two times of the server: its two largest units. */
export function formatDuration(from: string, to: string): string {
  const seconds = Math.max(0, Math.floor((Date.parse(to) - Date.parse(from)) / 1_000));
  const units: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ];
  const first = units.findIndex(([count]) => count > 0);
  const largest = first === -1 ? units.slice(-1) : units.slice(first, first + 2);
  return largest.map(([count, unit]) => `${count} ${unit}`).join(' ');
}

/** A time in milliseconds since 1970 as the value of an input of local time, to the minute. */
export function formatInput(time: number): string {
  const offsetMs = new Date(time).getTimezoneOffset() * 60_000;
  return new Date(time - offsetMs).toISOString().slice(0, 16);
}

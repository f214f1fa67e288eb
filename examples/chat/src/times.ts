const short = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'medium' });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' });
const dayMs = 86_400_000;

export const formatTime = (time: string) => short.format(new Date(time));
export const formatFull = (time: string) => full.format(new Date(time));

export function formatDay(date: Date): string {
  const days = Math.round((new Date().setHours(0, 0, 0, 0) - new Date(date).setHours(0, 0, 0, 0)) / dayMs);
  return ['Today', 'Yesterday'][days] ?? day.format(date);
}

/** The text of a post: its first line is the title, and all of it the body unless the title has it all. */
export type PostText = { title: string; body: string | null };

export const maxTextLength = 20_000;
const maxTitleLength = 200;
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const words = new Intl.Segmenter(undefined, { granularity: 'word' });

/** In code points, as the server counts. */
export const lengthOf = (text: string) => [...text].length;

/** Without empty lines before it and white space after it: empty if there is nothing to send. */
export const tidy = (text: string) =>
  text
    .toWellFormed()
    .replaceAll(/^\s*\n|\0/g, '')
    .trimEnd();

export function toPostText(text: string): PostText {
  const title = cut(toTitle(text));
  return { title, body: title === text ? null : text };
}

/** The text that was written. A post of another client may have a title that is not part of its body. */
export function textOf({ title, body }: { title: string; body?: string | null }): string {
  if (!body) return title;
  return toTitle(body).startsWith(title) ? body : `${title}\n${body}`;
}

/** The first line. A title has no control characters, such as tabs. */
const toTitle = (text: string) => (text.split('\n', 1)[0] ?? '').replaceAll(/\p{Cc}/gu, ' ').trim();

/** At the end of a word, or of a grapheme if the words are too long. */
const cut = (line: string) => take(line, words).trimEnd() || take(line, graphemes) || [...line].slice(0, 200).join('');

function take(line: string, segmenter: Intl.Segmenter): string {
  let length = 0;
  for (const { segment, index } of segmenter.segment(line)) {
    length += lengthOf(segment);
    if (length > maxTitleLength) return line.slice(0, index);
  }
  return line;
}

/** The letter of an avatar. */
export const initialOf = (name: string) => [...graphemes.segment(name)][0]?.segment.toUpperCase() ?? '?';

/** The text, and at each odd position a link of http or https. */
export const splitLinks = (text: string) => text.split(/(https?:\/\/[^\s<>"]*[^\s<>"'.,;:!?)\]}])/i);

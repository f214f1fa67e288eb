/** The longest name, in code points. */
export const maxNameLength = 80;

export const controlCharacter = /\p{Cc}/u;
/**
 * A character that is not seen, with which a name would look like another one. Those that emoji and the scripts of some
 * languages need are allowed.
 */
export const invisibleCharacter =
  /[\p{Default_Ignorable_Code_Point}--[\p{Join_Control}\p{Variation_Selector}\u180e\u{e0020}-\u{e007f}]]/v;
/** U+2800 is a blank pattern of Braille. */
export const visibleCharacter = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** In code units; longer than any name or e-mail address in any form. */
const maxComposedLength = 1_000;

/** The text with one form of each accented letter. A longer text stays as it is, because a hostile one takes quadratic time. */
export function toComposed(text: string): string {
  return text.length > maxComposedLength ? text : text.normalize('NFC');
}

/** A name as it is stored: composed, and without white space at its ends. */
export function toName(text: string): string {
  return toComposed(text.trim());
}

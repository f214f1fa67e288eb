import { type ASTNode, Kind, print, visit } from 'graphql';

/** The text of a document, without the values that it contains itself: they may be credentials. */
export function printWithoutValues(document: ASTNode): string {
  return print(
    visit(document, {
      [Kind.STRING]: (node) => ({ ...node, value: '', block: false }),
      [Kind.INT]: (node) => ({ ...node, value: '0' }),
      [Kind.FLOAT]: (node) => ({ ...node, value: '0' }),
    }),
  );
}

/** What precedes a value in the messages of graphql. The value may have been cut off. */
const quotedValue =
  /(?<=(?<!invalid |default )value: |found: |(?:found|unexpected) [a-z]+ |^syntax error: invalid [^:]*: ).+|(?<=\bvalue )"(?:.*"(?= does not exist in )|.*)/is;

/** The message of an error, without the value of the document or of its variables that it quotes: it may be a password. */
export function hideQuotedValue(message: string): string {
  return message.replace(quotedValue, '…');
}

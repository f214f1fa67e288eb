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

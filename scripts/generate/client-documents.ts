import * as documents from '../../packages/client/src/documents.ts';

/** The texts that @postroom/client sends without `postFields`, by name, for TRUSTED_DOCUMENTS. */
export function generateClientDocuments(): string {
  const texts = Object.entries(documents).flatMap(([name, text]) => {
    if (typeof text === 'number') return [];
    return [[`@postroom/client ${name}`, typeof text === 'function' ? text() : text]];
  });
  return `${JSON.stringify(Object.fromEntries(texts), null, 2)}\n`;
}

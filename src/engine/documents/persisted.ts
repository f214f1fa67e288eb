import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { ClientError } from '../../errors.ts';

/** How a request names its document: by its text, by an id or hash, or by both. */
export interface DocumentReference {
  query: string | undefined;
  documentId: string | undefined;
  /** The `sha256Hash` of Apollo's clients. With trusted documents it may be any name. */
  documentHash: string | undefined;
}

/** Where the text of a request's document comes from. */
export interface DocumentSource {
  /** @throws ClientError PERSISTED_QUERY_NOT_FOUND, DOCUMENT_NOT_TRUSTED or INVALID_REQUEST. */
  find(reference: DocumentReference): string;
  /** Called after the document was validated. */
  cache(reference: DocumentReference): void;
}

/** The message of Apollo Server, which urql compares instead of the code. */
const persistedQueryNotFound = 'PersistedQueryNotFound';
const maxDocuments = 1_000;
const maxTextLength = 4_000_000;

/**
 * Any document runs. The text of a document that was sent with its hash is cached, and later requests may send the hash
 * alone.
 */
export function createAutomaticDocuments(): DocumentSource {
  const texts = new LRUCache<string, string>({
    max: maxDocuments,
    maxSize: maxTextLength,
    sizeCalculation: (text, name) => text.length + name.length,
  });
  return {
    find({ query, documentHash }) {
      if (documentHash !== undefined && !/^[\da-f]{64}$/.test(documentHash))
        throw new ClientError('INVALID_REQUEST', '"sha256Hash" must be 64 hex digits, in lower case.');
      const text = query ?? (documentHash === undefined ? undefined : texts.get(documentHash));
      if (text === undefined) throw new ClientError('PERSISTED_QUERY_NOT_FOUND', persistedQueryNotFound);
      if (query !== undefined && documentHash !== undefined && hash('sha256', query, 'hex') !== documentHash)
        throw new ClientError('INVALID_REQUEST', '"sha256Hash" is not the SHA-256 of "query".');
      return text;
    },
    cache({ query, documentHash }) {
      if (query !== undefined && documentHash !== undefined) texts.set(documentHash, query);
    },
  };
}

import type { ClientOptions } from 'graphql-ws';

export function resumable(): Pick<ClientOptions, 'on' | 'jsonMessageReplacer'> & { connectionParams: () => object };

import type { GraphQLResolveInfo } from 'graphql';
import type { Context } from '../context.ts';
import type { ExtensionTypes } from './extensions.ts';

/** What a team adds to the server. Its SDL is the file schema.graphql beside its module, whose default export it is. */
export interface Extension extends ExtensionTypes {
  /** By type and field. Fields that are columns of a node need none, nor do `room` of a node and the fields of an event. */
  resolvers?: Readonly<Record<string, Readonly<Record<string, ExtensionResolver | FedSubscription>>>>;
}

export type ExtensionResolver = (source: never, args: never, context: Context, info: GraphQLResolveInfo) => unknown;

/** What `fromRoomEvents` returns. */
export interface FedSubscription {
  subscribe: unknown;
  resolve: (value: unknown) => unknown;
  /** The types of its events. */
  fedBy: readonly string[];
}

/** An extension with the text of its schema. */
export interface LoadedExtension extends Extension {
  sdl: string;
}

/** Returns the extension as it is; the compiler checks it. */
export function defineExtension(extension: Extension): Extension {
  return extension;
}

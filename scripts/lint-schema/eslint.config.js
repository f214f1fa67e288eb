import graphql from '@graphql-eslint/eslint-plugin';
import { inboxEventTypes, roomEventTypes } from '../../src/data/event-log/room-event-types.ts';

/*
 * Only for schema.graphql: Biome checks the code. The rules are those of graphql-eslint for schemas and for Relay. An
 * option or "off" below is an exception, with its reason.
 */

const [, { EnumValueDefinition: upperCase, ...naming }] =
  graphql.configs['flat/schema-recommended'].rules['@graphql-eslint/naming-convention'];

const exceptions = {
  // A short description is inline and a long one is a block. The rule allows only one of the two in a schema.
  'description-style': 'off',
  // Values of RoomEventType are names of types, as a client compares them with `__typename`.
  'naming-convention': ['error', { ...naming, 'EnumValueDefinition[parent.name.value!=RoomEventType]': upperCase }],
  'strict-id-in-types': [
    'error',
    {
      exceptions: {
        // A result of a mutation, a page and a part of a page are not stored, and so are the states of the server.
        suffixes: ['Payload', 'Page', 'Connection', 'Edge', 'Status'],
        types: [
          'PageInfo',
          'Pagination',
          // Parts of ServerStatus.
          'QueueDepth',
          'RoomFollowers',
          'ErrorCount',
          // Counts of the last minutes, and lines of the log: they are not stored either.
          'Load',
          'UserLoad',
          'AddressLoad',
          'Refusal',
          // A state of a room, which is not stored.
          'RoomPresence',
          // The position in a stream, `cursor`, identifies an event.
          ...Object.keys(roomEventTypes),
          ...inboxEventTypes,
        ],
      },
    },
  ],
  'relay-edge-types': [
    'error',
    {
      withEdgeSuffix: true,
      // A Client is an open connection: it is not stored, so `node` cannot find it.
      shouldImplementNode: false,
      // `nodes` of a connection, `data` of a numbered page, and lists that are short and complete.
      listTypeCanWrapOnlyEdgeType: false,
    },
  ],
  // `connections` has only `first` and `after`: each page is collected from all nodes, from the start.
  'relay-arguments': ['error', { includeBoth: false }],
};

const named = Object.entries(exceptions).map(([rule, options]) => [`@graphql-eslint/${rule}`, options]);

export default [
  {
    files: ['schema.graphql'],
    languageOptions: {
      parser: graphql.parser,
      parserOptions: { graphQLConfig: { schema: 'schema.graphql' } },
    },
    plugins: { '@graphql-eslint': graphql },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      ...graphql.configs['flat/schema-recommended'].rules,
      ...graphql.configs['flat/schema-relay'].rules,
      ...Object.fromEntries(named),
    },
  },
];

import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tuneCollector } from '../../../src/commands/collector.ts';
import { readConfig } from '../../../src/config.ts';
import { openDatabase } from '../../../src/data/open-database.ts';
import type { Services } from '../../../src/engine/context.ts';
import { createEngine } from '../../../src/engine/engine.ts';
import { Retained } from '../../../src/engine/limits/retained.ts';
import { createAutomaticDocuments } from '../../../src/engine/persisted.ts';
import type { FanOut } from '../../../src/live/fan-out.ts';
import { createLog } from '../../../src/log.ts';
import { UnsentAnswers } from '../../../src/transport/admission/unsent-answers.ts';
import { createHttpServer } from '../../../src/transport/http/server.ts';
import { createMetrics } from '../../../src/transport/metrics.ts';
import { resolvers, typeDefs } from '../memory.ts';
import { announce } from '../subject.ts';
import { createUnguardedEngine } from '../unguarded-engine.ts';

/* Postroom's engine and HTTP with another schema: no rooms, no accounts, data in memory. UNGUARDED=1 takes the limits out. */

// As main.ts does.
tuneCollector();

// The one that the engine is built on, not the peers' own.
const { createSchema }: typeof import('graphql-yoga') = createRequire(
  new URL('../../../package.json', import.meta.url),
)('graphql-yoga');

const config = readConfig();
const log = createLog(config.logLevel);
const services = { database: await openDatabase('sqlite::memory:') } as unknown as Services;
const schema = createSchema({ typeDefs, resolvers }) as never;
const engine = process.env['UNGUARDED']
  ? createUnguardedEngine(schema, log)
  : createEngine({
      schema,
      documents: createAutomaticDocuments(),
      services,
      fanOut: undefined as unknown as FanOut,
      config,
      log,
    });
const server = createHttpServer(
  {
    engine,
    authenticate: async () => null,
    watch: () => ({ checked: Promise.resolve(), stop: () => {} }),
    unsent: new UnsentAnswers(config.limits.answerBytes),
    retained: new Retained(config.limits),
    config,
    log,
    isReady: async () => true,
    metrics: createMetrics(() => []),
  },
  (_, socket) => socket.destroy(),
);
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () => announce((server.address() as AddressInfo).port));

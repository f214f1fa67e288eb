import { createSchema } from 'graphql-yoga';
import { tuneCollector } from '../../../src/commands/collector.ts';
import { readConfig } from '../../../src/config/config.ts';
import { openDatabase } from '../../../src/data/database/open-database.ts';
import { createAutomaticDocuments } from '../../../src/engine/documents/documents.ts';
import { createEngine } from '../../../src/engine/engine.ts';
import { ClientMemory } from '../../../src/engine/limits/client-memory.ts';
import { OperationReports } from '../../../src/engine/operation-reports.ts';
import type { FanOut } from '../../../src/live/fan-out.ts';
import type { Presence } from '../../../src/live/presence/presence.ts';
import { createLog } from '../../../src/log/log.ts';
import type { Services } from '../../../src/resolvers/context.ts';
import { AnswerBudget } from '../../../src/transport/admission/memory-budgets.ts';
import { createHttpServer } from '../../../src/transport/http/server.ts';
import { LongConnections } from '../../../src/transport/long-connections.ts';
import { HttpMetrics } from '../../../src/transport/metrics/http-metrics.ts';
import { Metrics } from '../../../src/transport/metrics/metrics.ts';
import { listen } from '../../support/listen.ts';
import { createEngineWithoutLimits } from '../engine-without-limits.ts';
import { resolvers, typeDefs } from '../memory.ts';

/* Postroom's engine and HTTP server with another schema and data in memory. WITHOUT_LIMITS=1 removes the limits. */

tuneCollector();

const config = readConfig();
const log = createLog(config.logLevel);
const services = { database: await openDatabase('sqlite::memory:') } as unknown as Services;
const schema = createSchema({ typeDefs, resolvers }) as never;
const engine = process.env['WITHOUT_LIMITS']
  ? createEngineWithoutLimits(schema, log)
  : createEngine({
      schema,
      documents: createAutomaticDocuments(),
      services,
      fanOut: undefined as unknown as FanOut,
      statusStreams: undefined as unknown as Parameters<typeof createEngine>[0]['statusStreams'],
      presence: undefined as unknown as Presence,
      config,
      log,
    });
const operationReports = new OperationReports(config, log);
const metrics = new Metrics();
const longConnections = new LongConnections(operationReports.load);
const server = createHttpServer(
  {
    engine,
    authenticate: async () => null,
    watchCredentials: () => ({ checked: Promise.resolve(), stop: () => {} }),
    answerBudget: new AnswerBudget(config.limits.answerBytes),
    clientMemory: new ClientMemory(config.limits),
    longConnections,
    stopping: new AbortController().signal,
    config,
    log,
    readState: async () => ({ database: 'up', bus: 'up' }),
    metrics,
    httpMetrics: new HttpMetrics(metrics),
    operationReports,
  },
  () => false,
);
listen(server);

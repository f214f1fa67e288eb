import { expect, it } from 'vitest';
import { findFreePort } from '../../scripts/free-port.ts';
import { post } from '../support/clients/http.ts';
import { TraceReceiver } from '../support/engine/trace-receiver.ts';
import { launchForTest, launchProcessForTest, type Postroom, programEnvironment } from '../support/server/postroom.ts';
import { pollWhileTimePasses, withVirtualTimers } from '../support/server/virtual-timers.ts';

/* How spans reach their receiver, and what happens if they do not. */

const message = 'spans of traces could not be sent';
/** The maximum number of spans that wait. */
const maxWaiting = 2_048;

const fieldsEach = 30;
const fields = Array.from({ length: fieldsEach }, (_, index) => `f${index}: roomByName(name: "${index}") { id }`);
/** One span for the query, and one for the statement of each field. */
const spansEach = 1 + fieldsEach;

/** Sends operations until they have at least `spanCount` spans. Returns the number of the spans. */
async function sendMany(postroom: Postroom, spanCount: number): Promise<number> {
  let sent = 0;
  while (sent < spanCount) {
    const answers = await Promise.all(Array.from({ length: 5 }, () => post(postroom, `{ ${fields.join(' ')} }`)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    sent += answers.length * spansEach;
  }
  return sent;
}

it('spans are sent with the headers, the name and the attributes of the settings', async () => {
  const receiver = await TraceReceiver.start();
  const postroom = await launchForTest({
    OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/otlp/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20hushed, x-tenant=a%2Cb',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.name=other',
    OTEL_SERVICE_NAME: 'rooms',
    NODE_NAME: 'one',
  });
  await postroom.ask('{ __typename }');
  await postroom.stop();
  expect(receiver.requests).toMatchObject([
    {
      path: '/otlp/v1/traces',
      headers: { 'content-type': 'application/json', authorization: 'Bearer hushed', 'x-tenant': 'a,b' },
    },
  ]);
  expect(receiver.spans[0]?.resource).toMatchObject({
    'service.name': 'rooms',
    'service.instance.id': 'one',
    'deployment.environment.name': 'test',
  });
  expect(receiver.text).not.toContain('hushed');
});

it('an endpoint of traces is used as it is', async () => {
  const receiver = await TraceReceiver.start();
  const postroom = await launchForTest({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await findFreePort()}`,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/own`,
  });
  await postroom.ask('{ __typename }');
  await postroom.stop();
  expect(receiver.requests.map(({ path }) => path)).toEqual(['/own']);
});

it('OTEL_SDK_DISABLED=true turns traces off', async () => {
  const receiver = await TraceReceiver.start();
  const postroom = await launchForTest({ ...receiver.settings, OTEL_SDK_DISABLED: 'true' });
  await postroom.ask('{ __typename }');
  await postroom.stop();
  expect(receiver.requests).toEqual([]);
});

it.each([
  ['is down', undefined, 'ECONNREFUSED'],
  ['refuses spans', 401, 'status 401'],
  ['fails', 503, 'status 503'],
  ['redirects', 307, ''],
])('while the receiver %s, operations are answered, and the log has one line without credentials', async (_, status, reason) => {
  const receiver = await TraceReceiver.start();
  receiver.status = status;
  const url = status === undefined ? `http://127.0.0.1:${await findFreePort()}` : receiver.url;
  const postroom = await launchForTest({
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=hushed',
  });
  await sendMany(postroom, 1_000);
  await postroom.stop();
  expect(postroom.log).toEqual([
    {
      level: 40,
      time: expect.any(String),
      reason: expect.stringContaining(reason),
      lost: expect.any(Number),
      url: `${url}/v1/traces`,
      msg: message,
    },
  ]);
  expect(JSON.stringify(postroom.log)).not.toContain('hushed');
});

it('while the receiver does not answer, operations are answered, and spans beyond a limit are dropped', async () => {
  const receiver = await TraceReceiver.start();
  receiver.status = undefined;
  const postroom = await launchProcessForTest(receiver.settings);
  await sendMany(postroom, 2 * maxWaiting + 1_000);
  // On a slow machine, batches were given up before.
  const received = receiver.spans.length;
  expect(await postroom.stop()).toBe(0);
  // One batch may have been on its way.
  expect(receiver.spans.length - received).toBeLessThanOrEqual(maxWaiting + 256);
  expect(postroom.log).toMatchObject([{ msg: message }]);
});

it('a stop gives up a receiver that does not answer before the time for an answer has passed', async () => {
  const receiver = await TraceReceiver.start();
  receiver.status = undefined;
  const postroom = await withVirtualTimers(() => launchForTest(receiver.settings));
  await postroom.ask('{ __typename }');
  let hasStopped = false;
  const stopped = postroom.stop().finally(() => {
    hasStopped = true;
  });
  await pollWhileTimePasses(() => hasStopped).toBe(true);
  await stopped;
  expect(receiver.requests).toHaveLength(1);
  expect(postroom.log).toMatchObject([{ msg: message, reason: 'the server has stopped' }]);
});

it('a server that stops sends the spans of its last operations', async () => {
  const receiver = await TraceReceiver.start();
  const postroom = await launchProcessForTest(receiver.settings);
  const sent = await sendMany(postroom, 600);
  expect(await postroom.stop()).toBe(0);
  expect(receiver.spans).toHaveLength(sent);
  expect(postroom.log).toEqual([]);
});

/** A module that refuses to load OpenTelemetry, except for its API, which prom-client loads. */
const refuseOpenTelemetry = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({
    resolve(name, context, next) {
      if (/^@opentelemetry.(?!api$)/.test(name)) throw new Error('OpenTelemetry was loaded');
      return next(name, context);
    },
  });`)}`;

it('OpenTelemetry is loaded only if there is an endpoint', async () => {
  const NODE_OPTIONS = `${programEnvironment.NODE_OPTIONS} --import=${refuseOpenTelemetry}`;
  const postroom = await launchProcessForTest({ NODE_OPTIONS });
  expect(await postroom.ask('{ __typename }')).toEqual({ __typename: 'Query' });
  const settings = { NODE_OPTIONS, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
  await expect(launchProcessForTest(settings)).rejects.toThrow('OpenTelemetry was loaded');
});

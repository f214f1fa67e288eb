import { BadSetting, parseChoice, parseText } from './bad-setting.ts';

/* https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ */

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export type TracingSettings = NonNullable<ReturnType<typeof readTracing>>;

/** All report a bad setting and continue, so that all of them are reported. */
export interface SettingReaders {
  /** An absent setting has the value `fallback`. */
  parsed: <T>(name: string, fallback: string, parse: (value: string, name: string) => T) => T;
  /** An absent setting is undefined. */
  optional: <T>(name: string, parse: (value: string, name: string) => T) => T | undefined;
  flag: (name: string, fallback: boolean) => boolean;
}

/** Undefined if no traces are sent. */
export function readTracing({ parsed, optional, flag }: SettingReaders) {
  const all = optional('OTEL_EXPORTER_OTLP_ENDPOINT', parseEndpoint);
  // Where spans are sent; it contains no credentials. The path of OTLP is added only to the endpoint of all signals.
  const url =
    optional('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', parseEndpoint) ?? (all && `${all.replace(/\/$/, '')}/v1/traces`);
  const serviceName = optional('OTEL_SERVICE_NAME', parseServiceName);
  const settings = {
    /** Often credentials. */
    headers: parsed('OTEL_EXPORTER_OTLP_HEADERS', '', parseHeaders),
    /** Attributes of this process. */
    resource: {
      'service.name': 'postroom',
      ...parsed('OTEL_RESOURCE_ATTRIBUTES', '', (list, name) => parsePairs(list, name)),
      ...(serviceName !== undefined && { 'service.name': serviceName }),
    },
    sampler: {
      name: parsed('OTEL_TRACES_SAMPLER', 'parentbased_always_on', parseChoice(samplers)),
      ratio: Number(parsed('OTEL_TRACES_SAMPLER_ARG', '1', parseRatio)),
    },
    /** Whether the spans of operations contain their documents. */
    hasDocuments: flag('TRACE_DOCUMENTS', false),
    /** Whether an operation continues the trace of its client, which then decides whether it is recorded. */
    followsClients: flag('TRACE_CLIENTS', true),
  };
  return flag('OTEL_SDK_DISABLED', false) || url === undefined ? undefined : { url, ...settings };
}

const parseEndpoint = parseText(
  /^https?:\/\/[^?#@]+$/,
  'must be an http or https URL of a host and an optional path, without credentials',
  { isUrl: true },
);
const parseServiceName = parseText(
  /^[^\p{Cc}]{1,200}$/u,
  'must be at most 200 characters, none of them a control character',
);
const parseRatio = parseText(/^(0|1|0?\.\d{1,15}|[01]\.0*)$/, 'must be a number from 0 to 1, such as 0.05');

function parseHeaders(list: string, name: string): Record<string, string> {
  const headers = parsePairs(list, name, '(hidden)');
  try {
    // An import of `node:http` loads the whole of Node's fetch: so do these `Headers`, but only if there are any.
    for (const [key, value] of Object.entries(headers))
      new Headers([[key, value.replaceAll(/[^\t -~\x80-\xff]/g, '\0')]]);
  } catch {
    throw new BadSetting(name, '(hidden)', 'must be names and values that HTTP allows');
  }
  return headers;
}

/** A list of `name=value`, in which values are percent-encoded. `shown`: the text in an error instead of the list. */
function parsePairs(list: string, name: string, shown = list): Record<string, string> {
  const pairs = list.split(',').flatMap((pair) => pair.trim() || []);
  const read = pairs.map((pair) => {
    const [, key, value] = /^([^=\s]+)\s*=\s*(.*)$/.exec(pair) ?? [];
    const decoded = value === undefined ? undefined : decode(value);
    if (key === undefined || decoded === undefined) {
      throw new BadSetting(name, shown, 'must be name=value, with percent-encoded values; commas separate several');
    }
    return [key, decoded];
  });
  return Object.fromEntries(read);
}

function decode(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}

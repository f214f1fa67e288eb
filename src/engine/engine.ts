import { type GraphQLSchema, OperationTypeNode } from 'graphql';
import { createYoga } from 'graphql-yoga';
import type { Config } from '../config.ts';
import { type Answer, findClientError, toAnswer } from './answer.ts';
import { Documents, useDocumentRules } from './documents.ts';
import { createCostCheck } from './limits/cost.ts';
import { CostlyOperations } from './limits/costly-operations.ts';
import { createDepthCheck } from './limits/depth.ts';
import { createSourceCheck } from './limits/document.ts';
import { checkExpanded } from './limits/expanded.ts';
import { createRateLimit, type Rate, RateLimited } from './limits/rate.ts';
import { RefusalLimit } from './limits/refusals.ts';
import { ResumedCharge } from './limits/resumed-charge.ts';
import { type Call, type GraphQLRequest, Operation, type OperationParts, type PreparedOperation } from './operation.ts';
import type { DocumentSource } from './persisted.ts';
import { errorsOf, validateRequest } from './request-validation.ts';

export interface EngineParts extends Omit<OperationParts, 'costlyOperations'> {
  schema: GraphQLSchema;
  documents: DocumentSource;
  config: Pick<Config, 'limits' | 'introspection' | 'operationTimeoutMs' | 'rate' | 'authRequired'>;
}

/** Yoga's pipeline. */
export type Enveloped = ReturnType<ReturnType<typeof createYoga>['getEnveloped']>;

/** One pipeline for every transport: parse, validate, limits, execute. */
export interface Engine {
  prepare(request: GraphQLRequest, call: Call): Promise<PreparedOperation | Answer>;
  /** Charges a request that was refused before it became an operation. @throws RateLimited. */
  chargeRefused(address: string): void;
  /** Formats an error outside any operation in the same way as an operation's error. */
  refuse(error: unknown, requestId: string): Answer;
}

export function isAnswer(value: object): value is Answer {
  return 'status' in value && 'body' in value;
}

export function createEngine(parts: EngineParts): Engine {
  const { schema, documents, config, log } = parts;
  const chargeRate = createRateLimit(config.rate);
  const checkCost = createCostCheck(schema, config.limits.cost);
  const pipeline = createYoga({
    schema,
    logging: false,
    maskedErrors: false,
    parserAndValidationCache: false,
    plugins: [
      useDocumentRules({
        introspection: config.introspection,
        checkSource: createSourceCheck(config.limits),
        checkSize: (_schema, document) => checkExpanded(document),
        checks: [createDepthCheck(config.limits)],
      }),
    ],
  });
  const refusals = config.rate.limit === 0 ? undefined : new RefusalLimit(config.rate);
  const operationParts = { ...parts, chargeRate, costlyOperations: new CostlyOperations() };
  const validation = { schema, opened: new Documents(pipeline.getEnveloped()), checkCost, ...config };
  const chargeRefused = (call: Call, refusal: unknown): unknown => {
    if (!call.isResumed || refusal instanceof RateLimited) return refusal;
    return new ResumedCharge(chargeRate, call).chargeRefused() ?? refusal;
  };
  return {
    async prepare(request, call) {
      let rate: Rate | undefined;
      let isNew = false;
      try {
        if (!call.isResumed) rate = chargeRate(call);
        const source = documents.find(request);
        isNew = !validation.opened.knows(source);
        // A new document opens a group, which is charged later. A caller that is over the rate is refused here, before
        // the parse.
        if (isNew && call.isResumed) chargeRate(call, 0);
        if (isNew) refusals?.assertMayAsk(call);
        const validated = validateRequest(validation, source, request, call);
        documents.keep(request);
        const isStream = validated.args.operation.operation === OperationTypeNode.SUBSCRIPTION;
        if (call.isResumed && !isStream) rate = chargeRate(call);
        return new Operation(operationParts, validated, request, call, rate);
      } catch (error) {
        if (isNew) refusals?.count(call, findClientError(errorsOf(error)[0])?.code);
        return toAnswer({ errors: errorsOf(chargeRefused(call, error)) }, { requestId: call.requestId, log, rate });
      }
    },
    chargeRefused(address) {
      chargeRate({ viewer: null, address });
    },
    refuse: (error, requestId) => toAnswer({ errors: errorsOf(error) }, { requestId, log }),
  };
}

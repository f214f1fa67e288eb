import type { GraphQLSchema } from 'graphql';
import { createYoga } from 'graphql-yoga';
import type { Config } from '../../config.ts';
import { createDepthCheck } from '../limits/depth.ts';
import { createSourceCheck } from '../limits/document.ts';
import { checkExpanded } from '../limits/expanded.ts';
import { useDocumentRules } from './document-rules.ts';
import { checkIdempotentFields } from './idempotent-fields.ts';

/** Parses and validates documents, within the limits. */
export type Pipeline = Pick<ReturnType<ReturnType<typeof createYoga>['getEnveloped']>, 'parse' | 'validate' | 'schema'>;

export type PipelineConfig = Pick<Config, 'limits' | 'introspection'>;

/** `suggestions`: whether errors suggest names of the schema. */
export function createPipeline(
  schema: GraphQLSchema,
  config: PipelineConfig,
  suggestions = config.introspection,
): Pipeline {
  const yoga = createYoga({
    schema,
    logging: false,
    maskedErrors: false,
    parserAndValidationCache: false,
    plugins: [
      useDocumentRules({
        introspection: config.introspection,
        suggestions,
        checkSource: createSourceCheck(config.limits),
        checkSize: (_schema, document) => checkExpanded(document),
        checksAfterRules: [createDepthCheck(config.limits), checkIdempotentFields],
      }),
    ],
  });
  return yoga.getEnveloped();
}

import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  OverlappingFieldsCanBeMergedRule,
  parse,
  specifiedRules,
  type ValidationOptions,
  type ValidationRule,
  validate,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { withoutTraces } from '../../stack-traces.ts';
import { requestError } from '../answer.ts';

const maxErrors = 10;

export interface DocumentRules {
  introspection: boolean;
  /** Whether errors suggest names of the schema. */
  suggestions: boolean;
  /** Runs before the parse. @throws ClientError if the text is too large or too complex. */
  checkSource: (source: string) => void;
  /** Runs before the standard rules, which would take long on the documents that it refuses. */
  checkSize: DocumentCheck;
  /**
   * Run in order on a document that passed the standard rules except the one on overlapping fields. The first check
   * that finds errors ends the validation.
   */
  checksAfterRules: readonly DocumentCheck[];
}

export type DocumentCheck = (schema: GraphQLSchema, document: DocumentNode) => readonly GraphQLError[];

/** The rules for parsing and validating in the pipeline. */
export function useDocumentRules({
  introspection,
  suggestions,
  checkSource,
  checkSize,
  checksAfterRules,
}: DocumentRules): Plugin {
  const rules = introspection ? linearRules : [...linearRules, NoSchemaIntrospectionCustomRule];
  const options = { maxErrors, hideSuggestions: !suggestions };
  const steps = [
    checkSize,
    checkRules(rules, options),
    ...checksAfterRules,
    checkRules([OverlappingFieldsCanBeMergedRule], options),
  ];

  function validateInSteps(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] {
    for (const step of steps) {
      const errors = step(schema, document);
      if (errors.length > 0) return errors;
    }
    return [];
  }

  return {
    onParse: ({ params, setParsedDocument }) => setParsedDocument(parseChecked(String(params.source), checkSource)),
    onValidate: ({ params: { schema, documentAST }, setResult }) =>
      setResult([...validateInSteps(schema, documentAST)]),
  };
}

/**
 * The rule on overlapping fields compares them pair by pair, so it runs last, on documents that are known to be small
 * enough.
 */
const linearRules = specifiedRules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule);

function checkRules(rules: readonly ValidationRule[], options: ValidationOptions): DocumentCheck {
  return (schema, document) => {
    const check = () => validate(schema, document, rules, options);
    return withTraceOfFaults(check).map((error) => requestError('GRAPHQL_VALIDATION_FAILED', undefined, error));
  };
}

/**
 * Validation errors need no stack trace. An error that is thrown is a bug in the server, so the check runs again with
 * stack traces.
 */
function withTraceOfFaults(check: () => readonly GraphQLError[]): readonly GraphQLError[] {
  try {
    return withoutTraces(check);
  } catch {
    return check();
  }
}

function parseChecked(source: string, checkSource: (source: string) => void): DocumentNode {
  try {
    checkSource(source);
    return parse(source);
  } catch (error) {
    if (error instanceof GraphQLError) throw requestError('GRAPHQL_PARSE_FAILED', undefined, error);
    throw error;
  }
}

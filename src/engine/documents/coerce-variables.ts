import {
  coerceInputValue,
  GraphQLError,
  type GraphQLSchema,
  getVariableValues,
  isInputType,
  typeFromAST,
  type ValidatedExecutionArgs,
  type VariableDefinitionNode,
  type VariableValues,
} from 'graphql';
import { RequestErrors, requestError } from '../answer.ts';

const maxErrors = 10;
/** Of all variables together. The text of a post has up to 20,000 characters. */
const maxDescribedCharacters = 30_000;
const maxDescribedValues = 1_000;

/** Coerces the variables of an operation to their types. @throws RequestErrors VARIABLES_INVALID. */
export function coerceVariables(
  { schema, operation, hideSuggestions }: ValidatedExecutionArgs,
  variables: Readonly<Record<string, unknown>>,
): VariableValues {
  const definitions = operation.variableDefinitions ?? [];
  // Each of graphql's messages contains the whole invalid object, which takes half a second for one of 1 MB.
  if (isLong(variables)) assertCoercible(schema, definitions, variables);
  const { errors, variableValues } = getVariableValues(schema, definitions, variables, { maxErrors, hideSuggestions });
  if (errors) throw new RequestErrors(errors.map((error) => requestError('VARIABLES_INVALID', undefined, error)));
  return variableValues;
}

/** Errors that remain, such as a variable that is missing, have short messages. */
function assertCoercible(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  variables: Readonly<Record<string, unknown>>,
): void {
  for (const definition of definitions) {
    const { value: name } = definition.variable.name;
    const type = typeFromAST(schema, definition.type);
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (value == null || !isInputType(type) || coerceInputValue(cutStrings(value), type) !== undefined) continue;
    const message = `Variable "$${name}" has an invalid value. The variables are too long for a description of the error.`;
    throw requestError('VARIABLES_INVALID', undefined, new GraphQLError(message, { nodes: definition }));
  }
}

function isLong(value: unknown, described = { values: 0, characters: 0 }): boolean {
  described.values += 1;
  if (typeof value === 'string') described.characters += value.length;
  if (described.values > maxDescribedValues || described.characters > maxDescribedCharacters) return true;
  if (Array.isArray(value)) return value.some((item) => isLong(item, described));
  if (typeof value !== 'object' || value === null) return false;
  for (const key in value) {
    described.characters += key.length;
    if (isLong((value as Record<string, unknown>)[key], described)) return true;
  }
  return false;
}

/**
 * For an invalid value of an enum graphql searches for similar names, which takes 20 ms for a string of 1 MB. For no type
 * does the validity of a string depend on what is cut off.
 */
function cutStrings(value: unknown): unknown {
  if (typeof value === 'string') return value.slice(0, maxDescribedCharacters);
  if (Array.isArray(value)) return value.map(cutStrings);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, own]) => [name, cutStrings(own)]));
}

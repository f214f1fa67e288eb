import { type GraphQLError, type GraphQLResolveInfo, locatedError } from 'graphql';
import type { FieldPlan } from './plan.ts';

/** The path of a value in the answer. Each path is one object, so that it is recognised by identity. */
export type Path = GraphQLResolveInfo['path'];

/** The errors of one execution: at most one for each value that is null because of an error. */
export class FieldErrors {
  readonly all: GraphQLError[] = [];
  #nulled: Set<Path> | undefined;

  /** Records the error of a value that becomes null, unless an enclosing value is already null. */
  add(error: GraphQLError, path: Path): void {
    for (let place: Path | undefined = path; place; place = place.prev) if (this.#nulled?.has(place)) return;
    this.#nulled ??= new Set();
    this.#nulled.add(path);
    this.all.push(error);
  }
}

export function pathOf({ responseName, parentType }: FieldPlan, parent?: Path): Path {
  return { prev: parent, key: responseName, typename: parentType.name };
}

export function locate(error: unknown, { nodes }: FieldPlan, path: Path): GraphQLError {
  return locatedError(error, nodes, toKeys(path));
}

function toKeys({ prev, key }: Path): (string | number)[] {
  return prev ? [...toKeys(prev), key] : [key];
}

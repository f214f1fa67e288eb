import { type GraphQLObjectType, isObjectType } from 'graphql';

/** Whether a type is an object type that implements an interface. */
export function implementsInterface(type: unknown, name: string): type is GraphQLObjectType {
  return isObjectType(type) && type.getInterfaces().some((each) => each.name === name);
}

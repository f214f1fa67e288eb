import { url } from './settings.ts';

/** Sends a query or mutation, without a library. @throws Error with the code of the first error. */
export async function ask<Data>(query: string, variables: object, token?: string): Promise<Data> {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
  const { data, errors } = await response.json();
  if (errors) throw new Error(errors[0].message, { cause: errors[0].extensions.code });
  return data;
}

import { GraphQLClient } from 'graphql-request';
import { token, url } from './settings.ts';

export const graphql = new GraphQLClient(url, { headers: token ? { authorization: `Bearer ${token}` } : {} });

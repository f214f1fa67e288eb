import { resumableSse } from '@postroom/client';
import { createClient } from 'graphql-sse';
import { url } from './settings.ts';

/** A client of graphql-sse whose subscriptions resume. `variables.after` is the cursor at which a stream starts. */
export const openSse = (token: string | undefined) => resumableSse({ url, createClient, token });

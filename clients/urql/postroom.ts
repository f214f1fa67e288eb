import { createPostroomClient } from '@postroom/client';
import { createClient } from 'graphql-ws';
import { token, url } from './settings.ts';

export const postroom = createPostroomClient({ url, createClient, token });

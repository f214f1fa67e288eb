import { ApolloProvider } from '@apollo/client/react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { client } from './client.ts';
import { Chat } from './components/chat.tsx';
import { SignIn } from './components/sign-in.tsx';
import { session } from './session.ts';
import './style.css';

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <ApolloProvider client={client}>{session ? <Chat user={session.user} /> : <SignIn />}</ApolloProvider>
  </StrictMode>,
);

import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ChatContext, openChat } from './chat.ts';
import { App } from './components/app.tsx';
import { SignIn } from './components/sign-in.tsx';
import { followOtherTabs, readSession, type Session, storeSession } from './session.ts';
import './style.css';

const root = createRoot(document.getElementById('root') as HTMLElement);
const session = readSession();
if (session) start(session);
else root.render(<SignIn onSession={start} />);

function start(started: Session): void {
  storeSession(started);
  followOtherTabs(started);
  root.render(
    <StrictMode>
      <ChatContext value={openChat(started)}>
        <App />
      </ChatContext>
    </StrictMode>,
  );
}

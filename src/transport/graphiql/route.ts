import type { Config } from '../../config/config.ts';
import type { Serve } from '../http/exchange.ts';
import { createPageRoute } from '../pages/route.ts';

const createRoute = (whoMayTry: string) => createPageRoute(new URL('./page.ts', import.meta.url), { whoMayTry });
const routes = { everybody: createRoute('everybody'), users: createRoute('users'), nobody: createRoute('nobody') };

export const writeGraphiql: Serve = (exchange) => routes[whoMayTry(exchange.parts.config)](exchange);

/** Who may run the demo, which signs up unless somebody is signed in. */
function whoMayTry({ signUp, trustedDocuments }: Config): keyof typeof routes {
  if (trustedDocuments !== undefined) return 'nobody';
  return signUp === 'open' ? 'everybody' : 'users';
}

import type { Config } from '../config/config.ts';
import { type Log, logFailures } from '../log/log.ts';
import { type AuthenticationParts, createAuthentication } from './authentication.ts';
import { CredentialWatch, type WatchCredentials } from './credential-watch.ts';
import { OAuth } from './oauth/oauth.ts';
import { ViewerCache } from './viewer-cache.ts';

interface IdentitySources extends Omit<AuthenticationParts, 'oauth' | 'viewers'> {
  config: Pick<Config, 'oauth' | 'rate'>;
  log: Log;
}

/** Creates the parts that verify the credentials of a request, and that watch the credentials of open connections. */
export function createIdentity({ config, log, ...sources }: IdentitySources) {
  const oauth = config.oauth && new OAuth(config.oauth, config.rate, log);
  const viewers = new ViewerCache();
  const credentials = new CredentialWatch({
    db: sources.database.checks,
    oauth,
    viewers,
    onError: logFailures(log, 'credentials could not be checked, and will be checked again'),
  });
  return {
    authenticate: createAuthentication({ ...sources, oauth, viewers }),
    watchCredentials: ((viewer, end) => credentials.watch(viewer, end)) satisfies WatchCredentials,
    viewers,
    credentials,
    stop() {
      credentials.stop();
      oauth?.close();
    },
  };
}

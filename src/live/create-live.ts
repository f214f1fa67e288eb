import type { Config } from '../config.ts';
import { FixedWindow } from '../fixed-window.ts';
import { FanOut, type FanOutParts, maxFreeResumes } from './fan-out.ts';
import { GroupCosts } from './groups/group-costs.ts';
import { Presence, type PresenceParts } from './presence/presence.ts';

/** Limits the cost per event of the groups of one address or user, as a multiple of the largest operation's cost. */
const maxOperationsPerEvent = 5;

interface LiveSources extends Omit<FanOutParts, 'groupCosts' | 'freeResumes'>, Pick<PresenceParts, 'askOthers'> {
  config: Pick<Config, 'rate' | 'limits'>;
}

/** Creates the fan-out of events and the presence, which share the costs of groups. */
export function createLive({ config, askOthers, ...sources }: LiveSources) {
  const { bus, onError } = sources;
  const { windowSeconds } = config.rate;
  const groupCosts = new GroupCosts({
    maxCost: maxOperationsPerEvent * config.limits.cost,
    freeReopenMs: windowSeconds * 1_000,
  });
  const fanOut = new FanOut({
    ...sources,
    groupCosts,
    freeResumes: new FixedWindow({ limit: maxFreeResumes, windowSeconds }),
  });
  const shared = { costs: groupCosts, counts: fanOut.counts, onError };
  const presence = new Presence({ bus, fanOut, ...shared, askOthers });
  return { groupCosts, fanOut, presence };
}

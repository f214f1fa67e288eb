import { closestMatch } from 'leven';

/** The name of a setting is short if other programs have variables that differ from it by two letters: HOME, PGPORT. */
const maxShortLength = 5;
/** Groups of settings; other programs do not use these prefixes. */
const ownPrefixes = ['LIMIT_', 'OAUTH_', 'EVENT_RETENTION_', 'DRAIN_', 'RATE_'];

/**
 * The variables that differ from a setting in one or two letters, in case, or by `_FILE`, or that have the prefix of several,
 * each with the setting that it resembles.
 */
export function findMistaken(variables: readonly string[], settings: readonly string[]) {
  return variables
    .filter((variable) => !settings.includes(variable))
    .flatMap((variable) => {
      const setting = findResembled(variable.toUpperCase(), settings);
      return setting === undefined ? [] : { variable, setting };
    });
}

function findResembled(name: string, settings: readonly string[]): string | undefined {
  const withoutFile = name.replace(/_FILE$/, '');
  if (settings.includes(withoutFile)) return withoutFile;
  const prefix = ownPrefixes.find((own) => name.startsWith(own));
  if (prefix !== undefined)
    return closestMatch(
      name,
      settings.filter((setting) => setting.startsWith(prefix)),
    );
  const isShort = (setting: string) => setting.length <= maxShortLength;
  const [short, long] = [settings.filter(isShort), settings.filter((setting) => !isShort(setting))];
  return closestMatch(name, long, { maxDistance: 2 }) ?? closestMatch(name, short, { maxDistance: 1 });
}

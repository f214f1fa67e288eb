/** The password in a URL, also if its special characters are not percent-encoded; it is hidden in messages. */
const password = /(?<=:\/\/[^/:@]*:).*(?=@)|(?<=[?&]password=)[^&]*/gi;

/** A setting with a bad value. `rule` continues the name: "must be true or false". */
export class BadSetting extends Error {
  readonly setting: string;
  readonly rule: string;

  constructor(setting: string, value: string, rule: string) {
    super(`${setting} ${rule} (got ${JSON.stringify(value.replace(password, '…'))}).`);
    this.name = 'BadSetting';
    this.setting = setting;
    this.rule = rule;
  }
}

/** A parser of a setting whose value is one of these names. It throws BadSetting for any other value. */
export function parseChoice<Name extends string>(names: readonly Name[]): (value: string, setting: string) => Name {
  return (value, setting) => {
    const found = names.find((name) => name === value);
    if (found !== undefined) return found;
    throw new BadSetting(setting, value, `must be one of ${names.join(', ')}`);
  };
}

/** A parser of a setting whose value has this form, and may have to be a URL. It throws BadSetting for any other value. */
export function parseText(form: RegExp, rule: string, { isUrl = false } = {}) {
  return (value: string, setting: string): string => {
    if (form.test(value) && (!isUrl || URL.canParse(value))) return value;
    throw new BadSetting(setting, value, rule);
  };
}

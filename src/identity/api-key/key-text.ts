import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const brand = 'pr_live_';
/** 28 digits of base 62 are 166 random bits. */
const randomLength = 28;
const checksumLength = 6;
const form = new RegExp(`^${brand}[0-9A-Za-z]{${randomLength + checksumLength}}$`);

/** Creates the text of a key. */
export function generateKey(): string {
  const random = Array.from({ length: randomLength }, () => digits.charAt(randomInt(digits.length))).join('');
  return brand + random + checksumOf(random);
}

/** The first characters of a key, by which users recognise it. */
export function prefixOf(key: string): string {
  return key.slice(0, brand.length + 6);
}

/** Whether the text begins like an API key of Postroom, even if it is not valid. */
export function looksLikeApiKey(text: string): boolean {
  return text.startsWith(brand);
}

/** Whether form and checksum are right: a typo is detected without a read of the database. */
export function isWellFormed(key: string): boolean {
  if (!form.test(key)) return false;
  const random = key.slice(brand.length, -checksumLength);
  return key.slice(-checksumLength) === checksumOf(random);
}

/**
 * The key is random enough for a fast hash. It is found by its whole hash, so no comparison reveals a part of the key.
 */
export function hashKey(key: string): string {
  return hash('sha256', key);
}

function checksumOf(random: string): string {
  let rest = crc32(random);
  let text = '';
  while (text.length < checksumLength) {
    text = digits.charAt(rest % digits.length) + text;
    rest = Math.floor(rest / digits.length);
  }
  return text;
}

import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const brand = 'pr_live_';
/** 28 digits of base 62 are 166 random bits. */
const randomLength = 28;
const checksumLength = 6;
const form = new RegExp(`^${brand}[0-9A-Za-z]{${randomLength + checksumLength}}$`);
const shownLength = brand.length + 6;

export interface NewApiKey {
  /** Shown once. */
  key: string;
  /** How it begins, to tell it from others. */
  prefix: string;
  hash: string;
}

export function createApiKey(): NewApiKey {
  const random = Array.from({ length: randomLength }, () => digits.charAt(randomInt(digits.length))).join('');
  const key = brand + random + checksumOf(random);
  return { key, prefix: key.slice(0, shownLength), hash: hashApiKey(key) };
}

/** Whether it is meant as a key of ours, be it a good one or not. */
export function looksLikeApiKey(text: string): boolean {
  return text.startsWith(brand);
}

/** Whether it may be a key of ours: a typo is told without a look at the database. */
export function isApiKey(key: string): boolean {
  if (!form.test(key)) return false;
  const random = key.slice(brand.length, -checksumLength);
  return key.slice(-checksumLength) === checksumOf(random);
}

/** The key is random enough that a fast hash keeps it; looked up by the whole hash, nothing of it is compared in part. */
export function hashApiKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
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

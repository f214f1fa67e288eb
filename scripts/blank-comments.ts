const string = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/;
const pattern = /(?<=[=(,:[!&|?{};]\s*|\breturn\s+)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])+\//;
const template = /`(?:\\[\s\S]|[^`\\])*`/;
const comment = /\/\/[^\n]*|\/\*[\s\S]*?\*\//;

// Strings and patterns are consumed first: what looks like a comment inside them is none.
const token = new RegExp(
  `(?<kept>${string.source}|${pattern.source})|(?<template>${template.source})|${comment.source}`,
  'g',
);

/** The same TypeScript text with spaces for its comments; every line stays where it is. */
export function blankComments(text: string): string {
  return text.replace(token, (found, kept?: string, template?: string) => kept ?? template ?? blank(found));
}

/** The same with spaces for its template literals as well. */
export function blankTemplates(text: string): string {
  return text.replace(token, (found, kept?: string) => kept ?? blank(found));
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}

export const url = process.env['POSTROOM_URL'] ?? 'http://127.0.0.1:4000/graphql';
export const token = process.env['TOKEN'];

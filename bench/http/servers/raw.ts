import { createServer } from 'node:http';
import { listen } from '../../support/listen.ts';

/* The lower bound of the cost: node:http reads the body and always answers the same bytes. */

const answer = Buffer.from(process.env['ANSWER'] ?? '{}');
const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': answer.length };

listen(
  createServer((request, response) => {
    request.resume().once('end', () => response.writeHead(200, headers).end(answer));
  }),
);

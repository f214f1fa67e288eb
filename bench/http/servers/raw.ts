import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { announce } from '../subject.ts';

/* The floor: node:http that reads the body and answers the same bytes each time. */

const answer = Buffer.from(process.env['ANSWER'] ?? '{}');
const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': answer.length };

const server = createServer((request, response) => {
  request.resume().once('end', () => response.writeHead(200, headers).end(answer));
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () => announce((server.address() as AddressInfo).port));

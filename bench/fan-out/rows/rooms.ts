import type { AudienceOptions } from '../audience.ts';
import { type ContestantName, titles } from '../contestants.ts';
import { measureCosts, perDelivery, perEvent, type Run, withAudiences } from '../rounds.ts';
import { ratios, spread } from '../statistics.ts';
import type { Found } from '../table.ts';

const names: ContestantName[] = ['raw-ws', 'raw-ws-behind-postroom', 'postroom'];

export async function rooms(run: Run): Promise<Found> {
  const measured = [];
  for (const name of names) {
    const options: AudienceOptions[] = [
      { name, size: 10_000 },
      { name, size: 10, rooms: 1_000 },
    ];
    const [one = [], many = []] = await withAudiences(options, run, (audiences) => measureCosts(audiences, run));
    const quotients = ratios(perDelivery(many), perDelivery(one));
    measured.push({ name, one: perDelivery(one), many: perDelivery(many), quotients, event: perEvent(many) });
  }
  return {
    title: 'One room of 10,000, or 1,000 rooms of 10',
    about:
      'In the small rooms an event is executed for 10 deliveries, and comes behind a mutation each time: so it does in the second row, where raw ws delivers. The last column is the mutation, which is not counted; 25 of them come in one request.',
    rows: measured.map(({ name, one, many, quotients, event }) => ({
      contestant: titles[name],
      'one room, µs a delivery': spread(one, 1),
      '1,000 rooms, µs a delivery': spread(many, 1),
      '1,000 rooms ÷ one': spread(quotients),
      'µs a mutation': spread(event, 0),
    })),
    targets: [
      {
        what: '1,000 rooms of 10 ÷ one of 10,000, per delivery',
        ratios: measured.at(-1)?.quotients ?? [],
        atMost: 1.5,
      },
    ],
  };
}

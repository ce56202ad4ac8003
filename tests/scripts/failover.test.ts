import { expect, test } from 'bun:test'
import { type Acknowledged, createHistory, doublesIn } from '../../scripts/failover/history.ts'

/** A write that a server acknowledged in a generation. */
const write = (generation: number, sentAt: number, answeredAt: number): Acknowledged => ({
  ...{ kind: 'event', isWrite: true, client: 0, server: 'one', key: `${sentAt}`, status: 202 },
  ...{ generation, sentAt, answeredAt },
})

test.each([
  ['one server', [write(1, 0, 5), write(1, 6, 9)], []],
  ['one after the other', [write(1, 0, 5), write(2, 20, 30)], []],
  ['an answer that is late', [write(1, 0, 40), write(2, 20, 30)], []],
  [
    'a request after the first answer of the next one',
    [write(1, 31, 40), write(2, 20, 30)],
    ['31'],
  ],
  ['the same server in a later turn', [write(1, 0, 5), write(2, 20, 30), write(3, 31, 40)], []],
])('Two servers that answer at once are found in a history: %s', (_, acknowledged, doubles) => {
  expect(doublesIn(acknowledged).map(({ key }) => key)).toEqual(doubles)
})

test('An interruption is the longest time without an answer, to all clients and to one', () => {
  const history = createHistory()
  for (const [client, answeredAt] of [
    [0, 0],
    [1, 10],
    [0, 25],
    [1, 30],
  ] as const)
    history.add({ ...write(1, answeredAt, answeredAt), client })
  history.add({ ...write(1, 12, 12), client: undefined })
  expect([history.interruption(), history.worstClient()]).toEqual([15, 25])
})

import { expect, test } from 'bun:test'
import { createTurns } from '../../src/http/turns.ts'

test('one goes on at each turn of the event loop, in the order in which they came', async () => {
  const turn = createTurns()
  const seen: string[] = []
  const all = Promise.all(['a', 'b', 'c'].map((name) => turn().then(() => seen.push(name))))

  const after: string[][] = []
  for (let n = 0; n < 3; n++) {
    await new Promise<void>((resolve) => setImmediate(resolve))
    after.push([...seen])
  }
  await all

  expect(after.at(-1)).toEqual(['a', 'b', 'c'])
  expect(after.map(({ length }) => length)).toEqual([1, 2, 3])
})

test('who comes when nobody waits goes on at the next turn', async () => {
  const turn = createTurns()
  await turn()
  await turn()

  expect(await Promise.race([turn().then(() => 'gone on'), Bun.sleep(1000)])).toBe('gone on')
})

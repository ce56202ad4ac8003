import { expect, test } from 'bun:test'
import { createLine } from '../../../../src/engines/gate/passwords/line.ts'

/** Work that ends when it is told to, and keeps a record of what was begun. */
function createWorks() {
  const begun: string[] = []
  const ends = new Map<string, PromiseWithResolvers<string>>()

  const work = (name: string) => () => {
    begun.push(name)
    const end = Promise.withResolvers<string>()
    ends.set(name, end)
    return end.promise
  }

  const finish = (name: string) => ends.get(name)?.resolve(name)
  const fail = (name: string) => ends.get(name)?.reject(new Error(`${name} failed`))
  return { begun, work, finish, fail }
}

const unavailable = { kind: 'unavailable' }

test('no more work is begun than may be at work at once', async () => {
  const { begun, work, finish } = createWorks()
  const line = createLine({ atOnce: 2, places: 10 })

  const all = ['a', 'b', 'c', 'd'].map((name) => line.run(work(name)))
  await settle()
  expect(begun).toEqual(['a', 'b'])

  finish('b')
  await all[1]
  await settle()
  expect(begun).toEqual(['a', 'b', 'c'])

  finish('a')
  finish('c')
  await all[2]
  await settle()
  finish('d')
  expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd'])
})

test('who waits is served in the order of coming, also before one who comes as a slot falls free', async () => {
  const { begun, work, finish } = createWorks()
  const line = createLine({ atOnce: 1, places: 10 })
  const names = ['a', 'b', 'c', 'd', 'e']

  const all = names.slice(0, 3).map((name) => line.run(work(name)))
  await settle()
  finish('a')
  all.push(line.run(work('d')))
  await all[0]
  all.push(line.run(work('e')))
  for (const name of names.slice(1)) {
    await settle()
    finish(name)
  }

  expect(await Promise.all(all)).toEqual(names)
  expect(begun).toEqual(names)
})

test('beyond the places to wait, work is refused as unavailable and never begun', async () => {
  const { begun, work, finish } = createWorks()
  const line = createLine({ atOnce: 1, places: 1 })
  const first = line.run(work('first'))
  const second = line.run(work('second'))

  await expect(line.run(work('third'))).rejects.toMatchObject(unavailable)

  finish('first')
  await first
  await settle()
  finish('second')
  await second
  expect(begun).toEqual(['first', 'second'])
})

test('without places to wait there is still work, as much as may be at once', async () => {
  const { work, finish } = createWorks()
  const line = createLine({ atOnce: 1, places: 0 })
  const first = line.run(work('first'))
  await expect(line.run(work('second'))).rejects.toMatchObject(unavailable)
  await settle()
  finish('first')
  await first

  const third = line.run(work('third'))
  await settle()
  finish('third')
  expect(await third).toBe('third')
})

test('work that fails, later or on the spot, leaves its slot to the next', async () => {
  const { begun, work, fail, finish } = createWorks()
  const line = createLine({ atOnce: 1, places: 10 })
  const failing = line.run(work('later'))
  const throwing = line.run(() => {
    throw new Error('on the spot')
  })
  const last = line.run(work('last'))
  const outcomes = Promise.allSettled([failing, throwing])

  await settle()
  fail('later')
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await expect(failing).rejects.toThrow('later failed')
  await expect(throwing).rejects.toThrow('on the spot')

  await settle()
  finish('last')
  expect(await last).toBe('last')
  expect(begun).toEqual(['later', 'last'])
})

test('refusals take no place', async () => {
  const { begun, work, finish } = createWorks()
  const line = createLine({ atOnce: 1, places: 1 })
  const first = line.run(work('first'))
  const second = line.run(work('second'))
  for (let n = 0; n < 5; n++) {
    await expect(line.run(work('refused'))).rejects.toMatchObject(unavailable)
  }
  finish('first')
  await first

  const third = line.run(work('third'))
  await settle()
  finish('second')
  await second
  await settle()
  finish('third')
  await third
  expect(begun).toEqual(['first', 'second', 'third'])
})

/** Lets everything happen that is due in this turn of the event loop. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('whoever comes often finds no more than half of the places', async () => {
  const { begun, work, finish } = createWorks()
  const line = createLine({ atOnce: 1, places: 4 })
  const first = line.run(work('first'), 'acme')

  const second = line.run(work('second'), 'acme')
  const third = line.run(work('third'), 'acme')
  await expect(line.run(work('fourth'), 'acme')).rejects.toMatchObject(unavailable)
  const other = line.run(work('other'), 'globex')
  const anybody = line.run(work('anybody'))
  await expect(line.run(work('nobody'))).rejects.toMatchObject(unavailable)

  for (const [name, done] of Object.entries({ first, second, third, other, anybody })) {
    await settle()
    finish(name)
    await done
  }
  expect(begun).toEqual(['first', 'second', 'third', 'other', 'anybody'])
})

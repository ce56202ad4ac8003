import { expect, test } from 'bun:test'
import { closeSync, existsSync, openSync, statSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { MESSAGES, storageErrors } from './support/api.ts'
import { messagesAt, openRelay } from './support/relay.ts'

const PAGE = 4096

function overwrite(file: string, at: number) {
  const descriptor = openSync(file, 'r+')
  writeSync(descriptor, Buffer.alloc(PAGE, 0xff), 0, PAGE, at)
  closeSync(descriptor)
}

const middleOf = (file: string) => Math.floor(statSync(file).size / 2 / PAGE) * PAGE

test('A damaged log loses only what came after the damage; a damaged database is reported by every command and by requests, and replaced by a restore', async () => {
  await using stack = new AsyncDisposableStack()
  const { installation, server, relay, send } = await openRelay(stack)
  const { database, run } = installation
  const ids = await send(100)
  await installation.done('backup', '--to', 'good.tar.gz')
  const [log, logged] = [`${database}-wal`, await send(100)]
  await server.kill()
  overwrite(log, middleOf(log))

  const second = await installation.serve()
  const found = new Set(await messagesAt(second, relay))
  const order = [...ids, ...logged]
  expect(found).toEqual(new Set(order.slice(0, found.size)))
  expect(found.size).toBeGreaterThan(0)
  expect(found.size).toBeLessThan(order.length)
  expect(await installation.problems()).toEqual([])
  expect(await second.terminate()).toBe(0)

  const [{ root } = { root: 0 }] = installation.rows<{ root: number }>(
    "SELECT rootpage AS root FROM sqlite_schema WHERE name = 'messages'",
  )
  const isDamaged = expect.stringContaining('the database file is damaged')
  const damages: [found: object[] | unknown, opens: boolean, damage: () => void][] = [
    [[isDamaged], true, () => overwrite(database, (root - 1) * PAGE)],
    [[isDamaged], false, () => truncateSync(database, middleOf(database))],
    // With or without an empty log, it is not taken for a new one.
    [expect.arrayContaining([expect.any(String)]), false, () => truncateSync(database, 0)],
  ]
  for (const [problems, opens, damage] of damages) {
    damage()
    const unmade = join(installation.cwd, 'unmade.tar.gz')
    const [doctor, backup] = [await run('doctor', '--json'), await run('backup', '--to', unmade)]
    const { findings } = doctor.json()
    const messages = findings.flatMap(({ result, message }: Record<string, string>) =>
      result === 'problem' ? message : [],
    )
    expect([messages, backup.code, existsSync(unmade)]).toEqual([problems, 1, false])
    if (opens) {
      const third = await installation.serve()
      expect(await relay.ask(third, 'GET', MESSAGES)).toMatchObject(
        storageErrors('the database file is damaged').relay ?? {},
      )
      await third.kill()
    } else expect((await installation.serveInVain()).code).toBe(1)
    await installation.done('restore', 'good.tar.gz')
    expect(installation.storedMessages().toSorted()).toEqual(ids.toSorted())
  }
}, 300_000)

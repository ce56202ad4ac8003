import { beforeAll, describe, expect, test } from 'bun:test'
import { closeSync, existsSync, openSync, statSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { compileBinary } from '../../support/binary.ts'
import { MESSAGES, storageErrors } from './support/api.ts'
import { messagesAt, openRelay } from './support/relay.ts'

beforeAll(compileBinary, 120_000)

describe('A damaged database', () => {
  function overwrite(file: string, at: number, bytes: Buffer) {
    const descriptor = openSync(file, 'r+')
    writeSync(descriptor, bytes, 0, bytes.length, at)
    closeSync(descriptor)
  }

  const garbage = (pages: number) => Buffer.alloc(pages * 4096, 0xff)
  const middleOf = (file: string) => Math.floor(statSync(file).size / 2 / 4096) * 4096

  /** An installation with messages and a backup of them. */
  async function backedUp(stack: AsyncDisposableStack) {
    const { installation, server, relay, send } = await openRelay(stack)
    const ids = await send(600)
    const archive = join(installation.cwd, 'good.tar.gz')
    await installation.done('backup', '--to', archive)
    return { installation, server, relay, send, ids, archive }
  }

  test('is reported by doctor, backup and serve, and replaced by a restore', async () => {
    await using stack = new AsyncDisposableStack()
    const { installation, server, relay, ids, archive } = await backedUp(stack)
    expect(await server.terminate()).toBe(0)
    const { database } = installation
    const damages: [opens: boolean, damage: () => void][] = [
      [true, () => overwrite(database, middleOf(database), garbage(16))],
      [false, () => overwrite(database, 0, Buffer.alloc(100, 0xff))],
      [false, () => truncateSync(database, middleOf(database))],
    ]
    for (const [opens, damage] of damages) {
      damage()
      const isDamaged = expect.stringContaining('the database file is damaged')
      expect(await installation.problems()).toEqual([isDamaged])
      const unmade = join(installation.cwd, 'unmade.tar.gz')
      expect(await installation.run('backup', '--to', unmade)).toMatchObject({
        code: 1,
        err: isDamaged,
      })
      expect(existsSync(unmade)).toBe(false)
      if (!opens)
        expect(await installation.serveInVain()).toMatchObject({ code: 1, err: isDamaged })
      await installation.done('restore', archive)
      expect(await installation.problems()).toEqual([])
    }
    expect((await messagesAt(await installation.serve(), relay)).toSorted()).toEqual(ids.toSorted())
  }, 300_000)

  test('answers 503 to requests that need unreadable pages', async () => {
    await using stack = new AsyncDisposableStack()
    const { installation, server, relay } = await backedUp(stack)
    expect(await server.terminate()).toBe(0)
    const [{ root } = { root: 0 }] = installation.rows<{ root: number }>(
      "SELECT rootpage AS root FROM sqlite_schema WHERE name = 'messages'",
    )
    overwrite(installation.database, (root - 1) * 4096, garbage(1))

    const { status, body } = await relay.ask(await installation.serve(), 'GET', MESSAGES)
    expect({ status, body }).toEqual({
      status: 503,
      body: storageErrors('the database file is damaged').relay,
    })
  }, 300_000)

  test('that is empty is not taken for a new one', async () => {
    await using stack = new AsyncDisposableStack()
    const { installation, server } = await backedUp(stack)
    expect(await server.terminate()).toBe(0)
    truncateSync(installation.database, 0)

    expect(await installation.problems()).not.toEqual([])
    expect(
      await installation.run('backup', '--to', join(installation.cwd, 'a.tar.gz')),
    ).toMatchObject({ code: 1 })
    const starting = installation.beginServing()
    expect(await starting.url()).toBeUndefined()
    expect(starting.exitCode()).toBe(1)
  }, 300_000)

  test('with a damaged log loses only what was written after the damage', async () => {
    await using stack = new AsyncDisposableStack()
    const { installation, server, relay, send, ids } = await backedUp(stack)
    const inLog = await send(100)
    await server.kill()
    const log = `${installation.database}-wal`
    overwrite(log, middleOf(log), garbage(1))

    const found = new Set(await messagesAt(await installation.serve(), relay))
    const order = [...ids, ...inLog]
    expect(found).toEqual(new Set(order.slice(0, found.size)))
    expect(found.size).toBeGreaterThan(ids.length)
    expect(found.size).toBeLessThan(order.length)
    expect(await installation.problems()).toEqual([])
  }, 300_000)
})

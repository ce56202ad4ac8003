import { beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { compileBinary, until } from '../../support/binary.ts'
import { MESSAGES, message, numbers } from './support/api.ts'
import { messagesAt, openRelay } from './support/relay.ts'
import { hit } from './support/waiting.ts'

beforeAll(compileBinary, 120_000)

describe('A restore', () => {
  /** A server, an archive of its first messages and one of all. */
  async function withArchives(stack: AsyncDisposableStack) {
    const relay = await openRelay(stack)
    const { installation, send } = relay
    const first = await send(40)
    const few = join(installation.cwd, 'few.tar.gz')
    await installation.done('backup', '--to', few)
    const all = [...first, ...(await send(40))]
    const many = join(installation.cwd, 'many.tar.gz')
    await installation.done('backup', '--to', many)
    return { ...relay, few: { file: few, ids: first }, many: { file: many, ids: all } }
  }

  test('is refused while a server runs, and a kill at any moment leaves the old data, the new data or a refusal', async () => {
    await using stack = new AsyncDisposableStack()
    const { installation, server, relay, few, many } = await withArchives(stack)
    const refused = await installation.run('restore', few.file)
    expect(refused.code).toBe(1)
    expect(refused.err).toMatch(new RegExp(`process ${server.pid} on \\S+, since .*Stop it first`))
    await server.kill()
    const begunAt = performance.now()
    await installation.done('restore', few.file)
    const tookMs = performance.now() - begunAt
    const marker = join(installation.dataDir, 'restore.unfinished')

    /** Half of the kills happen in the few milliseconds in which files change places. */
    async function killAtRandom(file: string, isLate: boolean) {
      const child = installation.begin('restore', file)
      const end = performance.now() + tookMs * Math.random()
      if (!isLate) await until(() => performance.now() > end)
      else await hit(() => existsSync(marker) || child.exitCode !== null)
      child.kill('SIGKILL')
      await child.exited
    }

    let held = few
    for (const round of numbers(8)) {
      const wanted = held === few ? many : few
      await killAtRandom(wanted.file, round % 2 === 1)
      if (existsSync(marker)) {
        const { code, err } = await installation.serveInVain()
        expect({ code, err }).toEqual({
          code: 1,
          err: expect.stringContaining(
            `a restore into ${installation.dataDir} was interrupted: run`,
          ),
        })
        await installation.done('restore', wanted.file)
      }
      const again = await installation.serve()
      const found = await messagesAt(again, relay)
      held = found.length === few.ids.length ? few : many
      expect(found.toSorted()).toEqual(held.ids.toSorted())
      await again.terminate()
    }
    await installation.done('restore', few.file)
    expect(
      readdirSync(installation.dataDir).filter((name) => name.startsWith('.gatehouse-work')),
    ).toEqual([])
  }, 300_000)

  test('is not refused because of another program with the process id of a former server', async () => {
    await using stack = new AsyncDisposableStack()
    const { installation, server, few } = await withArchives(stack)
    await server.kill()
    const yesterday = 'heartbeat_at = heartbeat_at - 86400000, started_at = started_at - 86400000'
    installation.change(`UPDATE instances SET pid = ${process.pid}, ${yesterday}`)

    expect(await installation.run('restore', few.file)).toMatchObject({ code: 0, err: '' })
  }, 300_000)

  test.skipIf(process.platform !== 'linux')(
    'is refused as soon as a server has opened the database, which loses nothing',
    async () => {
      await using stack = new AsyncDisposableStack()
      const { installation, server, relay, few } = await withArchives(stack)
      await server.kill()
      installation.change('DELETE FROM instances')
      const starting = installation.beginServing()
      const { pid } = starting
      const isOpen = () => isOpenIn(pid, installation.database)
      await hit(() => isOpen() || starting.exitCode() !== null)

      // As on a busy machine.
      process.kill(pid, 'SIGSTOP')
      const refused = await installation.run('restore', few.file)
      process.kill(pid, 'SIGCONT')
      expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(`process ${pid}`) })

      const url = (await starting.url()) ?? expect.unreachable(starting.out())
      const { status, body } = await relay.ask({ url }, 'POST', MESSAGES, message(1))
      const kept = installation.rows<{ id: string }>('SELECT id FROM messages').map(({ id }) => id)
      expect(status).toBe(202)
      expect(kept).toContain(body.id)
    },
    300_000,
  )
})

/** Whether a process has a file open, as the system shows it. The process may be gone. */
function isOpenIn(pid: number, file: string): boolean {
  const folder = `/proc/${pid}/fd`
  try {
    return readdirSync(folder).some((fd) => readlinkSync(join(folder, fd)) === file)
  } catch {
    return false
  }
}

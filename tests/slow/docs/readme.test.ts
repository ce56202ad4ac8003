import { expect, test } from 'bun:test'
import { dirname } from 'node:path'
import { bootConsole } from '../../console/fixture.ts'
import { createNames, readConsole } from '../../support/console.ts'
import { openPage } from '../../support/page.ts'
import { openShell } from '../../support/shell.ts'
import { PROGRAM } from '../../support/source.ts'
import { startTarget } from '../../support/target.ts'
import { countRequests } from '../../support/usage.ts'

const page = await openPage('../README.md')
const HAS_SHELL = Bun.which('bash') !== null && Bun.which('curl') !== null

/** Compiling, and the server itself: here the server is the application of the test. */
const RUNS_ELSEWHERE = /^(npx|export PATH|gatehouse serve)/
const KEY = /svc_[a-z]+_(\w*…|\w{43})/g

test.skipIf(!HAS_SHELL)(
  'the walk of the README prints what it says, and meets no limit on requests',
  async () => {
    await using app = await bootConsole({ start: '2026-03-01T12:00:00.000Z' })
    await using target = startTarget(() => new Response('thanks'))
    const cwd = dirname(app.db.file)
    await using shell = openShell({ cwd, env: { GATEHOUSE_DATA_DIR: cwd } })
    await shell.run(`gatehouse() { ${PROGRAM.join(' ')} "$@"; }`)
    const names = createNames()
    const here = (text: string) =>
      text
        .replaceAll('http://127.0.0.1:8420', app.url)
        .replaceAll('127.0.0.1:9000', new URL(target.url).host)
        // By the clock that the test turns.
        .replaceAll("'+30 sec'", `@${app.clock.now() / 1000 + 30}`)
    const masked = (text: string) => text.replaceAll(KEY, '…').replaceAll(/(?<="\w+_ms":)\d+/g, '…')

    let key = ''
    let count = 0
    for (const shown of page.blocks('console').flatMap(readConsole)) {
      if (RUNS_ELSEWHERE.test(shown.command)) continue
      if (shown.command.startsWith('GATE=')) {
        const [{ id = '' } = {}] = app.platform.tenants.list()
        await shell.run(`KEY=$(gatehouse key create --engine gate --tenant ${id} | head -1)`)
      }
      if (shown.command.includes('/executions')) await app.clock.advance(60_000)
      const command = here(names.translate(shown.command)).replace(KEY, () => key)
      const printed = (await shell.run(command)).replaceAll('\n', '')
      if (!names.matches({ command, output: masked(here(shown.output)) }, masked(printed)))
        expect([shown.command, printed]).toEqual([shown.command, shown.output])
      key = printed.match(KEY)?.[0] ?? key
      const [tenant] = app.platform.tenants.list()
      if (tenant && count === 0) countRequests(app, tenant.id, 1_000_000)
      count++
    }
    expect(count).toBe(11)
    const received = target.requests.map(({ method, path, body }) => [method, path, body])
    expect(received.toSorted()).toEqual([
      ['POST', '/once', '{"hello":1}'],
      ['POST', '/tick', 'tick'],
    ])
  },
  60_000,
)

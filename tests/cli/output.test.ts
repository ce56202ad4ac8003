import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { cli } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'
import { outcomeOf, SOURCE } from '../support/source.ts'

/** A tenant, and commands whose output goes where the shell says. */
async function startFixture() {
  const folder = temporaryFolder()
  const { json } = await cli(folder.path)('tenant', 'create', '--name', 'Acme', '--json')
  const printing = (words: string[], to: string) =>
    outcomeOf(
      Bun.spawn(
        ['bash', '-c', `"$@" ${to}; exit "\${PIPESTATUS[0]}"`, 'bash', ...SOURCE, ...words],
        { cwd: folder.path, env: process.env, stdout: 'pipe', stderr: 'pipe' },
      ),
    )
  return {
    path: folder.path,
    tenant: json().id as string,
    printing,
    [Symbol.dispose]: folder[Symbol.dispose],
  }
}

const FULL = 'standard output: the disk is full\n'

describe.skipIf(process.platform !== 'linux')('output that the disk has no room for', () => {
  test('fails the command, and nothing is said to be done', async () => {
    using fixture = await startFixture()
    for (const words of [
      ['export', '--tenant', fixture.tenant],
      ['audit', 'export'],
      ['key', 'create', '--tenant', fixture.tenant, '--engine', 'gate'],
      ['tenant', 'list', '--json'],
      ['--help'],
    ]) {
      const { code, err } = await fixture.printing(words, '> /dev/full')
      expect([words[0], code]).toEqual([words[0], 1])
      expect(err).toContain('standard output: the disk is full')
      expect(err).not.toMatch(/Exported|entries/)
    }
  })

  test('fails the command also where some of it was written', async () => {
    using fixture = await startFixture()
    // Blocks of 1024 bytes: the second help has no room.
    const script = `trap '' XFSZ; ulimit -f 8; for n in 1 2 3; do "$@" --help >> ${join(fixture.path, 'out')} || exit 1; done`
    const limited = Bun.spawn(['bash', '-c', script, 'bash', ...SOURCE], {
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const { code, err } = await outcomeOf(limited)
    expect(code).toBe(1)
    expect(err).toContain('standard output: ')
  })
})

test('a reader that has seen enough fails no command', async () => {
  using fixture = await startFixture()
  expect(await fixture.printing(['tenant', 'list'], '| true')).toMatchObject({ code: 0, err: '' })
})

test.skipIf(process.platform !== 'linux')('the sentence comes alone', async () => {
  using fixture = await startFixture()
  expect(await fixture.printing(['tenant', 'list'], '> /dev/full')).toMatchObject({ err: FULL })
})

import { describe, expect, test } from 'bun:test'
import { chmodSync, chownSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { sentenceOf, sentenceOnListening } from '../../src/cli/sentences.ts'
import { cli } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'
import { outcomeOf, SOURCE } from '../support/source.ts'

const system = (code: string, message: string) =>
  Object.assign(new Error(`${code}: ${message}`), { code })

describe('what the system says', () => {
  const said: [string, string, string][] = [
    ['ENOSPC', 'no space left on device, write', 'the disk is full'],
    ['EROFS', "read-only file system, open '/a b/x'", '/a b/x: the file system is read-only'],
    ['ENOENT', "no such file or directory, open 'x.toml'", 'x.toml: no such file or directory'],
    ['EPIPE', 'broken pipe, write', 'broken pipe'],
    ['EFOO', 'a message of another form', 'EFOO: a message of another form'],
  ]
  test.each(said)('of %s is a sentence', (code, message, sentence) => {
    expect(sentenceOf(system(code, message))).toBe(sentence)
  })

  test('of what may not be done names a way out, and the account that it belongs to', () => {
    using folder = temporaryFolder()
    const path = join(folder.path, 'none', 'x')
    const denied = sentenceOf(system('EACCES', `permission denied, mkdir '${path}'`))
    expect(denied).toStartWith(`${path}: permission denied. `)
    expect(denied).toContain('or choose another path')
    if (process.getuid?.() !== 0) return
    chownSync(folder.path, 4711, 4711)
    expect(sentenceOf(system('EACCES', `permission denied, stat '${path}'`))).toBe(
      `${path}: permission denied. ${folder.path} belongs to uid 4711, you are uid 0: ` +
        "run this as that account, with sudo -u '#4711'",
    )
  })

  test('of an address and of a port names them and their setting; a port in use is named already', () => {
    const at = { host: '192.0.2.1', port: 80 }
    const none = system('EADDRNOTAVAIL', 'address not available, listen')
    expect(sentenceOnListening(none, at)).toMatch(/192\.0\.2\.1 \(address not.*\[server\] host/)
    const denied = system('EACCES', 'permission denied')
    expect(sentenceOnListening(denied, at)).toMatch(
      /^port 80 .*1024 or higher.*CAP_NET_BIND_SERVICE/,
    )
    expect(sentenceOnListening(system('EADDRINUSE', 'x'), at)).toBeUndefined()
    expect(sentenceOnListening(new TypeError('a mistake of ours'), at)).toBeUndefined()
  })
})

test.skipIf(process.getuid?.() !== 0)(
  'whoever may not look into a data directory is told once whose it is',
  async () => {
    using folder = temporaryFolder()
    const dataDir = join(folder.path, 'data')
    await cli(folder.path)('tenant', 'create', '--name', 'Acme')
    const home = join(folder.path, 'home')
    mkdirSync(home)
    for (const path of [folder.path, home]) chmodSync(path, 0o777)
    chownSync(dataDir, 4711, 4711)
    const asNobody = (...words: string[]) =>
      outcomeOf(
        Bun.spawn(
          ['setpriv', '--reuid', '65534', '--clear-groups', ...SOURCE, ...words].concat(
            '--data-dir',
            dataDir,
          ),
          { cwd: home, stdout: 'pipe', stderr: 'pipe' },
        ),
      )

    for (const words of [
      ['tenant', 'list'],
      ['tenant', 'create', '--name', 'B'],
    ]) {
      const { code, err } = await asNobody(...words)
      expect(code).toBe(1)
      expect(err.split('gatehouse.db')).toHaveLength(2)
      expect(err).toContain("sudo -u '#4711'")
    }
    const { code, out } = await asNobody('doctor')
    expect(code).toBe(1)
    // That a file system is in memory is a warning.
    expect(out).toMatch(/\n1 problem(, 1 warning)?\n$/)
    expect(out).toContain("sudo -u '#4711'")
  },
)

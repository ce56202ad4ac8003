import { describe, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { migrations } from '../../../drizzle/index.ts'
import { migrate } from '../../../src/db/migrate.ts'
import { openDatabase } from '../../../src/db/open.ts'
import {
  loadMasterKey,
  MasterKeyError,
  masterKeyFile,
  masterKeyOf,
  newMasterKey,
  readMasterKey,
  replaceKeyFile,
} from '../../../src/platform/sealing/key-file.ts'
import { knownMasterKeys } from '../../../src/platform/sealing/key-store.ts'
import { openKeyRing } from '../../../src/platform/sealing/open-key-ring.ts'
import { createTestClock } from '../../support/clock.ts'
import { temporaryFolder } from '../../support/folder.ts'

const FORMAT = /^gatehouse-master-key-1:[A-Za-z0-9+/]{43}=\n$/
const modeOf = (path: string) => statSync(path).mode & 0o777

/** A data directory with its database, as far as the key is concerned. */
function createHome() {
  const folder = temporaryFolder()
  const dataDir = folder.path
  const clock = createTestClock('2026-03-01T12:00:00Z')
  const file = masterKeyFile(dataDir)
  const connect = () => {
    const db = openDatabase({ dataDir, synchronous: 'full' })
    migrate(db.client, { migrations, backupDir: join(dataDir, 'b'), appVersion: '1', now: 0 })
    return db
  }
  const db = connect()
  const start = async (on = db) => (await openKeyRing({ db: on, clock, dataDir })).primary()
  const rows = () =>
    db.client.query<{ id: string; created_at: number }, []>('SELECT * FROM master_keys').all()
  const refusal = () =>
    start().then(
      () => 'started',
      (error) => {
        expect(error).toBeInstanceOf(MasterKeyError)
        return (error as Error).message
      },
    )

  function leave() {
    db.close()
    folder[Symbol.dispose]()
  }

  return { dataDir, file, clock, db, connect, start, rows, refusal, [Symbol.dispose]: leave }
}

function refusalOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    expect(error).toBeInstanceOf(MasterKeyError)
    return (error as Error).message
  }
  throw new Error('was not refused')
}

describe('the key file', () => {
  test('is made where there is none: one line for its owner alone, and nothing beside it', () => {
    using folder = temporaryFolder()

    const key = loadMasterKey(folder.path)

    expect(readFileSync(masterKeyFile(folder.path), 'utf8')).toMatch(FORMAT)
    expect(modeOf(masterKeyFile(folder.path))).toBe(0o600)
    expect(readdirSync(folder.path)).toEqual(['master.key'])
    expect(key.secret.symmetricKeySize).toBe(32)
  })

  test('is made only once, and is another in another directory', () => {
    using folder = temporaryFolder()
    using other = temporaryFolder()
    const key = loadMasterKey(folder.path)
    const content = readFileSync(masterKeyFile(folder.path), 'utf8')

    const again = loadMasterKey(folder.path)

    expect(again.id).toBe(key.id)
    expect(again.secret.equals(key.secret)).toBe(true)
    expect(readFileSync(masterKeyFile(folder.path), 'utf8')).toBe(content)
    expect(loadMasterKey(other.path).secret.equals(key.secret)).toBe(false)
  })

  test('is not made by looking', () => {
    using folder = temporaryFolder()

    expect(readMasterKey(folder.path)).toBeUndefined()
    expect(readdirSync(folder.path)).toEqual([])
  })

  test.each(['644', '640', '604', '660', '777'])('loses the rights of others: %s', (digits) => {
    const mode = Number.parseInt(digits, 8)
    using folder = temporaryFolder()
    const { id } = loadMasterKey(folder.path)
    chmodSync(masterKeyFile(folder.path), mode)

    expect(readMasterKey(folder.path)?.id).toBe(id)
    expect(modeOf(masterKeyFile(folder.path))).toBe(mode)
    expect(loadMasterKey(folder.path).id).toBe(id)
    expect(modeOf(masterKeyFile(folder.path))).toBe(0o600)
  })

  test('stays as it is where its owner may only read it', () => {
    using folder = temporaryFolder()
    loadMasterKey(folder.path)
    chmodSync(masterKeyFile(folder.path), 0o400)

    loadMasterKey(folder.path)

    expect(modeOf(masterKeyFile(folder.path))).toBe(0o400)
  })

  test('may be a link to where keys are kept, and have other line ends', () => {
    using folder = temporaryFolder()
    using vault = temporaryFolder()
    const { id } = loadMasterKey(vault.path)
    const line = readFileSync(masterKeyFile(vault.path), 'utf8').trim()
    symlinkSync(masterKeyFile(vault.path), masterKeyFile(folder.path))

    for (const end of ['\n', '', '\r\n', ' \n\n']) {
      writeFileSync(masterKeyFile(vault.path), line + end)
      expect(loadMasterKey(folder.path).id).toBe(id)
    }
  })

  const line = `gatehouse-master-key-1:${Buffer.alloc(32, 7).toString('base64')}`
  test.each([
    ['nothing', ''],
    ['a blank line', '\n'],
    ['another text', 'correct horse battery staple\n'],
    ['the key without its prefix', `${line.slice(23)}\n`],
    ['a prefix of another version', `${line.replace('-1:', '-2:')}\n`],
    ['a prefix alone', 'gatehouse-master-key-1:\n'],
    ['a byte too few', `gatehouse-master-key-1:${Buffer.alloc(31).toString('base64')}\n`],
    ['a byte too many', `gatehouse-master-key-1:${Buffer.alloc(33).toString('base64')}\n`],
    ['a cut end', line.slice(0, -5)],
    ['no padding', line.slice(0, -1)],
    ['another spelling of the same bytes', `${line.slice(0, -2)}d=\n`],
    ['a stray character', `${line.slice(0, 30)}!${line.slice(31)}\n`],
    ['two lines', `${line}\n${line}\n`],
    ['a byte order mark', `\uFEFF${line}\n`],
    ['a blank in front', ` ${line}\n`],
    ['a megabyte', line.padEnd(1_000_000)],
  ])('is refused and left alone when it holds %s', (_, content) => {
    using folder = temporaryFolder()
    const file = masterKeyFile(folder.path)
    writeFileSync(file, content)

    const message = refusalOf(() => loadMasterKey(folder.path))

    expect(message).toBe(
      `${file} is not a valid master key: restore it from a backup, or remove the file if this ` +
        'installation has no data yet',
    )
    expect(readFileSync(file, 'utf8')).toBe(content)
    expect(readdirSync(folder.path)).toEqual(['master.key'])
  })

  test('may name keys from before, below the one in use', () => {
    using folder = temporaryFolder()
    const file = masterKeyFile(folder.path)
    const lines = [7, 8, 9].map(
      (byte) => `gatehouse-master-key-1:${Buffer.alloc(32, byte).toString('base64')}`,
    )
    const ids = [7, 8, 9].map((byte) => masterKeyOf(new Uint8Array(32).fill(byte)).id)

    for (const end of ['\n', '\r\n']) {
      writeFileSync(file, lines.join(end) + end)
      const { id, previous } = loadMasterKey(folder.path)
      expect([id, ...previous.map((key) => key.id)]).toEqual(ids)
    }
    for (const content of [lines.join(' '), lines.join('\n\n'), `${lines.join('\n')}\nx`]) {
      writeFileSync(file, content)
      expect(refusalOf(() => loadMasterKey(folder.path))).toContain('is not a valid master key')
    }
  })

  test('is refused when it is a directory, a pipe, or a link that leads nowhere', async () => {
    using folder = temporaryFolder()
    const file = masterKeyFile(folder.path)

    mkdirSync(file)
    expect(refusalOf(() => loadMasterKey(folder.path))).toBe(
      `${file} is not a file: remove it and restore master.key from a backup`,
    )
    rmSync(file, { recursive: true })
    await Bun.spawn(['mkfifo', file]).exited
    expect(refusalOf(() => loadMasterKey(folder.path))).toContain(`${file} is not a file`)
    rmSync(file)
    symlinkSync(join(folder.path, 'nowhere'), file)
    expect(refusalOf(() => loadMasterKey(folder.path))).toContain(`${file} is a broken link`)
    rmSync(file)
    symlinkSync(file, file)
    expect(refusalOf(() => loadMasterKey(folder.path))).toContain(`${file} cannot be read`)
  })

  test.skipIf(process.getuid?.() !== 0)(
    'is refused when it belongs to somebody else, and cannot be made in a foreign directory',
    async () => {
      using folder = temporaryFolder()
      const file = masterKeyFile(folder.path)
      const asNobody = async () => {
        const racer = await lineUp(folder.path, '65534')
        return await racer.go()
      }
      chmodSync(folder.path, 0o755)

      expect(await asNobody()).toContain(`${file} cannot be created (EACCES`)
      loadMasterKey(folder.path)
      expect(await asNobody()).toContain(`${file} cannot be read: run chown`)
      chmodSync(file, 0o644)
      expect(await asNobody()).toContain(
        `other accounts can read ${file}: run chmod 600 as its owner`,
      )
    },
  )

  test('that cannot be made is told with what the system says', () => {
    const message = refusalOf(() => loadMasterKey('/proc/self'))

    expect(message).toMatch(/^\/proc\/self\/master\.key cannot be created \(E[A-Z]+/)
  })
})

describe('replacing the key file', () => {
  test('leaves the new keys in their order, for the owner alone, and nothing beside it', () => {
    using folder = temporaryFolder()
    const before = loadMasterKey(folder.path)
    const added = newMasterKey()
    chmodSync(masterKeyFile(folder.path), 0o644)

    replaceKeyFile(folder.path, [added, before])

    const after = loadMasterKey(folder.path)
    expect([after.id, ...after.previous.map(({ id }) => id)]).toEqual([added.id, before.id])
    expect(after.secret.equals(added.secret)).toBe(true)
    expect(modeOf(masterKeyFile(folder.path))).toBe(0o600)
    expect(readdirSync(folder.path)).toEqual(['master.key'])
    replaceKeyFile(folder.path, [before])
    expect(readFileSync(masterKeyFile(folder.path), 'utf8')).toMatch(FORMAT)
  })

  test('leaves a link a link, and replaces what it leads to', () => {
    using folder = temporaryFolder()
    using vault = temporaryFolder()
    loadMasterKey(vault.path)
    symlinkSync(masterKeyFile(vault.path), masterKeyFile(folder.path))
    const added = newMasterKey()

    replaceKeyFile(folder.path, [added])

    expect(loadMasterKey(vault.path).id).toBe(added.id)
    expect(readdirSync(vault.path)).toEqual(['master.key'])
    expect(lstatSync(masterKeyFile(folder.path)).isSymbolicLink()).toBe(true)
  })

  test('is refused where there is none, and where nothing can be written', () => {
    using folder = temporaryFolder()
    const refused = `${masterKeyFile(folder.path)} cannot be replaced (`

    expect(refusalOf(() => replaceKeyFile(folder.path, [newMasterKey()]))).toStartWith(refused)

    const { id } = loadMasterKey(folder.path)
    mkdirSync(`${masterKeyFile(folder.path)}.tmp`)
    expect(refusalOf(() => replaceKeyFile(folder.path, [newMasterKey()]))).toStartWith(refused)
    expect(loadMasterKey(folder.path).id).toBe(id)
  })

  test.skipIf(process.getuid?.() !== 0)('leaves it with its owner, whoever does it', () => {
    using folder = temporaryFolder()
    loadMasterKey(folder.path)
    chownSync(masterKeyFile(folder.path), 65534, 65534)

    replaceKeyFile(folder.path, [newMasterKey()])

    expect(statSync(masterKeyFile(folder.path))).toMatchObject({ uid: 65534, gid: 65534 })
  })
})

/** A process that is about to load the key. */
async function lineUp(dataDir: string, ...account: string[]) {
  const script = join(import.meta.dir, 'key-file.script.ts')
  const child = Bun.spawn([process.execPath, script, dataDir, ...account], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const reader = child.stdout.getReader()
  const next = async () => new TextDecoder().decode((await reader.read()).value).trim()
  expect(await next()).toBe('ready')
  return {
    go: async () => {
      child.stdin.write('go\n')
      child.stdin.flush()
      const said = await next()
      await child.exited
      return said
    },
  }
}

test('processes that start at once on a new directory all get the same key', async () => {
  for (let round = 0; round < 5; round++) {
    using folder = temporaryFolder()
    const racers = await Promise.all(Array.from({ length: 6 }, () => lineUp(folder.path)))

    const ids = await Promise.all(racers.map(({ go }) => go()))

    expect(ids[0]).toMatch(/^[0-9a-f]{12}$/)
    expect(new Set(ids).size).toBe(1)
    expect(loadMasterKey(folder.path).id).toBe(ids[0] as string)
    expect(readdirSync(folder.path)).toEqual(['master.key'])
  }
}, 60_000)

describe('a key', () => {
  test('is told apart by an id that every process finds the same', () => {
    const bytes = new Uint8Array(32).fill(7)

    expect(masterKeyOf(bytes).id).toBe(masterKeyOf(bytes).id)
    expect(masterKeyOf(bytes).id).toMatch(/^[0-9a-f]{12}$/)
    bytes[31] = 8
    expect(masterKeyOf(bytes).id).not.toBe(masterKeyOf(new Uint8Array(32).fill(7)).id)
  })

  test('is not shown by whoever prints it', () => {
    const secret = 'abcdefghijklmnopqrstuvwxyz012345'
    const key = masterKeyOf(Buffer.from(secret))

    for (const shown of [inspect(key, { depth: 9 }), Bun.inspect(key), JSON.stringify(key)]) {
      expect(shown).toContain(key.id)
      expect(shown).not.toContain(secret)
      for (const spelling of ['97, 98', '97,98', '61 62', '616263', btoa(secret).slice(0, 8)])
        expect(shown).not.toContain(spelling)
    }
  })
})

describe('a database', () => {
  test('remembers the key of its first start, once', async () => {
    using home = createHome()

    const key = await home.start()
    await home.clock.advance(1000)
    await home.start()

    expect(home.rows()).toEqual([{ id: key.id, created_at: Date.parse('2026-03-01T12:00:00Z') }])
  })

  test('takes the key that was put there before its first start', async () => {
    using home = createHome()
    const { id } = loadMasterKey(home.dataDir)

    expect((await home.start()).id).toBe(id)
    expect(home.rows()).toMatchObject([{ id }])
  })

  test('refuses another key, names both and where to look, and keeps its own in mind', async () => {
    using home = createHome()
    using other = temporaryFolder()
    const { id } = await home.start()
    const foreign = loadMasterKey(other.path)
    copyFileSync(masterKeyFile(other.path), home.file)

    expect(await home.refusal()).toBe(
      `master.key in ${home.dataDir} does not match the database ` +
        `(found ${foreign.id}, need ${id}): restore it from a backup`,
    )
    expect(home.rows()).toMatchObject([{ id }])
  })

  test('refuses to go on without its key, and no new one is made', async () => {
    using home = createHome()
    const { id } = await home.start()
    const backup = readFileSync(home.file)
    rmSync(home.file)

    expect(await home.refusal()).toBe(
      `master.key is missing in ${home.dataDir}, but the database was sealed with it ` +
        `(${id}): restore it from a backup`,
    )
    expect(existsSync(home.file)).toBe(false)

    writeFileSync(home.file, backup)
    expect((await home.start()).id).toBe(id)
  })

  test('needs each of the keys that it knows', async () => {
    using home = createHome()
    const { id } = await home.start()
    const added = newMasterKey()
    home.db.client.run('INSERT INTO master_keys VALUES (?, 0)', [added.id])
    const needed = [added.id, id].toSorted().join(' and ')

    expect(await home.refusal()).toContain(`(found ${id}, need ${needed})`)
    const key = loadMasterKey(home.dataDir)
    replaceKeyFile(home.dataDir, [added, key])
    expect((await home.start()).id).toBe(added.id)
    rmSync(home.file)
    expect(await home.refusal()).toContain(`(${needed})`)
  })

  test('that is given up for lost, by emptying its list, begins again with a new key', async () => {
    using home = createHome()
    const { id } = await home.start()
    rmSync(home.file)
    home.db.client.run('DELETE FROM master_keys')

    const fresh = await home.start()

    expect(fresh.id).not.toBe(id)
    expect(home.rows()).toMatchObject([{ id: fresh.id }])
  })

  test('that another process begins to use at the same moment remembers one key', async () => {
    using home = createHome()
    const second = home.connect()

    const [a, b] = await Promise.all([home.start(), home.start(second)])
    second.close()

    expect(a.id).toBe(b.id)
    expect(home.rows()).toMatchObject([{ id: a.id }])
  })

  test('that came to know another key in the meantime is looked at again before writing', async () => {
    using home = createHome()
    const started = home.refusal()
    home.db.client.run("INSERT INTO master_keys VALUES ('aaaaaaaaaaaa', 0)")

    expect(await started).toContain('need aaaaaaaaaaaa')
    expect(home.rows()).toMatchObject([{ id: 'aaaaaaaaaaaa' }])
  })

  test('of a version before keys knows none', () => {
    using folder = temporaryFolder()
    const db = openDatabase({ dataDir: folder.path, synchronous: 'full' })

    expect(knownMasterKeys(db)).toEqual([])
    db.close()
  })
})

import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import {
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../../src/db/open.ts'
import { exchange } from '../../../src/platform/backup/exchange.ts'
import { ownLike } from '../../../src/platform/backup/files.ts'
import { makeBackup } from '../../../src/platform/backup/index.ts'
import { mark } from '../../../src/platform/backup/marker.ts'
import { type Clock, systemClock } from '../../../src/platform/clock.ts'
import type { Process } from '../../../src/platform/process.ts'
import {
  masterKeyFile,
  newMasterKey,
  replaceKeyFile,
} from '../../../src/platform/sealing/key-file.ts'
import { openKeyRing } from '../../../src/platform/sealing/open-key-ring.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { ACTOR, createInstallation, rotationOn } from '../sealing/resealing-support.ts'
import {
  createHome,
  fingerprint,
  hurried,
  keyIn,
  modeOf,
  type Piece,
  PROCESS,
  packed,
  piecesOf,
  restore,
  sha256,
  tenantsIn,
} from './fixture.ts'

const DAY_MS = 24 * 60 * 60 * 1000
/** What these tests have open is open in the process that restores, where the lock alone tells. */
const SAME = { ...PROCESS, pid: process.pid }

test('a restored directory is as it was, and what was there since is kept beside it', async () => {
  using home = createHome()
  home.addTenant('before')
  const { file, createdAt } = await home.backUp('a.tar.gz')
  home.addTenant('after')
  const key = keyIn(home.dataDir)
  replaceKeyFile(home.dataDir, [newMasterKey()])
  mkdirSync(join(home.dataDir, 'backups'))
  home.db.close()

  const { manifest, previous = '' } = await home.restore(file)

  expect(manifest.created_at).toBe(new Date(createdAt).toISOString())
  expect(keyIn(home.dataDir)).toBe(key)
  expect(modeOf(masterKeyFile(home.dataDir))).toBe(0o600)
  expect(modeOf(join(home.dataDir, 'gatehouse.db'))).toBe(0o600)
  expect(tenantsIn(home.dataDir)).toEqual(['before'])
  expect(previous).toMatch(/data\/before-restore-[\dTZ-]+$/)
  expect(modeOf(previous)).toBe(0o700)
  expect(tenantsIn(previous)).toEqual(['after', 'before'])
  expect(keyIn(previous)).not.toBe(key)
  expect(readdirSync(home.dataDir)).toContain('backups')
  expect(readdirSync(home.dataDir).filter((name) => name.startsWith('.'))).toEqual([])
})

test('a directory that is new gets the backup, with its key', async () => {
  using home = createHome()
  home.addTenant('before')
  const { file } = await home.backUp('a.tar.gz')
  const dataDir = join(home.path, 'new', 'data')

  const { previous } = await restore(dataDir, file)

  expect(previous).toBeUndefined()
  expect(readdirSync(dataDir).toSorted()).toEqual(['gatehouse.db', 'master.key'])
  expect(modeOf(dataDir)).toBe(0o700)
  expect(tenantsIn(dataDir)).toEqual(['before'])
  expect(keyIn(dataDir)).toBe(keyIn(home.dataDir))
})

test('a key that is the same already stays where it is', async () => {
  using home = createHome()
  const { file } = await home.backUp('a.tar.gz')

  const { previous = '' } = await home.restore(file)

  expect(existsSync(masterKeyFile(home.dataDir))).toBe(true)
  expect(existsSync(masterKeyFile(previous))).toBe(false)
})

test('processes of then are forgotten, and what is due by now is counted', async () => {
  using home = createHome()
  const { client } = home.db
  home.addTenant('t')
  const now = Date.now()
  const [past, future] = [now - DAY_MS, now + DAY_MS]
  const run = client.query(
    `INSERT INTO runs (tenant_id, job_kind, job_id, trigger, slot_at, due_at, attempt, state, host)
     VALUES ('t', 'delayed', 'j', 'manual', 0, ?, 1, ?, 'h')`,
  )
  for (const [at, state] of [
    [past, 'waiting'],
    [past, 'ready'],
    [future, 'leased'],
    [future, 'waiting'],
  ] as const)
    run.run(at, state)
  const cron = client.query(
    `INSERT INTO cron_jobs (id, tenant_id, name, schedule, method, url, headers, is_active, next_run_at,
       created_at, updated_at) VALUES (?, 't', 'n', '* * * * *', 'GET', 'https://x', '{}', ?, ?, 0, 0)`,
  )
  cron.run('late', 1, past)
  cron.run('paused', 0, past)
  cron.run('early', 1, future)
  client.run(
    "INSERT INTO messages (seq, id, tenant_id, stream, type, payload, accepted_at) VALUES (1, 'm', 't', 'relay', 'x', '{}', 0)",
  )
  const deliver = client.query(
    `INSERT INTO deliveries (id, tenant_id, stream, message_seq, endpoint_id, format, state, line, run,
       attempts, tries, trigger, due_at, created_at)
     VALUES (?1, 't', 'relay', 1, ?1, 'plain', ?2, 0, 0, 0, 0, 'event', ?3, 0)`,
  )
  deliver.run('late', 'waiting', past)
  deliver.run('early', 'waiting', future)
  deliver.run('held', 'held', past)
  const mail = client.query(
    `INSERT INTO mails (id, tenant_id, kind, recipient_hash, state, tries, due_at, expires_at, created_at)
     VALUES (?, 't', 'k', 'h', ?, 0, ?, 0, 0)`,
  )
  mail.run('late', 'ready', past)
  mail.run('kept', 'kept', past)
  mail.run('sent', 'sent', past)
  const { file } = await home.backUp('a.tar.gz')

  const { overdue } = await home.restore(file)

  expect(overdue).toEqual({ runs: 4, deliveries: 1, mails: 1 })
  const db = openDatabase({ dataDir: home.dataDir, synchronous: 'full' })
  expect(db.client.query('SELECT * FROM instances').all()).toEqual([])
  expect(db.client.query("SELECT 1 FROM runs WHERE state = 'leased'").all()).toHaveLength(1)
  db.close()
})

test('a database that is beyond reading is replaced, and kept all the same', async () => {
  using home = createHome()
  home.addTenant('before')
  const { file } = await home.backUp('a.tar.gz')
  home.db.close()
  writeFileSync(join(home.dataDir, 'gatehouse.db'), 'no database')

  const { previous = '' } = await home.restore(file)

  expect(tenantsIn(home.dataDir)).toEqual(['before'])
  expect(readFileSync(join(previous, 'gatehouse.db'), 'utf8')).toBe('no database')
})

test.skipIf(process.getuid?.() !== 0)('root restores for the owner of the directory', async () => {
  using home = createHome()
  const { file } = await home.backUp('a.tar.gz')
  replaceKeyFile(home.dataDir, [newMasterKey()])
  chownSync(home.dataDir, 1234, 1234)

  const { previous = '' } = await home.restore(file)

  for (const path of [
    previous,
    ...['gatehouse.db', 'master.key'].map((name) => join(home.dataDir, name)),
  ])
    expect(statSync(path)).toMatchObject({ uid: 1234, gid: 1234 })
})

describe('while a server may be running nothing is restored', () => {
  const NOW = Date.now()
  const cases: [string, { host: string; heartbeatAt: number }, Partial<Process>, boolean][] = [
    [
      'a process that runs on this host',
      { host: PROCESS.host, heartbeatAt: 0 },
      { isRunning: (pid) => pid === SAME.pid },
      true,
    ],
    ['one of this host that is no more', { host: PROCESS.host, heartbeatAt: NOW }, {}, false],
    [
      'a former one with our own number',
      { host: PROCESS.host, heartbeatAt: NOW },
      { pid: SAME.pid },
      false,
    ],
    [
      'one of another host that was heard of',
      { host: 'there', heartbeatAt: NOW - 90_000 },
      {},
      true,
    ],
    ['one of another host, long silent', { host: 'there', heartbeatAt: NOW - 121_000 }, {}, false],
  ]
  test.each(cases)('%s', async (_, { host, heartbeatAt }, process, isRefused) => {
    using home = createHome()
    const { file } = await home.backUp('a.tar.gz')
    home.addTenant('after')
    home.db.client
      .query("INSERT INTO instances VALUES ('x', ?, ?, '1.0.0', ?, ?, 0)")
      .run(host, SAME.pid, NOW - DAY_MS, heartbeatAt)
    if (host === 'there' || !isRefused) home.db.close()
    const restored = restore(home.dataDir, file, { process: { ...PROCESS, ...process } })

    if (!isRefused) {
      await restored
      expect(tenantsIn(home.dataDir)).toEqual([])
      return
    }
    const since = new Date(NOW - DAY_MS).toISOString()
    await expect(restored).rejects.toThrow(
      `process ${SAME.pid} on ${host.split(' ')[0]}, since ${since}. Stop it first`,
    )
    expect(tenantsIn(home.dataDir)).toEqual(['after'])
  })
})

describe('nothing is restored beside', () => {
  /** Such as `import` or `tenant create`, which write no heartbeat. */
  const command = (dataDir: string) => {
    const db = openDatabase({ dataDir, synchronous: 'full' })
    const create = (name: string) =>
      db.client
        .query("INSERT INTO tenants VALUES (?, ?, 'free', 'active', NULL, 0, 0)")
        .run(name, name)
    return { create, close: db.close }
  }

  test('a command that has the database open: what it goes on to store is there', async () => {
    using home = createHome()
    const { file } = await home.backUp('a.tar.gz')
    const { create, close } = command(home.dataDir)

    await expect(home.restore(file, { process: SAME })).rejects.toThrow(
      `another process has the database in ${home.dataDir} open`,
    )
    create('acknowledged')
    close()

    expect(tenantsIn(home.dataDir)).toEqual(['acknowledged'])
    expect(readdirSync(home.dataDir).filter((name) => name.includes('restore'))).toEqual([])
  })

  test('one of another process, which is named', async () => {
    using home = createHome()
    const { file } = await home.backUp('a.tar.gz')
    const script = join(import.meta.dir, 'writer.script.ts')
    const writer = Bun.spawn([process.execPath, script, home.dataDir], { stdout: 'pipe' })
    await writer.stdout.getReader().read()

    const refused = home.restore(file)

    await expect(refused).rejects.toThrow('Stop it, or wait until it has finished')
    if (process.platform === 'linux')
      await expect(refused).rejects.toThrow(`(process ${writer.pid})`)
    writer.kill()
    await writer.exited
    await home.restore(file)
  })

  test('a rotation of the key, so that it leaves every key that is needed', async () => {
    using installation = await createInstallation(3)
    const { dataDir } = installation
    const file = join(dataDir, 'a.tar.gz')
    const common = { dataDir, clock: hurried, process: PROCESS }
    await makeBackup({ ...common, to: { file }, withKey: false })
    let restored: Promise<unknown> | undefined
    /** The rotation waits for servers meanwhile. */
    const during: Clock = {
      ...hurried,
      after: (_, fn) => {
        restored ??= restore(dataDir, file, { process: SAME })
        const go = () => void setImmediate(fn)
        restored.then(go, go)
        return () => {}
      },
    }
    const watch = { onResealed: () => {}, onWaiting: () => {} }

    await rotationOn(installation.connect(), during, dataDir).rotate(ACTOR, watch)

    await expect(restored).rejects.toThrow('has the database')
    // Refuses where the file has not every key that the database needs.
    await openKeyRing({ db: installation.db, clock: systemClock, dataDir })
  })

  test('another restore, until that one has died', async () => {
    using home = createHome()
    const { file } = await home.backUp('a.tar.gz')
    const other = { ...PROCESS, pid: 99 }
    const folder = join(home.path, 'staged')
    mkdirSync(folder)
    mark({ dataDir: home.dataDir, staged: folder, process: other, now: Date.now() })

    await expect(
      home.restore(file, { process: { ...PROCESS, isRunning: (pid) => pid === 99 } }),
    ).rejects.toThrow('another restore into')
    expect(() => openDatabase({ dataDir: home.dataDir, synchronous: 'full' })).toThrow('restore')
    await home.restore(file)
    expect(tenantsIn(home.dataDir)).toEqual([])
  })
})

test('a database that was moved away under a rotation takes no key out of the file', async () => {
  using installation = await createInstallation(3)
  const { dataDir } = installation
  let held: string[] = []
  const during: Clock = {
    ...hurried,
    after: (_, fn) => {
      renameSync(installation.db.file, join(dataDir, 'moved-away.db'))
      held = installation.held()
      return hurried.after(0, fn)
    },
  }
  const watch = { onResealed: () => {}, onWaiting: () => {} }

  await expect(
    rotationOn(installation.connect(), once(during), dataDir).rotate(ACTOR, watch),
  ).rejects.toThrow('was moved or deleted')

  expect(installation.held()).toEqual(held)
  expect(held).toHaveLength(2)
})

/** Waits by `clock` the first time only. */
const once = (clock: Clock): Clock => {
  let isFirst = true
  const after: Clock['after'] = (ms, fn) => {
    const chosen = isFirst ? clock : hurried
    isFirst = false
    return chosen.after(ms, fn)
  }
  return { ...clock, after }
}

test('a number that another program has by now keeps nobody from restoring', async () => {
  using home = createHome()
  const { file } = await home.backUp('a.tar.gz')
  const monthAgo = Date.now() - 30 * DAY_MS
  home.db.client
    .query("INSERT INTO instances VALUES ('j', ?, 812, '1.0.0', ?, ?, 7)")
    .run(PROCESS.host, monthAgo, monthAgo)

  await home.restore(file, { process: { ...PROCESS, isRunning: (pid) => pid === 812 } })
})

const canMount =
  process.platform === 'linux' &&
  Bun.spawnSync(['unshare', '-m', 'mount', '--bind', '/tmp', '/tmp']).exitCode === 0

test.skipIf(!canMount)('a key that is mounted is told before anything moves', async () => {
  using home = createHome()
  home.addTenant('before')
  const { file } = await home.backUp('a.tar.gz')
  const mounted = join(home.path, 'secret')
  const own = join(home.path, 'own')
  copyFileSync(masterKeyFile(home.dataDir), own)
  const next = newMasterKey()
  replaceKeyFile(home.dataDir, [next])
  home.db.client.query('UPDATE master_keys SET id = ?').run(next.id)
  home.addTenant('after')
  home.db.close()
  copyFileSync(masterKeyFile(home.dataDir), mounted)
  const { dataDir } = home
  const main = join(import.meta.dir, '..', '..', '..', 'src', 'main.ts')
  const restoreBeside = (secret: string) =>
    Bun.spawnSync(
      [
        'unshare',
        '-m',
        'sh',
        '-c',
        'mount --bind "$1" "$2" && shift 2 && exec "$@"',
        'sh',
        secret,
        masterKeyFile(dataDir),
        ...[process.execPath, main, 'restore', file, '--data-dir', dataDir],
      ],
      { env: {}, stdout: 'pipe', stderr: 'pipe' },
    )

  const refused = restoreBeside(mounted)

  expect(`${refused.stderr}`).toContain('replace its source with the key in the archive')
  expect(tenantsIn(dataDir)).toEqual(['after', 'before'])
  expect(readdirSync(dataDir).filter((name) => name.includes('restore'))).toEqual([])
  expect(restoreBeside(own)).toMatchObject({ exitCode: 0 })
  expect(tenantsIn(dataDir)).toEqual(['before'])
})

test('a refusal leaves no directory behind that was not there', async () => {
  using home = createHome()

  await expect(restore(join(home.path, 'new', 'data'), Buffer.from('hello'))).rejects.toThrow()

  expect(existsSync(join(home.path, 'new'))).toBe(false)
})

test.skipIf(process.getuid?.() !== 0)('root gives nothing away through a link', () => {
  using folder = temporaryFolder()
  const target = join(folder.path, 'target')
  writeFileSync(target, '')
  chownSync(folder.path, 1234, 1234)
  for (const [name, make] of [
    ['symbolic', symlinkSync],
    ['hard', linkSync],
  ] as const) {
    const link = join(folder.path, name)
    make(target, link)
    expect(() => ownLike(link, folder.path)).toThrow()
  }
  expect(statSync(target).uid).toBe(0)
})

describe('an archive without a key', () => {
  test('takes the key that is there, if it fits', async () => {
    using home = createHome()
    const { file } = await home.backUp('a.tar.gz', { withKey: false })
    const key = keyIn(home.dataDir)
    home.addTenant('after')

    await home.restore(file)

    expect(tenantsIn(home.dataDir)).toEqual([])
    expect(keyIn(home.dataDir)).toBe(key)
  })

  test('says which key is missing where there is none, or another', async () => {
    using home = createHome()
    const { file } = await home.backUp('a.tar.gz', { withKey: false })
    home.db.close()
    const before = new Set(Object.keys(fingerprint(home.dataDir)))
    const elsewhere = join(home.path, 'elsewhere')

    await expect(restore(elsewhere, file)).rejects.toThrow(
      `sealed with ${home.key.id}. Copy that key to ${elsewhere}/master.key; the directory has no key`,
    )
    replaceKeyFile(home.dataDir, [newMasterKey()])
    await expect(home.restore(file)).rejects.toThrow('instead')
    expect(new Set(Object.keys(fingerprint(home.dataDir)))).toEqual(before)
    expect(existsSync(elsewhere)).toBe(false)
  })
})

describe('an archive that is not sound is refused, and nothing is touched', () => {
  type Spoil = (pieces: Piece[]) => Piece[] | Promise<Piece[]>
  const as = (name: string, body: string | Uint8Array): Piece => ({
    header: { name },
    body: Buffer.from(body),
  })
  const manifestOf = ([first]: Piece[]) => JSON.parse(`${first?.body}`)
  const withManifest = (pieces: Piece[], change: object): Piece[] => [
    as('manifest.json', JSON.stringify({ ...manifestOf(pieces), ...change })),
    ...pieces.slice(1),
  ]
  /** The database changed by `work`, with a manifest that says so. */
  const withDatabase = async (pieces: Piece[], work: (client: Database) => void) => {
    const file = join(process.env.TMPDIR ?? '/tmp', `gatehouse-test-${crypto.randomUUID()}.db`)
    writeFileSync(file, pieces[1]?.body ?? '')
    const client = new Database(file)
    work(client)
    client.close()
    const body = readFileSync(file)
    rmSync(file)
    const [manifest, , ...rest] = withManifest(pieces, {
      database: { bytes: body.length, sha256: sha256(body) },
    })
    return [manifest as Piece, as('gatehouse.db', body), ...rest]
  }
  const flipped = (body: Uint8Array) => {
    const copy = Buffer.from(body)
    copy[copy.length >> 1] = (copy[copy.length >> 1] ?? 0) ^ 1
    return copy
  }
  const foreignKey = () => {
    const home = createHome()
    const text = keyIn(home.dataDir)
    home[Symbol.dispose]()
    return text
  }

  const cases: [string, Spoil, string][] = [
    ['no manifest', ([, ...rest]) => rest, 'instead of manifest.json'],
    ['a manifest of words', ([, ...rest]) => [as('manifest.json', 'hello'), ...rest], 'manifest'],
    ['an empty manifest', ([, ...rest]) => [as('manifest.json', '{}'), ...rest], 'manifest'],
    ['a later format', (all) => withManifest(all, { format: 2 }), 'format 2'],
    [
      'a manifest without end',
      ([, ...rest]) => [as('manifest.json', Buffer.alloc(5_000_000, ' ')), ...rest],
      'too large',
    ],
    [
      'a manifest of another schema',
      (all) => withManifest(all, { schema: [] }),
      'its manifest describes a different database',
    ],
    [
      'a manifest of another installation',
      (all) => withManifest(all, { installation: 'inst-2' }),
      'its manifest describes a different database',
    ],
    [
      'a manifest with more steps than there ever will be',
      (all) => {
        const step = { id: 'x', hash: '0'.repeat(64) }
        return withManifest(all, { schema: Array(10_001).fill(step) })
      },
      'its manifest cannot be read',
    ],
    ['no database', ([manifest]) => [manifest as Piece], 'gatehouse.db is missing'],
    ['no key where one should be', (all) => all.slice(0, 2), 'master.key is missing'],
    [
      'a database with one bit changed',
      ([a, b, c]) => [
        a as Piece,
        as('gatehouse.db', flipped(b?.body ?? Buffer.alloc(0))),
        c as Piece,
      ],
      'does not match',
    ],
    [
      'a database of another size',
      ([a, , c]) => [a as Piece, as('gatehouse.db', 'short'), c as Piece],
      'differs from the manifest',
    ],
    [
      'a swapped key',
      ([a, b]) => [a as Piece, b as Piece, as('master.key', foreignKey())],
      'does not match',
    ],
    [
      'a swapped key that the manifest names',
      ([a, b]) => {
        const key = foreignKey()
        const all = withManifest([a as Piece, b as Piece], {
          master_key: { id: 'swapped', sha256: sha256(Buffer.from(key)) },
        })
        return [...all, as('master.key', key)]
      },
      'does not match its database, which was sealed with',
    ],
    [
      'a key that is none',
      ([a, b]) => [
        ...withManifest([a as Piece, b as Piece], {
          master_key: { id: 'x', sha256: sha256(Buffer.from('hello')) },
        }),
        as('master.key', 'hello'),
      ],
      'is not a valid master key',
    ],
    [
      'a path that leads out',
      (all) => [...all, as('../escaped', 'x')],
      'it contains "../escaped", which is not part of a backup',
    ],
    [
      'a path that leads out, in place of the database',
      ([a, , c]) => [a as Piece, as('../gatehouse.db', 'x'), c as Piece],
      'it contains "../gatehouse.db"',
    ],
    ['an absolute path', (all) => [as('/etc/passwd', 'x'), ...all], 'it contains "/etc/passwd"'],
    [
      'something else besides',
      (all) => [...all, as('readme', 'x')],
      'it contains "readme", which is not part of a backup',
    ],
    ['a second database', (all) => [...all, as('gatehouse.db', 'x')], 'is not part of a backup'],
    [
      'a link in place of the key',
      ([a, b]) => [
        a as Piece,
        b as Piece,
        {
          header: { name: 'master.key', type: 'symlink', linkname: '/etc/passwd' },
          body: Buffer.alloc(0),
        },
      ],
      'instead of master.key',
    ],
    [
      'a database that says it is larger than any disk',
      (all) => withManifest(all, { database: { bytes: 2 ** 52, sha256: '0'.repeat(64) } }),
      'the database needs',
    ],
    [
      'a newer schema',
      (all) =>
        withDatabase(all, (client) =>
          client.run("INSERT INTO _migrations VALUES ('9999_later', 'h', 0, '9.0.0')"),
        ),
      'migrated by gatehouse 9.0.0, which is newer',
    ],
    [
      'dangling references',
      (all) =>
        withDatabase(all, (client) =>
          client.run("INSERT INTO usage_days VALUES ('nobody', '2026-01-01', 'gate', 'live', 0)"),
        ),
      'usage_days refers to missing rows of tenants',
    ],
    [
      'an index that lacks a row',
      async (all) => {
        const [manifest, database, key] = await withDatabase(all, (client) =>
          client.run("INSERT INTO tenants VALUES ('needle', 'n', 'free', 'active', NULL, 0, 0)"),
        )
        const body = Buffer.from(database?.body ?? [])
        body.write('noodle', body.indexOf('needle'))
        const described = { bytes: body.length, sha256: sha256(body) }
        return [
          ...withManifest([manifest as Piece], { database: described }),
          as('gatehouse.db', body),
          key as Piece,
        ]
      },
      'the database in the archive is damaged',
    ],
    [
      'a database that is none',
      (all) => [
        ...withManifest(all.slice(0, 1), {
          database: { bytes: 5, sha256: sha256(Buffer.from('hello')) },
        }),
        as('gatehouse.db', 'hello'),
        ...all.slice(2),
      ],
      'damaged',
    ],
  ]
  test.each(cases)('%s', async (_, spoil, message) => {
    using home = createHome()
    const { file } = await home.backUp('a.tar.gz')
    const archive = await packed(await spoil(await piecesOf(file)))
    home.db.close()
    const before = fingerprint(home.path)

    await expect(home.restore(archive)).rejects.toThrow(message)
    expect(fingerprint(home.path)).toEqual(before)
    expect(existsSync('/tmp/escaped')).toBe(false)
  })

  test('one that is cut short, anywhere, or no archive at all', async () => {
    using home = createHome()
    const bytes = readFileSync((await home.backUp('a.tar.gz')).file)
    home.db.close()
    const before = fingerprint(home.path)

    for (const end of [0, 10, 100, bytes.length >> 1, bytes.length - 5])
      await expect(home.restore(bytes.subarray(0, end))).rejects.toThrow('damaged')
    await expect(home.restore(Buffer.from('hello'))).rejects.toThrow('damaged')
    expect(fingerprint(home.path)).toEqual(before)
  })
})

describe('a restore that was cut short', () => {
  /** What a restore has staged when it begins to exchange, and how many steps that then takes. */
  async function staged(path: string, file: string): Promise<string> {
    const folder = join(path, 'staged')
    mkdirSync(folder)
    const [, database, key] = await piecesOf(file)
    writeFileSync(join(folder, 'gatehouse.db'), database?.body ?? '')
    if (key) writeFileSync(join(folder, 'master.key'), key.body)
    return folder
  }

  /** Marks a directory and begins to exchange what is in it. */
  function begin(dataDir: string, folder: string) {
    const { marker } = mark({ dataDir, staged: folder, process: PROCESS, now: Date.now() })
    return exchange({ dataDir, staged: folder, marker })
  }

  /** A directory with one key, and a backup with another. */
  async function twoLives() {
    const home = createHome()
    home.addTenant('before')
    const backup = await home.backUp('a.tar.gz')
    const keyless = await home.backUp('b.tar.gz', { withKey: false })
    const key = keyIn(home.dataDir)
    const next = newMasterKey()
    replaceKeyFile(home.dataDir, [next])
    home.db.client.query('UPDATE master_keys SET id = ?').run(next.id)
    home.addTenant('after')
    home.db.close()
    for (const end of ['-wal', '-shm']) writeFileSync(`${home.db.file}${end}`, '')
    return { home, file: backup.file, keyless: keyless.file, key, nextKey: keyIn(home.dataDir) }
  }

  for (let cut = 0; cut <= 8; cut++) {
    test(`after step ${cut} lets nobody serve, and the next completes it`, async () => {
      const { home, file, key, nextKey } = await twoLives()
      using _ = home
      const steps = begin(home.dataDir, await staged(home.path, file))
      for (let step = 0; step < cut; step++) if (steps.next().done) throw new Error('it was done')

      expect(() => openDatabase({ dataDir: home.dataDir, synchronous: 'full' })).toThrow(
        'run `restore` again with the same file',
      )
      const { previous = '' } = await home.restore(file)

      expect(tenantsIn(home.dataDir)).toEqual(['before'])
      expect(keyIn(home.dataDir)).toBe(key)
      expect(keyIn(previous)).toBe(nextKey)
      expect(tenantsIn(previous)).toEqual(['after', 'before'])
      expect(readdirSync(home.dataDir).filter((name) => name.startsWith('before-'))).toHaveLength(1)
    })
  }

  test('has no more steps than these', async () => {
    const { home, file } = await twoLives()
    using _ = home
    const steps = [...begin(home.dataDir, await staged(home.path, file))]

    expect(steps).toEqual([
      'made room',
      'moved master.key away',
      'moved gatehouse.db away',
      'moved gatehouse.db-wal away',
      'moved gatehouse.db-shm away',
      'cleared',
      'moved master.key in',
      'moved gatehouse.db in',
    ])
  })

  test('is completed by an archive without a key, with the key that was moved away', async () => {
    using home = createHome()
    const { file } = await home.backUp('a.tar.gz', { withKey: false })
    const other = createHome()
    using _ = other
    const foreign = await other.backUp('b.tar.gz')
    const key = keyIn(home.dataDir)
    home.db.close()
    const steps = begin(home.dataDir, await staged(home.path, foreign.file))
    for (let step = 0; step < 6; step++) steps.next()
    expect(keyIn(home.dataDir)).not.toBe(key)

    await home.restore(file)

    expect(keyIn(home.dataDir)).toBe(key)
  })
})

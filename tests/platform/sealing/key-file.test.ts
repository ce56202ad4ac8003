import { expect, test } from 'bun:test'
import fs from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
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
import { addMigratedDatabase } from '../../support/template.ts'

const KEY_FILE = join(import.meta.dir, '../../../src/platform/sealing/key-file.ts')
const isRoot = process.getuid?.() === 0
const FORMAT = /^gatehouse-master-key-1:[A-Za-z0-9+/]{43}=\n$/
const modeOf = (path: string) => fs.statSync(path).mode & 0o777
const lineOf = (byte: number, length = 32) =>
  `gatehouse-master-key-1:${Buffer.alloc(length, byte).toString('base64')}`
const LINE = lineOf(7)
const idOf = (byte: number) => masterKeyOf(new Uint8Array(32).fill(byte)).id

function createFolder() {
  const folder = temporaryFolder()
  return { ...folder, file: masterKeyFile(folder.path) }
}

async function refusalOf(work: () => unknown): Promise<string> {
  try {
    await work()
  } catch (error) {
    expect(error).toBeInstanceOf(MasterKeyError)
    return (error as Error).message
  }
  throw new Error('was not refused')
}

function createHome() {
  const folder = createFolder()
  const { path: dataDir, file } = folder
  const clock = createTestClock('2026-03-01T12:00:00Z')
  addMigratedDatabase(dataDir)
  const connect = () => openDatabase({ dataDir, synchronous: 'full' })
  const db = connect()
  const start = async (on = db) => (await openKeyRing({ db: on, clock, dataDir })).primary()
  const rows = () => db.client.query('SELECT * FROM master_keys').all()
  function dispose() {
    db.close()
    folder[Symbol.dispose]()
  }
  const refusal = () => refusalOf(() => start())
  return { dataDir, file, clock, db, connect, start, rows, refusal, [Symbol.dispose]: dispose }
}

test('The key file is created once, for its owner alone, and only by loading', () => {
  using folder = createFolder()
  expect(readMasterKey(folder.path)).toBeUndefined()
  expect(fs.readdirSync(folder.path)).toEqual([])
  const { id, secret } = loadMasterKey(folder.path)
  const content = fs.readFileSync(folder.file, 'utf8')
  expect(content).toMatch(FORMAT)
  expect(modeOf(folder.file)).toBe(0o600)
  expect(fs.readdirSync(folder.path)).toEqual(['master.key'])
  expect(secret.symmetricKeySize).toBe(32)
  using other = createFolder()
  expect(loadMasterKey(other.path).secret.equals(secret)).toBe(false)
  // Loading takes rights from other accounts.
  for (const [mode, kept] of [
    [0o640, 0o600] as const,
    [0o604, 0o600] as const,
    [0o400, 0o400] as const,
  ]) {
    fs.chmodSync(folder.file, mode)
    expect([readMasterKey(folder.path)?.id, modeOf(folder.file)]).toEqual([id, mode])
    expect([loadMasterKey(folder.path).id, modeOf(folder.file)]).toEqual([id, kept])
  }
  expect(fs.readFileSync(folder.file, 'utf8')).toBe(content)
})

test('The key file may be a link, with other line ends and with earlier keys below the current one', () => {
  using folder = createFolder()
  using vault = createFolder()
  fs.symlinkSync(vault.file, folder.file)
  for (const end of ['\n', '', '\r\n', ' \n\n']) {
    fs.writeFileSync(vault.file, LINE + end)
    expect(loadMasterKey(folder.path).id).toBe(idOf(7))
  }
  for (const end of ['\n', '\r\n']) {
    fs.writeFileSync(vault.file, [7, 8, 9].map((byte) => lineOf(byte) + end).join(''))
    const { id, previous } = loadMasterKey(folder.path)
    expect([id, ...previous.map((key) => key.id)]).toEqual([7, 8, 9].map(idOf))
  }
})

test.each([
  ['nothing', ''],
  ['a prefix of another version', `${LINE.replace('-1:', '-2:')}\n`],
  ['a byte too few', `${lineOf(7, 31)}\n`],
  ['another spelling of the same bytes', `${LINE.slice(0, -2)}d=\n`],
  ['a megabyte', LINE.padEnd(1_000_000)],
  ['a key twice', `${LINE}\n${LINE}\n`],
  ['a blank line between keys', `${LINE}\n\n${lineOf(8)}`],
  ['other text after keys', `${LINE}\n${lineOf(8)}\nx`],
])('The key file is refused and left unchanged with %s', async (_, content) => {
  using folder = createFolder()
  fs.writeFileSync(folder.file, content)
  const message = await refusalOf(() => loadMasterKey(folder.path))
  expect(message).toStartWith(`${folder.file} is not a valid master key: restore it`)
  expect(fs.readFileSync(folder.file, 'utf8')).toBe(content)
  expect(fs.readdirSync(folder.path)).toEqual(['master.key'])
})

test('The key file is refused if it is no file or cannot be created, with the error of the system', async () => {
  for (const [make, message] of [
    [fs.mkdirSync, 'is not a file'],
    [(file: string) => Bun.spawnSync(['mkfifo', file]), 'is not a file'],
    [(file: string) => fs.symlinkSync(`${file}.nowhere`, file), 'is a broken link'],
    [(file: string) => fs.symlinkSync(file, file), 'cannot be read'],
  ] as const) {
    using folder = createFolder()
    make(folder.file)
    const refusal = await refusalOf(() => loadMasterKey(folder.path))
    expect(refusal).toStartWith(`${folder.file} ${message}`)
  }
  const refusal = await refusalOf(() => loadMasterKey('/proc/self'))
  expect(refusal).toMatch(/^\/proc\/self\/master\.key cannot be created \(E[A-Z]+/)
})

test.skipIf(!isRoot)('The key file is refused if other accounts own or can read it', async () => {
  using folder = createFolder()
  const { file } = folder
  const asOther = () => loadBeside(folder.path, { account: '65534' })
  fs.chmodSync(folder.path, 0o755)
  expect(await asOther()).toContain(`${file} cannot be created (EACCES`)
  loadMasterKey(folder.path)
  expect(await asOther()).toContain(`${file} cannot be read: run chown`)
  fs.chmodSync(file, 0o644)
  expect(await asOther()).toContain(`other accounts can read ${file}: run chmod 600`)
})

test('Replacing the key file keeps order, owner and a link, and leaves nothing beside it', async () => {
  using vault = createFolder()
  using folder = createFolder()
  const before = loadMasterKey(vault.path)
  const added = newMasterKey()
  fs.chmodSync(vault.file, 0o644)
  if (isRoot) fs.chownSync(vault.file, 65534, 65534)
  fs.symlinkSync(vault.file, folder.file)
  replaceKeyFile(folder.path, [added, before])
  const after = loadMasterKey(vault.path)
  expect([after.id, ...after.previous.map(({ id }) => id)]).toEqual([added.id, before.id])
  expect(after.secret.equals(added.secret)).toBe(true)
  expect(modeOf(vault.file)).toBe(0o600)
  if (isRoot) expect(fs.statSync(vault.file)).toMatchObject({ uid: 65534, gid: 65534 })
  expect(fs.readdirSync(vault.path)).toEqual(['master.key'])
  expect(fs.lstatSync(folder.file).isSymbolicLink()).toBe(true)
  // A draft that cannot be removed is in the way.
  fs.mkdirSync(`${vault.file}.tmp`)
  const replace = (path: string) => refusalOf(() => replaceKeyFile(path, [before]))
  expect(await replace(folder.path)).toStartWith(`${folder.file} cannot be replaced (`)
  expect(loadMasterKey(folder.path).id).toBe(added.id)
  fs.rmSync(folder.file)
  expect(await replace(folder.path)).toStartWith(`${folder.file} cannot be replaced (`)
})

/** The id of the key that another process loads at a time, or its error; as another account if given. */
async function loadBeside(dataDir: string, { at = 0, account = '' } = {}) {
  const script = `const { loadMasterKey } = await import('${KEY_FILE}')
    if ('${account}') process.setuid(Number('${account}'))
    await Bun.sleep(Math.max(${at} - Date.now(), 0))
    try { console.log(loadMasterKey('${dataDir}').id) } catch (error) { console.log(error.message) }`
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'inherit' })
  return (await new Response(child.stdout).text()).trim()
}

test('Processes that start at once on a new directory get the same key', async () => {
  using folder = createFolder()
  const at = Date.now() + 300
  const load = () => loadBeside(folder.path, { at })
  const ids = await Promise.all([load(), load(), load()])
  expect(new Set(ids)).toEqual(new Set([loadMasterKey(folder.path).id]))
  expect(fs.readdirSync(folder.path)).toEqual(['master.key'])
})

test('A key has an id of its bytes, and no output shows the bytes', () => {
  const secret = 'abcdefghijklmnopqrstuvwxyz012345'
  const key = masterKeyOf(Buffer.from(secret))
  expect(key.id).toMatch(/^[0-9a-f]{12}$/)
  expect(masterKeyOf(Buffer.from(secret)).id).toBe(key.id)
  expect(masterKeyOf(Buffer.from(secret.replace('5', '6'))).id).not.toBe(key.id)
  for (const shown of [inspect(key, { depth: 9 }), Bun.inspect(key), JSON.stringify(key)]) {
    expect(shown).toContain(key.id)
    for (const spelling of [secret, '97, 98', '97,98', '61 62', '616263', btoa(secret).slice(0, 8)])
      expect(shown).not.toContain(spelling)
  }
})

test('A database stores the key of its first start once, also one that was there before, if it has the table', async () => {
  using home = createHome()
  expect(knownMasterKeys(home.db)).toEqual([])
  const { id } = loadMasterKey(home.dataDir)
  expect((await home.start()).id).toBe(id)
  await home.clock.advance(1000)
  await home.start()
  expect(home.rows()).toEqual([{ id, created_at: Date.parse('2026-03-01T12:00:00Z') }])
  fs.rmSync(home.file)
  home.db.client.run('DELETE FROM master_keys')
  const fresh = await home.start()
  expect(fresh.id).not.toBe(id)
  expect(home.rows()).toMatchObject([{ id: fresh.id }])
  home.db.client.run('DROP TABLE master_keys')
  expect(knownMasterKeys(home.db)).toEqual([])
})

test('A database refuses another key and no key, names those it needs and makes no new one', async () => {
  using home = createHome()
  const { dataDir, file } = home
  const { id } = await home.start()
  const backup = fs.readFileSync(file)
  const foreign = newMasterKey()
  replaceKeyFile(dataDir, [foreign])
  const other = `does not match the database (found ${foreign.id}, need ${id})`
  expect(await home.refusal()).toContain(`master.key in ${dataDir} ${other}`)
  fs.rmSync(file)
  const missing = `master.key is missing in ${dataDir}, but the database was sealed with it (${id})`
  expect(await home.refusal()).toContain(missing)
  expect([fs.existsSync(file), home.rows()]).toMatchObject([false, [{ id }]])
  fs.writeFileSync(file, backup)
  expect((await home.start()).id).toBe(id)
  const added = newMasterKey()
  home.db.client.run('INSERT INTO master_keys VALUES (?, 0)', [added.id])
  const needed = [added.id, id].toSorted().join(' and ')
  expect(await home.refusal()).toContain(`(found ${id}, need ${needed})`)
  replaceKeyFile(dataDir, [added, loadMasterKey(dataDir)])
  expect((await home.start()).id).toBe(added.id)
  fs.rmSync(file)
  expect(await home.refusal()).toContain(`(${needed})`)
})

test('A database stores one key when two processes start at once, and refuses one stored meanwhile', async () => {
  using home = createHome()
  const second = home.connect()
  const [a, b] = await Promise.all([home.start(), home.start(second)])
  second.close()
  expect(home.rows()).toMatchObject([{ id: a.id }])
  expect(b.id).toBe(a.id)
  using other = createHome()
  const started = other.refusal()
  other.db.client.run("INSERT INTO master_keys VALUES ('aaaaaaaaaaaa', 0)")
  expect(await started).toContain('need aaaaaaaaaaaa')
  expect(other.rows()).toMatchObject([{ id: 'aaaaaaaaaaaa' }])
})
